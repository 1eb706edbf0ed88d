//! Damage that the scrubber finds while the node runs, without a request that reads it.

use super::{
    damage::{change_rows, stopped_node},
    full::check_rejected,
};
use ledger_test_support::node::{DiskOperation, SlowDisk, until};

/// Size of the smallest page of the database.
const PAGE_BYTES: usize = 4096;

#[tokio::test]
async fn finds_a_flipped_bit_without_a_request_that_reads_it() {
    let Some(disk) = SlowDisk::new() else { return };
    let (node, [sender, recipient]) = stopped_node(&[]).await;
    // The first pass begins at the start.
    disk.hang_in("store-scrubber", DiskOperation::Read, "/data/ledger.redb");
    let mut node = disk.start_in(node.shared_directory(), Vec::new());
    until("a read of the scrubber", || async {
        (disk.calls(DiskOperation::Read).waiting() == 1).then_some(())
    })
    .await;
    let flipped = change_rows(&node, |byte| byte ^ 1);
    assert_eq!(node.get("/v1/-/healthy").await.status, 200);
    disk.release(DiskOperation::Read);
    let health = until("a finding", || async {
        let health = node.get("/v1/-/healthy").await;
        (health.status == 503).then_some(health)
    })
    .await;
    let (_, page) = health.text.split_once("begins at byte ").unwrap();
    let page: usize = page.split(':').next().unwrap().parse().unwrap();
    let bytes = page..page + PAGE_BYTES;
    let is_flipped = flipped.iter().any(|offset| bytes.contains(offset));
    assert!(is_flipped, "{}", health.text);
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let passes = |outcome| format!("\nledger_scrub_passes_total{{outcome=\"{outcome}\"}} ");
    for (outcome, count) in [("damaged", 1), ("intact", 0)] {
        let sample = format!("{}{count}\n", passes(outcome));
        assert!(metrics.contains(&sample), "{metrics}");
    }
    let transfer = sender.transfer(&node.chain().await, 0, recipient.address, 1);
    check_rejected(&node.try_submit(&transfer).await.unwrap(), "checksum");
    assert!(node.balance(&sender.address).await > 0, "reads are served");
    let ended = node.stop("TERM");
    let log = node.log();
    assert_eq!(ended.code(), Some(1), "{log}");
    assert!(log.contains("store-scrubber"), "{log}");
}
