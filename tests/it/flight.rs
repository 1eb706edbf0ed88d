//! The recording of the newest blocks: requested on the admin listener, and limited in number.

#[cfg(target_os = "linux")]
use ledger_test_support::node::{DiskOperation, SlowDisk, until};
use ledger_test_support::{TestAccount, http::HttpResponse, node::TestNode};
use reqwest::Method;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum number of files that remain.
const FILES_MAX: usize = 8;

/// Returns the recordings in a data directory, in order of their time.
pub fn flight_files(data: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(data).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("flight-")
    });
    files.sort_unstable();
    files
}

/// Returns the content of a recording.
pub fn recording(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

async fn request(node: &TestNode) -> HttpResponse {
    let url = format!("{}/flight", node.admin);
    let request = node.http.request(Method::POST, &url);
    node.http.try_send(request).await.unwrap()
}

/// Requests a recording and returns its content.
async fn recorded(node: &TestNode) -> Value {
    let response = request(node).await;
    assert_eq!(response.status, 200, "{}", response.text);
    let file = Path::new(response.json["file"].as_str().unwrap());
    assert_eq!(file.parent(), Some(&*node.directory().join("data")));
    let recording = recording(file);
    let blocks = recording["blocks"].as_array().unwrap();
    assert_eq!(response.json["blocks"], blocks.len());
    recording
}

#[tokio::test]
async fn records_the_stages_of_each_block_since_the_start() {
    let node = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let transfer = account.transfer(&node.chain().await, 0, account.address, 1);
    node.submit_and_wait(&transfer).await;
    let ledger = node.get("/v1").await.json;
    let newest: u64 = ledger["block_height"].as_str().unwrap().parse().unwrap();
    let recording = recorded(&node).await;
    assert_eq!(recording["reason"], "requested on the admin listener");
    let blocks = recording["blocks"].as_array().unwrap();
    assert!(blocks.len() as u64 >= newest, "{recording}");
    for (block, height) in blocks.iter().zip(1..=newest) {
        assert_eq!(block["height"], height);
        let after = |stage: &str| block[format!("{stage}_after_usecs")].as_u64().unwrap();
        let stages = ["execution_begun", "executed", "durable", "visible"].map(after);
        assert!(stages.is_sorted(), "{block}");
        let ordered = block["ordered_at_unix_usecs"].as_u64().unwrap();
        assert!(ordered <= recording["written_at_unix_usecs"].as_u64().unwrap());
        if block["transactions"] == 1 {
            assert!(block["bytes"].as_u64().unwrap() > 100, "{block}");
        }
    }
    let transactions = blocks.iter().map(|block| block["transactions"].as_u64());
    assert_eq!(transactions.map(Option::unwrap).sum::<u64>(), 2);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn shows_the_stage_that_a_block_has_not_reached() {
    let Some(disk) = SlowDisk::new() else {
        return;
    };
    let node = disk.start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    // Only the sync of the block: the database syncs when its file grows, before the block comes.
    disk.hang_in("store-writer", DiskOperation::Sync, "/data/ledger.");
    let transfer = account.transfer(&node.chain().await, 0, account.address, 1);
    let hash = node.submit(&transfer).await;
    until("a sync to hang", || async {
        (disk.calls(DiskOperation::Sync).waiting() == 1).then_some(())
    })
    .await;
    let recording = recorded(&node).await;
    let block = recording["blocks"].as_array().unwrap().last().unwrap();
    assert!(block["executed_after_usecs"].is_u64(), "{block}");
    assert!(block["durable_after_usecs"].is_null(), "{block}");
    assert!(block["visible_after_usecs"].is_null(), "{block}");
    disk.release(DiskOperation::Sync);
    node.try_wait(&hash).await.unwrap();
}

#[tokio::test]
async fn keeps_the_newest_files_over_requests_and_starts() {
    let mut node = TestNode::start(&[]);
    let data = node.directory().join("data");
    let mut written = Vec::new();
    for _ in 0..FILES_MAX + 2 {
        let response = request(&node).await;
        written.push(PathBuf::from(response.json["file"].as_str().unwrap()));
    }
    let kept = &written[2..];
    assert_eq!(flight_files(&data), kept);
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    // Those of a process that was killed while it wrote them.
    let unfinished = data.join("flight-20200101T000000.000000Z.json.tmp");
    fs::write(&unfinished, "{").unwrap();
    fs::copy(&kept[0], data.join("flight-20200101T000000.000000Z.json")).unwrap();
    let node = node.restart();
    assert_eq!(flight_files(&data), kept);
    drop(node);
}

#[tokio::test]
async fn starts_a_ledger_in_a_directory_with_nothing_but_recordings() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    let file = data.join("flight-20200101T000000.000000Z.json");
    fs::write(&file, "{}").unwrap();
    let node = TestNode::start_in(Arc::clone(&directory), Vec::new());
    assert_eq!(node.get("/v1").await.status, 200);
    assert_eq!(flight_files(&data), [file]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn leaves_no_file_if_the_directory_does_not_take_it() {
    let node = TestNode::start(&[]);
    let data = node.directory().join("data");
    let moved = node.directory().join("moved");
    fs::rename(&data, &moved).unwrap();
    let response = request(&node).await;
    assert_eq!(response.status, 500, "{}", response.text);
    let message = response.json["message"].as_str().unwrap();
    assert!(message.contains(data.to_str().unwrap()), "{message}");
    assert!(flight_files(&moved).is_empty());
}
