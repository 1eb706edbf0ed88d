//! `ledger-node verify`: whole directories pass, changed ones are named, and none is changed.

use ledger_framework::modules::object::user_derived_addresses;
use ledger_test_support::{
    TestAccount,
    http::number,
    node::{TestNode, binary, replace_in_blocks, replace_in_ledger, until},
};
use ledger_types::AccountAddress;
use std::{collections::BTreeMap, fs, os::unix::fs::FileExt as _, path::PathBuf};

/// A balance whose bytes occur in no other value.
const RARE_BALANCE: u64 = 0x81_2765_43d1;
/// The balance that replaces it.
const OTHER_BALANCE: u64 = 0x81_2765_43d2;

/// The end of a verification.
struct Verification {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Verifies the directory of a node.
fn verify(node: &TestNode, options: &[&str]) -> Verification {
    let output = binary()
        .arg("verify")
        .arg(node.directory().join("data"))
        .args(options)
        .output()
        .unwrap();
    Verification {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Verifies a directory that must pass, and returns the report.
fn verified(node: &TestNode, options: &[&str]) -> String {
    let found = verify(node, options);
    assert_eq!(found.code, Some(0), "{}{}", found.stdout, found.stderr);
    found.stdout
}

/// Verifies a directory that must not pass, and checks that the message has all `words`.
fn assert_names(node: &TestNode, words: &[&str]) {
    let found = verify(node, &[]);
    assert_eq!(found.code, Some(1), "{}", found.stdout);
    for word in words {
        assert!(found.stderr.contains(word), "{word}: {}", found.stderr);
    }
}

/// Returns the content of all files in the directory of a node.
fn files(node: &TestNode) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(node.directory().join("data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// Starts a node whose blocks have transfers to new and known accounts, an aborted transfer and a
/// balance of [`RARE_BALANCE`], which a transfer at the returned version wrote.
async fn node_at_work(settings: &[&str]) -> (TestNode, u64) {
    let node = TestNode::start(settings);
    let [sender, recipient] = [1, 2].map(TestAccount::from_seed);
    node.fund(&sender, 1_000_000_000_000).await;
    let chain = node.chain().await;
    let transfer = sender.transfer(&chain, 0, recipient.address, RARE_BALANCE);
    let written = node.submit_and_wait(&transfer).await;
    assert_eq!(written["success"], true, "{written}");
    for number in 1..5 {
        let transfer = sender.transfer(&chain, number, TestAccount::from_seed(3).address, number);
        node.submit_and_wait(&transfer).await;
    }
    let aborted = sender.transfer(&chain, 5, recipient.address, u64::MAX);
    let aborted = node.submit_and_wait(&aborted).await;
    assert_eq!(aborted["success"], false, "{aborted}");
    (node, number(&written["version"]))
}

/// As [`node_at_work`], but the node is stopped.
async fn stopped_node(settings: &[&str]) -> (TestNode, u64) {
    let (mut node, version) = node_at_work(settings).await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    (node, version)
}

#[tokio::test]
async fn passes_a_stopped_ledger_and_changes_nothing() {
    let (node, _) = stopped_node(&[]).await;
    let before = files(&node);
    let report = verified(&node, &[]);
    assert!(report.contains("versions 0 to "), "{report}");
    assert!(report.contains("not checked: signatures"), "{report}");
    assert!(!report.contains("pruned"), "{report}");
    let report = verified(&node, &["--signatures"]);
    assert!(!report.contains("not checked: signatures"), "{report}");
    assert!(files(&node) == before, "a file has changed");
}

#[tokio::test]
async fn applies_the_log_of_a_killed_node_in_memory() {
    let (mut node, version) = node_at_work(&[]).await;
    node.kill();
    let before = files(&node);
    let report = verified(&node, &[]);
    let versions = report.split("versions 0 to ").nth(1).unwrap();
    let last: u64 = versions.split(' ').next().unwrap().parse().unwrap();
    assert!(last > version, "{report}");
    assert!(files(&node) == before, "a file has changed");
}

#[tokio::test]
async fn passes_a_pruned_ledger_and_names_what_is_not_checked() {
    let (mut node, _) =
        node_at_work(&["pruner.window_versions=7", "pruner.batch_versions=1"]).await;
    until("a pruned version", || async {
        let info = node.get("/v1").await.json;
        (number(&info["oldest_ledger_version"]) > 3).then_some(())
    })
    .await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let report = verified(&node, &[]);
    assert!(!report.contains("versions 0 to "), "{report}");
    for words in [
        "not checked: versions below ",
        "not checked: the execution of the oldest block",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
}

#[tokio::test]
async fn names_version_key_and_values_of_a_changed_value_with_valid_checksums() {
    let (node, version) = stopped_node(&[]).await;
    let file = node.directory().join("data/ledger.redb");
    let [from, to] = [RARE_BALANCE, OTHER_BALANCE].map(u64::to_le_bytes);
    assert_ne!(replace_in_ledger(&file, &from, &to), 0);
    let recipient = TestAccount::from_seed(2).address;
    let store = user_derived_addresses(&[recipient], AccountAddress::NATIVE_ASSET)
        .into_iter()
        .next()
        .unwrap();
    assert_names(
        &node,
        &[
            &format!("version {version}, write "),
            &format!("the resource group 0x1::object::ObjectGroup of {store}"),
            &hex::encode(from),
            &hex::encode(to),
        ],
    );
}

#[tokio::test]
async fn names_a_changed_hash_that_no_execution_reads() {
    let (mut node, _) = node_at_work(&[]).await;
    let block = node.get("/v1/blocks/by_height/1").await.json;
    let hash = block["block_hash"].as_str().unwrap().to_owned();
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let file = node.directory().join("data/ledger.redb");
    let from = hex::decode(hash.trim_start_matches("0x")).unwrap();
    let mut to = from.clone();
    to[0] ^= 1;
    assert_ne!(replace_in_blocks(&file, &from, &to), 0);
    let words = [
        "the hash of block 1",
        &hex::encode(&from),
        &hex::encode(&to),
    ];
    assert_names(&node, &words);
}

#[tokio::test]
async fn names_the_page_of_a_changed_byte() {
    let (node, _) = stopped_node(&[]).await;
    let path = node.directory().join("data/ledger.redb");
    let content = fs::read(&path).unwrap();
    let balance = RARE_BALANCE.to_le_bytes();
    let file = fs::File::options().write(true).open(&path).unwrap();
    // Some of the pages are free.
    for (offset, bytes) in content.windows(balance.len()).enumerate() {
        if bytes == balance {
            file.write_all_at(&[bytes[0] ^ 1], offset as u64).unwrap();
        }
    }
    assert_names(&node, &["a page does not match its checksum", "at byte "]);
}

#[tokio::test]
async fn rejects_the_directory_of_a_running_node_and_one_without_a_ledger() {
    let node = TestNode::start(&[]);
    assert_names(&node, &["is in use by another node"]);
    drop(node);
    let empty = tempfile::tempdir().unwrap();
    let output = binary().arg("verify").arg(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let names = fs::read_dir(empty.path()).unwrap().count();
    assert_eq!(names, 0, "nothing is created");
}
