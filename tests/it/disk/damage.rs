//! Damage of a ledger's file that no check at the start found: a read of it ends the process with a
//! message.
//!
//! The file is damaged while the node runs, because debug builds check every page at the start and
//! release builds do not.

use super::check_message;
use crate::flight::{flight_files, recording};
use ledger_test_support::{TestAccount, node::TestNode};
use reqwest::Method;
use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
};

/// The page of the roots, which is read at the start only.
const FIRST_PAGE_BYTES: u64 = 4096;
/// Maximum number of reads before one must find the damage.
const READS_MAX: u64 = 1_000;
/// A balance whose bytes occur in no other value.
const RARE_BALANCE: u64 = 0x81_2765_43d1;

/// Changes the byte behind each [`RARE_BALANCE`] in the database file of a running node, and
/// returns their offsets. In the coin store of an account, the byte states whether it is frozen.
pub(super) fn change_rows(node: &TestNode, change: impl Fn(u8) -> u8) -> Vec<usize> {
    let file = File::options()
        .read(true)
        .write(true)
        .open(node.directory().join("data/ledger.redb"))
        .unwrap();
    let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
    let mut content = vec![0; length];
    file.read_exact_at(&mut content, 0).unwrap();
    let balance = RARE_BALANCE.to_le_bytes();
    let found = content.windows(balance.len()).enumerate();
    let offsets: Vec<_> = found
        .filter(|(_, bytes)| *bytes == balance)
        .map(|(offset, _)| offset + balance.len())
        .collect();
    assert!(!offsets.is_empty());
    for &offset in &offsets {
        let changed = [change(content[offset])];
        file.write_all_at(&changed, offset as u64).unwrap();
    }
    offsets
}

/// Starts a node, and funds two accounts: one with much, and one with [`RARE_BALANCE`]. The rows of
/// both are in a checkpoint, and in no memory of the next node on the directory.
pub(super) async fn stopped_node(settings: &[&str]) -> (TestNode, [TestAccount; 2]) {
    let mut node = TestNode::start(settings);
    let accounts = [1, 2].map(TestAccount::from_seed);
    node.fund(&accounts[0], 1_000_000_000_000).await;
    node.fund(&accounts[1], RARE_BALANCE).await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    (node, accounts)
}

#[tokio::test]
async fn ends_with_a_recording_if_a_resource_that_the_executor_reads_does_not_decode() {
    // The scrubber would find the damage as well.
    let settings = ["storage.cache_bytes=1", "storage.scrub_hours=0"];
    let (node, [sender, recipient]) = stopped_node(&settings).await;
    let mut node = node.restart();
    // No boolean has this value.
    change_rows(&node, |_| 2);
    let chain = node.chain().await;
    let transfer = sender.transfer(&chain, 0, recipient.address, 1);
    // The response, if there is one before the end, is not part of this.
    let _ = node.try_submit(&transfer).await;
    let ended = node.ended_within_patience().await;
    let log = node.log();
    assert_eq!(ended.code(), Some(1), "{log}");
    check_message(&log, &["executor", "does not decode"]);
    assert!(!log.contains("panicked"), "{log}");
    let files = flight_files(&node.directory().join("data"));
    assert_eq!(files.len(), 1, "{files:?}");
    let recording = recording(&files[0]);
    let reason = recording["reason"].as_str().unwrap();
    assert!(reason.contains("does not decode"), "{reason}");
    let block = recording["blocks"].as_array().unwrap().last().unwrap();
    assert_eq!(block["transactions"], 1, "{block}");
    assert!(block["execution_begun_after_usecs"].is_u64(), "{block}");
    assert!(block["executed_after_usecs"].is_null(), "{block}");
}

#[tokio::test]
async fn ends_with_a_message_that_names_the_directory_if_a_read_finds_damage() {
    let mut node = TestNode::start(&[
        "storage.cache_bytes=1",
        "storage.check_bytes_max=0",
        // The scrubber would find the damage as well.
        "storage.scrub_hours=0",
    ]);
    for seed in 1..=20 {
        node.fund(&TestAccount::from_seed(seed), 1_000_000).await;
    }
    // A read of the store waits until the database has applied every acknowledged block. After it
    // the writer is idle.
    let newest = node.get("/v1").await.json["ledger_version"].clone();
    let path = format!("/v1/transactions/by_version/{}", newest.as_str().unwrap());
    assert_eq!(node.get(&path).await.status, 200);
    let data = node.directory().join("data");
    let file = File::options()
        .write(true)
        .open(data.join("ledger.redb"))
        .unwrap();
    let length = file.metadata().unwrap().len();
    // No page of the database begins with these bytes.
    let damage = vec![0xFF; usize::try_from(length - FIRST_PAGE_BYTES).unwrap()];
    file.write_all_at(&damage, FIRST_PAGE_BYTES).unwrap();

    let mut version = 0;
    let ended = loop {
        let url = format!("{}/v1/transactions/by_version/{version}", node.api);
        let response = node
            .http
            .try_send(node.http.request(Method::GET, &url))
            .await;
        if response.is_none() {
            break node.ended_within_patience().await;
        }
        version += 1;
        assert!(
            version < READS_MAX,
            "no read found the damage: {}",
            node.log()
        );
    };
    let log = node.log();
    assert_eq!(ended.code(), Some(1), "{log}");
    let directory = data.to_str().unwrap();
    let words = [
        directory,
        "is damaged: ",
        // An HTTP worker thread, which reads single transactions itself.
        "thread actix-rt",
        "restore the directory from a copy",
    ];
    check_message(&log, &words);
    assert!(!log.contains("panicked"), "{log}");
    assert!(fs::exists(data.join("ledger.redb")).unwrap());
    let files = flight_files(&data);
    assert_eq!(files.len(), 1, "{files:?}");
    let recording = recording(&files[0]);
    let reason = recording["reason"].as_str().unwrap();
    assert!(reason.contains("is damaged: "), "{reason}");
    assert!(!recording["blocks"].as_array().unwrap().is_empty());
}
