//! Commands in the documents: packages, test targets, filters, stages, tasks, options and settings
//! that they name exist.

use super::{
    root,
    tools::text,
    workspace::{manifest, packages},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};
use toml::Table;

/// Documents whose commands are those of other programs.
const SKIPPED: &str = "docs/reference/";

/// Words with which a document begins a command that is checked.
const PROGRAMS: [&str; 5] = ["cargo", "just", ".ci/run", "ledger-node", "python3"];

/// Options of `cargo` with a value, which is no filter of tests.
const CARGO_VALUES: [&str; 6] = ["-p", "--test", "--bench", "--bin", "--exclude", "-j"];

/// Names behind `fn` and `mod` in the Rust files of the repository.
static ITEMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut items = BTreeSet::new();
    for file in tracked(".rs") {
        let source = fs::read_to_string(root().join(file)).unwrap();
        let words: Vec<_> = source.split_whitespace().collect();
        for pair in words.windows(2) {
            if ["fn", "mod"].contains(&pair[0]) {
                let end = pair[1].find(|c: char| !c.is_alphanumeric() && c != '_');
                items.insert(pair[1][..end.unwrap_or(pair[1].len())].to_owned());
            }
        }
    }
    items
});

#[test]
fn documents_give_commands_that_exist() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for document in tracked(".md") {
        if document.starts_with(SKIPPED) {
            continue;
        }
        for command in commands(&text(&document)) {
            checked += 1;
            if let Err(reason) = check(&command) {
                wrong.push(format!("{document}: {command}: {reason}"));
            }
        }
    }
    assert!(checked > 100, "only {checked} commands were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the tracked files with this end of their name.
fn tracked(end: &str) -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", &format!("*{end}")])
        .current_dir(root())
        .output()
        .expect("git lists the files of its checkout");
    let listed = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    listed.lines().map(str::to_owned).collect()
}

/// Returns the commands of a document: of its fenced blocks and of its spans in backticks.
fn commands(document: &str) -> Vec<String> {
    let joined = document.replace("\\\n", " ");
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in joined.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            found.push(line.trim_start().trim_start_matches("$ "));
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    let uncommented = found
        .into_iter()
        .map(|line| line.split(" #").next().unwrap());
    let parts = uncommented.flat_map(|line| line.split(['|', ';', '>', '(', ')']));
    let parts = parts
        .flat_map(|part| part.split("&&"))
        .map(without_variables);
    parts
        .filter(|part| is_checked(part))
        .map(str::to_owned)
        .collect()
}

