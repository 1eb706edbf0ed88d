//! A disk that hangs: the stall has the name of the thread that waits for it.

use crate::kit::{DiskOperation, SlowDisk, TestNode, until};
use std::time::{Duration, Instant};

/// `process.stall_secs` of the nodes.
const LIMIT: Duration = Duration::from_secs(1);

/// Returns status and text of the health check.
async fn health(node: &TestNode) -> (u16, String) {
    let response = node.get("/v1/-/healthy").await;
    (response.status, response.text)
}

/// Requests a transaction of the faucet, without waiting for its response.
fn begin_block(node: &TestNode) -> tokio::task::JoinHandle<()> {
    let (http, faucet) = (node.http.clone(), node.faucet.clone().unwrap());
    tokio::spawn(async move {
        let url = format!("{faucet}/mint?address=0x77&amount=5");
        let request = http.request(reqwest::Method::POST, &url);
        // The test has ended if there is no response.
        let _ = http.try_send(request).await;
    })
}

#[tokio::test]
async fn names_the_writer_while_a_write_or_a_sync_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    for operation in [DiskOperation::Sync, DiskOperation::Write] {
        let node = disk.start(&["process.stall_secs=1"]);
        assert_eq!(health(&node).await.0, 200);
        disk.hang(operation, "/data/ledger.");
        let block = begin_block(&node);
        until("a call that hangs", || async {
            (disk.calls(operation).waiting() > 0).then_some(())
        })
        .await;
        let begun = Instant::now();
        let text = until("an unhealthy node", || async {
            let (status, text) = health(&node).await;
            (status == 503).then_some(text)
        })
        .await;
        assert!(text.contains("store-writer has made no progress"), "{text}");
        assert!(begun.elapsed() + Duration::from_millis(50) >= LIMIT);
        node.logged("stalled: no progress while work waits").await;
        disk.release(operation);
        until("a healthy node", || async {
            (health(&node).await.0 == 200).then_some(())
        })
        .await;
        node.logged("the stall has ended").await;
        block.abort();
    }
}
