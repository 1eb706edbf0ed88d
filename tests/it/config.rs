//! The command `config`, and starts with an invalid configuration.

use crate::kit::{TestNode, binary};
use std::{fs, process::Output};

/// Converts the output of a command to text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks that a command ended with the exit code of an invalid configuration and a message with
/// `parts`.
fn check_rejected(output: &Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn prints_each_value_with_its_origin() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("node.toml");
    fs::write(&file, "[wait]\ntimeout_ms = 250\ncapacity = 7\n").unwrap();
    let output = binary()
        .args(["config", "--set", "wait.capacity=8", "--config"])
        .arg(&file)
        .env("LEDGER_NODE__CHAIN__ID", "9")
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed = text(&output.stdout);
    let line = |start: &str| {
        printed
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no {start} in {printed}"))
    };
    assert!(line("timeout_ms = 250 ").contains("node.toml, line 2"));
    assert!(line("capacity = 8 ").contains("--set"));
    assert!(line("id = 9 ").contains("LEDGER_NODE__CHAIN__ID"));
    assert!(line("readers = ").contains("default"));
    let values: toml::Table = printed.parse().unwrap();
    assert_eq!(values["wait"]["timeout_ms"].as_integer(), Some(250));
}

#[test]
fn rejects_an_invalid_configuration_with_exit_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bad.toml");
    fs::write(&file, "[mempool]\ncapacity_transactions = 0\n").unwrap();
    let run = |arguments: &[&str]| {
        let output = binary()
            .args(["run", "--data-dir"])
            .arg(directory.path().join("data"))
            .args(arguments)
            .output();
        output.unwrap()
    };
    check_rejected(
        &run(&["--config", file.to_str().unwrap()]),
        &[
            "mempool.capacity_transactions",
            "bad.toml, line 2",
            "from 1 to",
        ],
    );
    check_rejected(
        &run(&["--set", "mempool.size=1"]),
        &["mempool.size", "--set", "capacity_bytes"],
    );
    check_rejected(&run(&["--config", "/nowhere.toml"]), &["/nowhere.toml"]);
    check_rejected(
        &run(&["--set", "sequencer.mode=bft"]),
        &["sequencer.mode", "solo"],
    );
    check_rejected(
        &run(&["--set", "chain.genesis=/nowhere.toml"]),
        &["/nowhere.toml"],
    );
    check_rejected(
        &run(&["--set", "api.workers=513"]),
        &["api.workers", "from 0 to 512"],
    );
    assert!(
        !directory.path().join("data").exists(),
        "a rejected start created a data directory"
    );
}

#[test]
fn rejects_settings_that_contradict_the_genesis_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    fs::write(&file, "chain_id = 77\nvendor = \"OTHER\"\naccounts = []\n").unwrap();
    let run = |set: &str| {
        let settings = [format!("chain.genesis={}", file.display()), set.to_owned()];
        TestNode::command(directory.path(), &settings)
            .output()
            .unwrap()
    };
    check_rejected(
        &run("chain.id=4"),
        &["chain.id = 4", "--set", "genesis.toml", "77"],
    );
    check_rejected(&run("chain.vendor=NODE"), &["chain.vendor = NODE", "OTHER"]);
    check_rejected(
        &run("faucet.enabled=true"),
        &["faucet.enabled", "development chain"],
    );
}

#[test]
fn names_an_invalid_genesis_file_without_its_key() {
    const KEY: &str = "5d996aa76b3212142792d9130796cd2e11e3c445a93118c08414df4f66bc60ec";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let run = |text: &str| {
        fs::write(&file, text).unwrap();
        let settings = [format!("chain.genesis={}", file.display())];
        TestNode::command(directory.path(), &settings)
            .output()
            .unwrap()
    };
    let start = "chain_id = 7\ndevelopment = true\n";
    let misspelt = run(&format!("{start}faucet_privat_key = \"{KEY}\"\n"));
    check_rejected(
        &misspelt,
        &["genesis.toml", "line 3, column 1", "faucet_privat_key"],
    );
    assert!(
        !text(&misspelt.stderr).contains(KEY),
        "{}",
        text(&misspelt.stderr)
    );
    let unclosed = run(&format!("{start}faucet_private_key = \"{KEY}\n"));
    check_rejected(&unclosed, &["genesis.toml", "line 3"]);
    assert!(
        !text(&unclosed.stderr).contains(KEY),
        "{}",
        text(&unclosed.stderr)
    );
    check_rejected(
        &run(&format!("{start}faucet_private_key = \"{KEY}\"\n")),
        &["genesis.toml", "account of the faucet key"],
    );
    let reserved = run(&format!(
        "{start}[[accounts]]\naddress = \"0x1\"\nbalance = 1\n"
    ));
    check_rejected(&reserved, &["genesis.toml", "0x1", "reserved"]);
}

#[test]
fn rejects_a_directory_of_another_chain() {
    let mut node = TestNode::start(&[]);
    node.stop("TERM");
    let settings = ["chain.id=9".to_owned()];
    let output = TestNode::command(node.directory(), &settings)
        .output()
        .unwrap();
    check_rejected(
        &output,
        &[
            "another genesis",
            "chain id 4, configured is 9",
            "--data-dir",
        ],
    );
}