/// Returns a command without the variables that are set before it.
fn without_variables(command: &str) -> &str {
    let mut rest = command.trim();
    while let Some((word, after)) = rest.split_once(' ') {
        let name = word.split_once('=').map(|(name, _)| name);
        if !name.is_some_and(|name| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Returns whether a command with arguments begins with a program or a script of the repository.
fn is_checked(command: &str) -> bool {
    let Some((program, _)) = command.split_once(' ') else {
        return false;
    };
    let program = program.trim_start_matches("target/release/");
    PROGRAMS.contains(&program) || program.contains('/') && root().join(program).is_file()
}

/// Checks the names of a command.
///
/// # Errors
///
/// Returns the name that does not exist.
fn check(command: &str) -> Result<(), String> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap().trim_start_matches("target/release/");
    let words: Vec<_> = words.collect();
    match program {
        "cargo" => check_cargo(&words),
        "just" => check_words(&words[..1], &recipes(), "recipe"),
        ".ci/run" => check_words(&words, &stages(), "stage"),
        "ledger-node" => check_node(&words),
        "python3" => match words[0] {
            path if path.contains('/') && !root().join(path).exists() => Err(format!("no {path}")),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Checks packages, targets and filters of a `cargo` command.
fn check_cargo(words: &[&str]) -> Result<(), String> {
    let packages = packages();
    let value = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    if let Some(package) = value("-p").filter(|name| !packages.contains_key(*name)) {
        return Err(format!("no package {package}"));
    }
    let package = value("-p").unwrap_or("ledger-node");
    for (option, kind) in [("--test", "test"), ("--bench", "bench"), ("--bin", "bin")] {
        if let Some(target) = value(option).filter(|name| !has_target(package, kind, name)) {
            return Err(format!("{package} has no {kind} {target}"));
        }
    }
    if words[0] != "test" {
        return Ok(());
    }
    let mut previous = "";
    for word in &words[1..] {
        let is_filter = !word.starts_with('-') && !CARGO_VALUES.contains(&previous);
        let segments = word.split("::").filter(|part| !part.is_empty());
        let unknown = segments
            .filter(|part| is_filter && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
            .find(|part| !ITEMS.iter().any(|item| item.contains(part)));
        if let Some(part) = unknown {
            return Err(format!("no test or module has {part} in its name"));
        }
        previous = word;
    }
    Ok(())
}

/// Returns whether a package has a target of this kind and name.
fn has_target(package: &str, kind: &str, name: &str) -> bool {
    let directory = directory_of(package);
    let manifest = manifest(&directory.join("Cargo.toml"));
    let declared = manifest.get(kind).and_then(|targets| targets.as_array());
    let mut declared = declared.into_iter().flatten();
    declared.any(|target| target["name"].as_str() == Some(name))
        || kind == "test"
            && [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")]
                .iter()
                .any(|path| directory.join(path).exists())
}

/// Returns the directory of a package of the workspace.
fn directory_of(package: &str) -> PathBuf {
    let workspace = manifest(&root().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let mut directories = members
        .iter()
        .map(|member| root().join(member.as_str().unwrap()));
    let name = |directory: &Path| {
        let package = manifest(&directory.join("Cargo.toml"));
        package["package"]["name"].as_str().unwrap().to_owned()
    };
    directories
        .find(|directory| name(directory) == package)
        .unwrap()
}

/// The commands of `ledger-node`.
const COMMANDS: [&str; 12] = [
    "run",
    "compact",
    "verify",
    "config",
    "genesis",
    "account",
    "bench",
    "health",
    "top",
    "cluster",
    "completions",
    "man",
];

/// Checks the subcommand, the options and the settings of a `ledger-node` command.
fn check_node(words: &[&str]) -> Result<(), String> {
    let help = text("tests/golden/surface/help.txt");
    let defaults: Table = text("config/node.toml").parse().unwrap();
    if !words[0].starts_with('-') && !COMMANDS.contains(&words[0]) {
        return Err(format!("no command {}", words[0]));
    }
    for (index, word) in words.iter().enumerate() {
        let option = word.split('=').next().unwrap();
        if option.starts_with("--") && option != "--version" && !help.contains(option) {
            return Err(format!("no option {option}"));
        }
        let setting = (index > 0 && words[index - 1] == "--set").then_some(option);
        if let Some((section, key)) = setting.and_then(|name| name.rsplit_once('.')) {
            let mut sections = section.split('.');
            let table = sections.try_fold(&defaults, |table, name| table.get(name)?.as_table());
            let commented = text("config/node.toml").contains(&format!("# {key} = "));
            if !table.is_some_and(|table| table.contains_key(key) || commented) {
                return Err(format!("no setting {section}.{key}"));
            }
        }
    }
    Ok(())
}

/// Returns the recipes of the task list.
fn recipes() -> BTreeSet<String> {
    let tasks = text("justfile");
    let heads = tasks
        .lines()
        .filter(|line| line.starts_with(char::is_lowercase));
    heads
        .filter_map(|head| Some(head.split([' ', ':']).next()?.to_owned()))
        .collect()
}

/// Returns the stages of the check, and the parts that can be run alone.
fn stages() -> BTreeSet<String> {
    let script = text(".ci/run");
    let lists = script.lines().filter_map(|line| {
        let list = line
            .strip_prefix("all_stages=(")
            .or_else(|| line.strip_prefix("parts=("));
        list?.strip_suffix(')')
    });
    lists
        .flat_map(|list| list.split(' '))
        .map(str::to_owned)
        .collect()
}

/// Checks that all words are known names.
fn check_words(words: &[&str], known: &BTreeSet<String>, kind: &str) -> Result<(), String> {
    match words.iter().find(|word| !known.contains(**word)) {
        Some(word) => Err(format!("no {kind} {word}")),
        None => Ok(()),
    }
}

#[test]
fn finds_commands_of_blocks_and_spans() {
    let document =
        "Run `A=1 cargo test --test it` or `cargo`.\n```console\n$ just quick && x y\n```\n";
    assert_eq!(commands(document), ["cargo test --test it", "just quick"]);
}

#[test]
fn rejects_names_that_do_not_exist() {
    for (command, expected) in [
        ("cargo test -p ledger-store --lib wal::", Ok(())),
        (
            "cargo test -p ledger-absent",
            Err("no package ledger-absent"),
        ),
        (
            "cargo test --test absent",
            Err("ledger-node has no test absent"),
        ),
        ("just absent", Err("no recipe absent")),
        (".ci/run fmt absent", Err("no stage absent")),
        ("ledger-node absent x", Err("no command absent")),
        ("ledger-node run --absent", Err("no option --absent")),
        (
            "ledger-node run --set api.absent=1",
            Err("no setting api.absent"),
        ),
        ("python3 benches/absent", Err("no benches/absent")),
    ] {
        assert_eq!(check(command), expected.map_err(str::to_owned), "{command}");
    }
}
