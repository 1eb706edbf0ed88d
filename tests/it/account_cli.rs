//! The `account` commands, as a user runs them.

use crate::kit::{TestNode, binary};
use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _, path::Path, process::Output};

/// Runs a subcommand of `account`.
fn account(arguments: &[&str]) -> Output {
    binary().arg("account").args(arguments).output().unwrap()
}

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the value of `name value` in the output of a command.
fn value<'a>(printed: &'a str, name: &str) -> &'a str {
    printed
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no {name} in {printed}"))
}

/// Creates a file that only its owner can read, and returns its path.
fn private_file(directory: &Path, text: &str) -> String {
    let path = directory.join("text");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn creates_funds_and_shows_accounts_and_transfers() {
    let node = TestNode::start(&[]);
    let faucet = node.faucet.as_deref().unwrap();
    let key_file = node.directory().join("alice.key");
    let key_file = key_file.to_str().unwrap();

    let alice = printed(&account(&["new", "--out", key_file]));
    let alice = value(&alice, "address").to_owned();
    let mode = fs::metadata(key_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = account(&["new", "--out", key_file]);
    assert_eq!(again.status.code(), Some(1), "a key file was overwritten");

    let bob = printed(&account(&["new"]));
    let (bob, bob_key) = (value(&bob, "address"), value(&bob, "private key"));
    let bob_file = private_file(node.directory(), bob_key);

    printed(&account(&["fund", "--faucet", faucet, &alice, "500000000"]));
    let transfer = printed(&account(&[
        "transfer",
        "--url",
        &node.api,
        "--key",
        key_file,
        bob,
        "100000000",
    ]));
    assert!(transfer.contains("committed at version "), "{transfer}");
    assert!(transfer.contains("Executed successfully"), "{transfer}");

    let state = printed(&account(&["show", "--url", &node.api, bob]));
    assert_eq!(value(&state, "balance"), "100000000");
    assert_eq!(value(&state, "sequence_number"), "0");
    let back = printed(&account(&[
        "transfer", "--url", &node.api, "--key", &bob_file, &alice, "1000",
    ]));
    assert!(back.contains("committed"), "{back}");
    let state = printed(&account(&["show", "--url", &node.api, bob]));
    assert_eq!(value(&state, "sequence_number"), "1");
}

#[test]
fn names_the_cause_of_a_failed_command() {
    let node = TestNode::start(&[]);
    let key = private_file(node.directory(), &"11".repeat(32));
    let check_failure = |arguments: &[&str], parts: &[&str]| {
        let output = account(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    };
    let to = "0x77";
    check_failure(
        &["transfer", "--url", &node.api, "--key", &key, to, "1"],
        &["400", "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE"],
    );
    check_failure(
        &["transfer", "--url", &node.api, "--key", "/nowhere", to, "1"],
        &["--key", "the name of a key file", "No such file"],
    );
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let unused = format!("http://{unused}");
    check_failure(
        &["show", "--url", &unused, to],
        &["no response from", &unused, "refused"],
    );
    check_failure(&["show", "--url", "ftp://x", to], &["http://HOST:PORT"]);
    // The admin listener responds, but is not a node.
    check_failure(&["show", "--url", &node.admin, to], &["404"]);
}
