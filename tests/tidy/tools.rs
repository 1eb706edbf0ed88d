//! The files that set up a developer's machine: toolchain, scripts, and the list of tasks.

use super::root;
use std::{fs, process::Command};
use toml::Table;

/// Scripts that only other scripts start.
const INNER_SCRIPTS: [&str; 4] = [
    ".ci/rustc",
    "src/packages/pack",
    "tests/fuzz/run_target.sh",
    "tests/fuzz/rustc.sh",
];

/// Reads a file by its path from the root.
pub(super) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns the executable files that git tracks.
fn scripts() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--stage"])
        .current_dir(root())
        .output()
        .expect("git lists the files of its checkout");
    let listed = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    let executable = listed.lines().filter(|line| line.starts_with("100755"));
    executable
        .filter_map(|line| Some(line.split_once('\t')?.1.to_owned()))
        .collect()
}

#[test]
fn the_toolchain_is_the_first_release_of_the_rust_version() {
    let manifest: Table = text("Cargo.toml").parse().unwrap();
    let toolchain: Table = text("rust-toolchain.toml").parse().unwrap();
    let version = manifest["workspace"]["package"]["rust-version"].as_str();
    let channel = toolchain["toolchain"]["channel"].as_str();
    assert_eq!(channel, version.map(|v| format!("{v}.0")).as_deref());
}

#[test]
fn the_task_list_names_every_script() {
    let tasks = text("justfile");
    let scripts = scripts();
    assert!(
        scripts.iter().any(|script| script == ".ci/run"),
        "{scripts:?}"
    );
    for script in &scripts {
        assert_ne!(
            tasks.contains(script.as_str()),
            INNER_SCRIPTS.contains(&script.as_str()),
            "{script}: add a recipe to the justfile, or an entry to INNER_SCRIPTS"
        );
    }
}
