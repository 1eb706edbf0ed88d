//! One-way imports between the groups of files inside a crate.
//!
//! A group is a folder or a file beside the root file of the crate. Each crate lists its groups in
//! layers, from left to right. A file imports files of its own group and of the layers left of it.
//! Groups of one layer do not import each other. The root file is right of everything.

use super::{modules::CrateModules, root};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Layers of a crate, from left to right, each with the names of its groups.
type Layers = &'static [&'static [&'static str]];

/// The layers of each crate, by the root file of the crate.
const LAYERS: [(&str, Layers); 6] = [
    (
        "src/store/lib.rs",
        &[
            &["error", "options"],
            &["io"],
            &["tables"],
            &["wal", "index", "consensus_log"],
            &["read"],
            &["scrub"],
            &["directory"],
            &["write"],
            &["store"],
            &["fuzzing"],
        ],
    ),
    (
        "actors/lib.rs",
        &[
            &["error"],
            &["config"],
            &["runtime"],
            &["state"],
            &["relay"],
            &["engine"],
            &["protocol"],
            &["notifier"],
            &[
                "mempool",
                "sequencer",
                "committer",
                "storage",
                "pruner",
                "signatures",
                "filter",
            ],
            &["node"],
            &["fuzzing"],
        ],
    ),
    (
        "src/http/lib.rs",
        &[
            &["error", "head_error", "config"],
            &["metrics", "date", "tls"],
            &["context"],
            &["slow_client"],
            &["transport"],
            &["chunked_body"],
            &["http1", "http2"],
            &["connection"],
            &["listener"],
        ],
    ),
    (
        "src/node/main.rs",
        &[
            &[
                "access",
                "long_step",
                "open_files",
                "replaced_file",
                "service_manager",
                "signals",
                "telemetry",
                "version",
            ],
            &["config"],
            &["genesis", "tunable"],
            &["consensus"],
            &["observe"],
            &["admin", "faucet", "verify"],
            &["console"],
            &["compose"],
            &["cli"],
        ],
    ),
    (
        "src/client/lib.rs",
        &[
            &["error"],
            &["http", "signer"],
            &["admin", "faucet", "node"],
            &["load"],
        ],
    ),
    (
        "src/api/lib.rs",
        &[
            &["error", "config"],
            &["limits", "model"],
            &["openapi"],
            &["context"],
            &["routes"],
            &["middleware"],
            &["router"],
        ],
    ),
];

/// Imports that contradict the layers, as the importing and the imported file.
///
/// The list only shrinks: a pair that no longer occurs fails the test.
const EXCEPTIONS: [(&str, &str); 0] = [];

#[test]
fn files_import_only_from_layers_left_of_them() {
    let violations: BTreeSet<_> = LAYERS
        .iter()
        .flat_map(|(crate_root, layers)| violations(root(), crate_root, layers))
        .collect();
    let exceptions: BTreeSet<_> = EXCEPTIONS.map(|(from, to)| (from.into(), to.into())).into();
    let unknown: Vec<_> = violations.difference(&exceptions).collect();
    let outdated: Vec<_> = exceptions.difference(&violations).collect();
    assert!(
        unknown.is_empty() && outdated.is_empty(),
        "imports against the layers: {unknown:#?}\nexceptions that no longer occur: {outdated:#?}"
    );
}

/// Returns the imports of a crate that contradict its layers, as pairs of paths below `root`.
///
/// # Panics
///
/// Panics if a file belongs to no group of `layers`, or if a group has no file.
fn violations(root: &Path, crate_root: &str, layers: Layers) -> Vec<(PathBuf, PathBuf)> {
    let modules = CrateModules::parse(&root.join(crate_root));
    let relative = |file: usize| modules.files[file].strip_prefix(root).unwrap();
    let groups: Vec<_> = (0..modules.files.len())
        .map(|file| group(relative(file), Path::new(crate_root)))
        .collect();
    for name in layers.iter().copied().flatten() {
        assert!(
            groups.iter().flatten().any(|group| group == name),
            "{crate_root} has no group {name}"
        );
    }
    let layer = |group: &Option<String>| match group {
        Some(group) => layers
            .iter()
            .position(|names| names.contains(&group.as_str()))
            .unwrap_or_else(|| panic!("group {group} of {crate_root} is in no layer")),
        None => layers.len(),
    };
    let mut violations = Vec::new();
    for (from, targets) in modules.imports().iter().enumerate() {
        for &to in targets {
            if groups[from] != groups[to] && layer(&groups[to]) >= layer(&groups[from]) {
                violations.push((relative(from).to_owned(), relative(to).to_owned()));
            }
        }
    }
    violations
}

/// Returns the group of a file, or `None` for the root file of the crate.
fn group(file: &Path, crate_root: &Path) -> Option<String> {
    if file == crate_root {
        return None;
    }
    let below = file.strip_prefix(crate_root.parent()?).unwrap();
    let name = Path::new(below.iter().next()?).with_extension("");
    Some(name.to_str().unwrap().to_owned())
}

#[test]
fn finds_imports_against_the_layers() {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        (
            "lib.rs",
            "mod left; mod a; mod b; mod right; pub use right::Right;",
        ),
        ("left.rs", "use crate::Right; pub struct Left;"),
        ("a/mod.rs", "pub mod one; mod two;"),
        (
            "a/one.rs",
            "use crate::left::Left; fn f() { crate::b::g() } use super::two::Two;",
        ),
        (
            "a/two.rs",
            "pub struct Two; use super::one::f; use crate::Root;",
        ),
        (
            "b.rs",
            "pub fn g() {} #[cfg(test)] mod tests { use crate::a::one::f; }",
        ),
        (
            "right.rs",
            "pub struct Right; use crate::{left::Left, a::one::f, b::g};",
        ),
    ];
    std::fs::create_dir(directory.path().join("a")).unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let found = violations(
        directory.path(),
        "lib.rs",
        &[&["left"], &["a", "b"], &["right"]],
    );
    let expected = [
        // To the right through a re-export, within a layer, and to the root file.
        ("left.rs", "right.rs"),
        ("a/one.rs", "b.rs"),
        ("a/two.rs", "lib.rs"),
    ];
    let expected = expected.map(|(from, to)| (from.into(), to.into()));
    let found: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(found, BTreeSet::from(expected));
}
