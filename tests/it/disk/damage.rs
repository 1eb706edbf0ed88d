//! Damage of a ledger's file that no check at the start found: a read of it ends the process with a
//! message.
//!
//! The file is damaged while the node runs, because debug builds check every page at the start and
//! release builds do not.

use super::check_message;
use crate::{
    flight::{flight_files, recording},
    kit::{TestAccount, TestNode},
};
use reqwest::Method;
use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
};

/// The page of the roots, which is read at the start only.
const FIRST_PAGE_BYTES: u64 = 4096;
/// Maximum number of reads before one must find the damage.
const READS_MAX: u64 = 1_000;

#[tokio::test]
async fn ends_with_a_message_that_names_the_directory_if_a_read_finds_damage() {
    let mut node = TestNode::start(&["storage.cache_bytes=1", "storage.check_bytes_max=0"]);
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
