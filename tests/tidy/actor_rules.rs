//! The rules at the top of `actors/lib.rs`, as far as the text of the code shows them.

use super::root;
use std::{collections::BTreeSet, fs, path::Path};

/// Folders of `actors/` that only tests use.
const TEST_FOLDERS: [&str; 4] = ["benches", "simulation", "testing", "tests"];

/// The files that may name a type, as prefixes of paths below `actors/`.
const OWNERS: [(&str, &[&str]); 8] = [
    (
        "HeadPublisher",
        &[
            "state/head.rs",
            "committer/",
            "node/wires.rs",
            "node/wiring.rs",
            "node/parts.rs",
        ],
    ),
    (
        "PruneHorizonPublisher",
        // The Head has a constructor for tests.
        &[
            "state/prune_horizon.rs",
            "state/head.rs",
            "storage/",
            "node/wires.rs",
            "node/wiring.rs",
            "node/parts.rs",
        ],
    ),
    (
        "StorageHealthPublisher",
        &["state/storage_health.rs", "storage/", "node/wiring.rs"],
    ),
    ("RwLock", &["state/head.rs"]),
    ("Mutex", &[]),
    (
        "CommitQueue",
        &[
            "protocol/commit_queue.rs",
            "protocol/durable_reader.rs",
            "storage/",
            "committer/",
            "node/wires.rs",
            "node/wiring.rs",
            "node/parts.rs",
        ],
    ),
    ("InlineReader", &["storage/", "node/"]),
    (
        "StoreReader",
        &[
            "protocol/durable_reader.rs",
            "storage/",
            "node/wires.rs",
            "mempool/persistence/restore.rs",
        ],
    ),
];

/// Files with channels without a capacity, each with what bounds the channel instead.
const UNBOUNDED_CHANNELS: [(&str, &str); 2] = [
    // Each wait is in it once.
    ("protocol/notifier.rs", "wait.capacity"),
    // Each hash of the wait is in it once, and holds a permit.
    ("node/wait_many.rs", "wait.capacity"),
];

/// Words that a file with handlers does not contain, because a handler neither waits nor blocks nor
/// uses the disk.
const FORBIDDEN_IN_HANDLERS: [&str; 9] = [
    "async ",
    ".await",
    ".recv()",
    ".recv_timeout(",
    ".lock()",
    ".join()",
    "sleep(",
    "std::fs",
    "block_on",
];

/// One source file of the actors, without comments and unit tests.
struct Source {
    /// Path below `actors/`.
    path: String,
    code: String,
}

impl Source {
    /// Returns whether the code contains the word.
    fn names(&self, word: &str) -> bool {
        self.code
            .split(|character: char| !(character.is_alphanumeric() || character == '_'))
            .any(|found| found == word)
    }
}

/// Returns the production code of the actors.
fn sources() -> Vec<Source> {
    let directory = root().join("actors");
    let mut paths = Vec::new();
    collect(&directory, &mut paths);
    let texts: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(directory.join(&path)).unwrap();
            (path, text)
        })
        .collect();
    let test_modules: BTreeSet<_> = texts
        .iter()
        .flat_map(|(_, text)| test_modules(text))
        .collect();
    let is_test = |path: &str| {
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        test_modules.contains(name)
    };
    texts
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| Source {
            path,
            code: production_code(&text),
        })
        .collect()
}

/// Adds the paths of Rust files below `directory`, relative to `actors/`.
fn collect(directory: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !TEST_FOLDERS.contains(&name) {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(root().join("actors")).unwrap();
            paths.push(below.to_str().unwrap().to_owned());
        }
    }
}

/// Returns the names of modules in files of their own that only tests use.
fn test_modules(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]"
            && let Some(next) = lines.next()
            && let Some((_, name)) = next.split_once("mod ")
            && let Some(name) = name.strip_suffix(';')
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the text before the inline module of tests, without lines that are comments.
fn production_code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {");
    let lines = text[..end.unwrap_or(text.len())].lines();
    let code: Vec<_> = lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    code.join("\n")
}

#[test]
fn state_is_named_by_its_owners_only() {
    let sources = sources();
    let mut wrong = Vec::new();
    for (name, owners) in OWNERS {
        for source in sources.iter().filter(|source| source.names(name)) {
            if !owners.iter().any(|owner| source.path.starts_with(owner)) {
                wrong.push(format!("{} names {name}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the file that each actor is expected in, `actors/mempool/mod.rs` for `Mempool`.
fn actor_files() -> BTreeSet<String> {
    let sources = sources();
    let implementations = sources
        .iter()
        .flat_map(|source| source.code.split("impl Actor for ").skip(1));
    let names = implementations.map(|after| {
        let end = after.find(' ').unwrap();
        after[..end].to_lowercase()
    });
    names.map(|name| format!("{name}/mod.rs")).collect()
}

#[test]
fn handlers_neither_wait_nor_block() {
    let with_handlers: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.code.contains("impl Handler<"))
        .collect();
    let paths: BTreeSet<_> = with_handlers
        .iter()
        .map(|source| source.path.clone())
        .collect();
    assert_eq!(paths, actor_files());
    let mut wrong = Vec::new();
    for source in with_handlers {
        for word in FORBIDDEN_IN_HANDLERS {
            if source.code.contains(word) {
                wrong.push(format!("{} contains {word}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn channels_without_a_capacity_have_another_bound() {
    let found: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.code.contains("unbounded"))
        .map(|source| source.path)
        .collect();
    let expected: BTreeSet<_> = UNBOUNDED_CHANNELS.map(|(path, _)| path.to_owned()).into();
    assert_eq!(BTreeSet::from_iter(found), expected);
    for (path, bound) in UNBOUNDED_CHANNELS {
        let text = fs::read_to_string(root().join("actors").join(path)).unwrap();
        assert!(text.contains(bound), "{path} does not name {bound}");
    }
}

/// A request may be rejected, a message between actors may not. So no actor waits for another one,
/// and there is no cycle of bounded queues.
#[test]
fn only_the_handle_sends_requests() {
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.names("try_request"))
        .filter(|source| {
            !["node/", "runtime/"]
                .iter()
                .any(|at| source.path.starts_with(at))
        })
        .map(|source| source.path)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_binary_ends_the_process() {
    for source in sources() {
        for call in ["process::exit", "process::abort"] {
            assert!(!source.code.contains(call), "{}: {call}", source.path);
        }
    }
}
