//! Readers of every kind during a load that fills the window many times.
//!
//! The default run takes seconds. A long run uses a release build:
//!
//! ```sh
//! cargo build --release
//! LEDGER_NODE_BIN=target/release/ledger-node PRUNED_TRANSACTIONS=300000 PRUNED_WINDOW=10000 \
//!     cargo test --test it pruned::under_load -- --nocapture
//! ```

// The output of a long run (seeds, figures, requests) is meant to be read.
#![allow(clippy::print_stdout)]

use super::{
    file::FileUsage,
    from_environment,
    load::{pay, start_watch},
    reads::{Reader, check_block},
    watch::Watch,
};
use fastrand::Rng;
use ledger_test_support::{
    http::NodeClient,
    node::{TestNode, bench_report, start_bench, until},
};
use std::{collections::BTreeSet, sync::Arc};

/// Number of readers, each of which makes all kinds of reads.
const READERS: u64 = 6;
/// Number of measurements of the file during a run.
const MEASUREMENTS: u64 = 10;
/// Number of windows of transactions before the first compared measurement. By then pruning and
/// merging below the window have run several times.
const FULL_AFTER_WINDOWS: u64 = 4;
/// Maximum ratio of the used pages to those of the first compared measurement. Merges take and
/// release about half of a small window. Pages that are never reused would be many times as many at
/// the end.
const GROWTH_MAX: f64 = 2.0;

/// The kinds of reads of a run.
const KINDS: [&str; 13] = [
    "account transactions",
    "balance at a version",
    "block by height",
    "block by version",
    "events of blocks",
    "events of withdrawals",
    "listing",
    "resource at a version",
    "resources at a version",
    "summaries",
    "transaction by hash",
    "transaction by version",
    "newest listing",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responds_from_one_version_or_with_410_in_a_file_that_stops_growing() {
    let transactions = from_environment("PRUNED_TRANSACTIONS", 12_000);
    let window = from_environment("PRUNED_WINDOW", 500);
    let seed = from_environment("PRUNED_SEED", 1);
    println!("PRUNED_TRANSACTIONS={transactions} PRUNED_WINDOW={window} PRUNED_SEED={seed}");
    // The lower bound of the window lags by one step at most. A long window uses the default step.
    let batch = (window / 2).min(500);
    let node = TestNode::start(&[
        &format!("pruner.window_versions={window}"),
        &format!("pruner.batch_versions={batch}"),
        // All readers are of one client, and a node without optimization renders slowly.
        "work.render_budget_ms=60000",
    ]);
    let watch = start_watch(&node, window).await;
    let options = "--accounts 200 --connections 32 --mode await";
    let load = start_bench(&node, &format!("--transfers {transactions} {options}"));
    let mut clients = vec![tokio::spawn(pay(node.client.clone(), Arc::clone(&watch)))];
    for reader in 0..READERS {
        let reader = Reader {
            node: node.client.clone(),
            watch: Arc::clone(&watch),
            random: Rng::with_seed(seed + reader),
        };
        clients.push(tokio::spawn(reader.run()));
    }
    let (files, report) = tokio::join!(
        measure_file(&node, &watch, transactions),
        bench_report(load)
    );
    watch.finish();
    for client in clients {
        client.await.unwrap();
    }
    for name in [
        "uncommitted",
        "failed",
        "lost",
        "false_not_found",
        "waits_in_vain",
    ] {
        assert_eq!(report[name], 0, "{name} in {report}");
    }
    assert_eq!(report["accepted"], transactions, "{report}");
    check_kinds(&watch);
    let oldest = check_window(&node, &watch).await;
    let newest = watch.bounds().version;
    assert!(
        newest + 1 - oldest >= window,
        "{oldest} to {newest} is less than the window"
    );
    check_files(&files, window);
}

/// Measures the file in the course of the run.
async fn measure_file(node: &TestNode, watch: &Watch, transactions: u64) -> Vec<(u64, FileUsage)> {
    let mut files = Vec::new();
    for measurement in 1..=MEASUREMENTS {
        let due = transactions * measurement / MEASUREMENTS;
        until("the next measurement of the file", || async {
            // Responses to readers update the bounds too, but there may be no reader left.
            let response = watch.get(node, "ledger", "/v1".to_owned()).await;
            response
                .filter(|response| response.bounds.version >= due)
                .map(drop)
        })
        .await;
        let bounds = watch.bounds();
        let file = FileUsage::measure(node).await;
        println!(
            "version {:>7}  window {:>6} versions  used {:>6} pages = {:>9} bytes, {} stored  \
             file {:>9}  disk {:>9}  {} bytes on disk per version of the window",
            bounds.version,
            bounds.version + 1 - bounds.oldest_version,
            file.used_pages,
            file.used_bytes,
            file.stored_bytes,
            file.file_bytes,
            file.disk_bytes,
            file.disk_bytes / (bounds.version + 1 - bounds.oldest_version),
        );
        files.push((bounds.version, file));
    }
    files
}

/// Checks that every kind was found and was pruned, and that only some kinds were unknown.
fn check_kinds(watch: &Watch) {
    let counts = watch.counts();
    for ((kind, status), count) in &counts {
        println!("{count:>7} x {status} {kind}");
    }
    let read_kinds: BTreeSet<_> = counts.keys().map(|(kind, _)| *kind).collect();
    for kind in KINDS {
        assert!(read_kinds.contains(kind), "{kind} was never read");
        assert!(counts.contains_key(&(kind, 200)), "{kind} was never found");
        if kind != "newest listing" {
            assert!(counts.contains_key(&(kind, 410)), "{kind} was never pruned");
        }
        let may_be_unknown = kind == "transaction by hash" || kind.ends_with("at a version");
        assert!(
            may_be_unknown || !counts.contains_key(&(kind, 404)),
            "{kind} was 404"
        );
    }
}

/// Checks without a load that every block of the window exists and none below it. Returns the
/// oldest version.
pub async fn check_window(node: &NodeClient, watch: &Watch) -> u64 {
    let final_bounds = watch
        .get(node, "ledger", "/v1".to_owned())
        .await
        .unwrap()
        .bounds;
    for height in final_bounds.oldest_height..=final_bounds.height {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let response = watch.get(node, "block of the window", path).await.unwrap();
        if response.check_presence(
            height >= response.bounds.oldest_height,
            "a block of the window",
        ) {
            check_block(watch, &response, height);
        }
    }
    let Some(below) = final_bounds.oldest_version.checked_sub(1) else {
        return 0;
    };
    let pruned = [
        format!("/v1/blocks/by_height/{}", final_bounds.oldest_height - 1),
        format!("/v1/blocks/by_version/{below}"),
        format!("/v1/transactions/by_version/{below}"),
        format!("/v1/accounts/0x1?ledger_version={below}"),
    ];
    for path in pruned {
        let response = watch.get(node, "below the window", path).await.unwrap();
        response.check_presence(false, "data below the window");
    }
    final_bounds.oldest_version
}

/// Checks that the number of used pages stops growing.
fn check_files(files: &[(u64, FileUsage)], window: u64) {
    let mut full = files
        .iter()
        .filter(|(version, _)| *version >= FULL_AFTER_WINDOWS * window)
        .map(|(_, file)| file.used_pages as f64);
    let first = full.next().expect("the run fills the window many times");
    let most = full.fold(first, f64::max);
    println!(
        "used pages at most {:.2} of those when the window was full",
        most / first
    );
    assert!(most <= first * GROWTH_MAX, "{first} pages became {most}");
}
