//! Readers of every kind beside a load that fills the window many times over.
//!
//! The short run takes seconds. The long one, of a release build:
//!
//! ```sh
//! cargo build --release
//! LEDGER_NODE_BIN=target/release/ledger-node PRUNED_TRANSACTIONS=300000 PRUNED_WINDOW=10000 \
//!     cargo test --test it pruned::under_load -- --nocapture
//! ```

// Seeds, figures and what was asked: a long run is read, not only passed.
#![allow(clippy::print_stdout)]

use super::{
    file::FileUsage,
    from_environment,
    load::{bench, pay, report, watch},
    reads::{Reader, check_block},
    watch::Watch,
};
use crate::kit::{NodeClient, TestNode, until};
use fastrand::Rng;
use std::{collections::BTreeSet, sync::Arc};

/// How many readers there are of all kinds.
const READERS: u64 = 6;
/// How often the file is looked at during a run.
const LOOKS: u64 = 10;
/// How many windows of transactions the ledger has at the first look that counts: by then steps of pruning
/// and merging of what is below the window have come and gone.
const FULL_AFTER_WINDOWS: u64 = 4;
/// By how much the used pages may exceed those at that look: merges take and give back about a half of a small
/// window. Pages that were never used again would be many times as many at the end of the run.
const GROWTH_MAX: f64 = 2.0;

/// What is read in the course of a run.
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
async fn every_answer_is_of_one_moment_or_410_and_the_file_stops_growing() {
    let transactions = from_environment("PRUNED_TRANSACTIONS", 12_000);
    let window = from_environment("PRUNED_WINDOW", 500);
    let seed = from_environment("PRUNED_SEED", 1);
    println!("PRUNED_TRANSACTIONS={transactions} PRUNED_WINDOW={window} PRUNED_SEED={seed}");
    // The window's lower end lags by a step at most; the built-in step where the window is a long one.
    let batch = (window / 2).min(500);
    let node = TestNode::start(&[
        &format!("pruner.window_versions={window}"),
        &format!("pruner.batch_versions={batch}"),
    ]);
    let watch = watch(&node, window).await;
    let count = transactions.to_string();
    let load = bench(
        &node,
        &[
            "--transfers",
            &count,
            "--accounts",
            "200",
            "--connections",
            "32",
            "--mode",
            "await",
        ],
    );
    let mut clients = vec![tokio::spawn(pay(node.client.clone(), Arc::clone(&watch)))];
    for reader in 0..READERS {
        let reader = Reader {
            node: node.client.clone(),
            watch: Arc::clone(&watch),
            random: Rng::with_seed(seed + reader),
        };
        clients.push(tokio::spawn(reader.run()));
    }
    let (files, report) = tokio::join!(look_at_the_file(&node, &watch, transactions), report(load));
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
    let newest = watch.moment().version;
    assert!(
        newest + 1 - oldest >= window,
        "{oldest} to {newest} is less than the window"
    );
    check_files(&files, window);
}

/// Looks at the file in the course of the run.
async fn look_at_the_file(
    node: &TestNode,
    watch: &Watch,
    transactions: u64,
) -> Vec<(u64, FileUsage)> {
    let mut files = Vec::new();
    for look in 1..=LOOKS {
        let due = transactions * look / LOOKS;
        until("the next look at the file", || async {
            // Without readers, whose answers tell too, somebody must ask.
            let asked = watch.ask(node, "ledger", "/v1".to_owned()).await;
            asked.filter(|told| told.moment.version >= due).map(drop)
        })
        .await;
        let moment = watch.moment();
        let file = FileUsage::of(node).await;
        println!(
            "version {:>7}  window {:>6} versions  used {:>6} pages = {:>9} bytes, {} stored  file {:>9}  disk {:>9}  {} bytes on disk per version of the window",
            moment.version,
            moment.version + 1 - moment.oldest_version,
            file.used_pages,
            file.used_bytes,
            file.stored_bytes,
            file.file_bytes,
            file.disk_bytes,
            file.disk_bytes / (moment.version + 1 - moment.oldest_version),
        );
        files.push((moment.version, file));
    }
    files
}

/// Every kind was there and was gone, and no kind was anything else where it may not.
fn check_kinds(watch: &Watch) {
    let counts = watch.counts();
    for ((kind, status), count) in &counts {
        println!("{count:>7} x {status} {kind}");
    }
    let asked: BTreeSet<_> = counts.keys().map(|(kind, _)| *kind).collect();
    for kind in KINDS {
        assert!(asked.contains(kind), "nobody has asked for {kind}");
        assert!(counts.contains_key(&(kind, 200)), "{kind} was never there");
        if kind != "newest listing" {
            assert!(counts.contains_key(&(kind, 410)), "{kind} was never gone");
        }
        let may_be_unknown = kind == "transaction by hash" || kind.ends_with("at a version");
        assert!(
            may_be_unknown || !counts.contains_key(&(kind, 404)),
            "{kind} was 404"
        );
    }
}

/// Checks at rest that all blocks of the window are there and none below; gives the oldest version.
pub async fn check_window(node: &NodeClient, watch: &Watch) -> u64 {
    let at_rest = watch
        .ask(node, "ledger", "/v1".to_owned())
        .await
        .unwrap()
        .moment;
    for height in at_rest.oldest_height..=at_rest.height {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let told = watch.ask(node, "block of the window", path).await.unwrap();
        if told.gives(height >= told.moment.oldest_height, "a block of the window") {
            check_block(watch, &told, height);
        }
    }
    let Some(below) = at_rest.oldest_version.checked_sub(1) else {
        return 0;
    };
    let gone = [
        format!("/v1/blocks/by_height/{}", at_rest.oldest_height - 1),
        format!("/v1/blocks/by_version/{below}"),
        format!("/v1/transactions/by_version/{below}"),
        format!("/v1/accounts/0x1?ledger_version={below}"),
    ];
    for path in gone {
        let told = watch.ask(node, "below the window", path).await.unwrap();
        told.gives(false, "what is below the window");
    }
    at_rest.oldest_version
}

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
