//! Man pages and completions, which the program makes of its command line.

use ledger_test_support::node::binary;
use std::{fs, process::Output};

/// Commands, one of them within another.
const COMMANDS: [&str; 3] = ["run", "cluster-init", "account-transfer"];

fn output(arguments: &[&str]) -> Output {
    let output = binary().args(arguments).output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {log}");
    output
}

#[test]
fn writes_a_man_page_for_each_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    output(&["man", path]);
    let page = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    for command in COMMANDS {
        let text = page(&format!("ledger-node-{command}.1"));
        assert!(text.contains(".SH SYNOPSIS"), "{text}");
    }
    let text = page("ledger-node.1");
    let version = env!("CARGO_PKG_VERSION");
    // The page is the same on every machine, unlike `--version`.
    assert!(
        text.contains(&format!("\"ledger-node {version}\"")),
        "{text}"
    );
}

#[test]
fn reports_a_directory_in_which_no_man_page_can_be_written() {
    let output = binary().args(["man", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("ledger-node: /nowhere: "), "{message}");
}

#[test]
fn prints_the_completions_of_each_shell() {
    for shell in ["bash", "fish", "zsh"] {
        let printed = output(&["completions", shell]).stdout;
        let script = String::from_utf8(printed).unwrap();
        for word in ["ledger-node", "transfer", "data-dir"] {
            assert!(script.contains(word), "{shell}: {word}: {script}");
        }
    }
}
