//! Tests of the window of a whole node: in versions, in time, with a clock that the test advances,
//! and within a limit on the size of the data directory.

use crate::{CLIENT, node_clock, wait_until};
use ledger_actors::{Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_test_support::{HandClock, Wallet, store::open_store};
use std::{
    path::Path,
    sync::{Arc, Mutex, OnceLock},
};
use tempfile::TempDir;
use tracing::{Event, Metadata, Subscriber, field::Visit, span};

const START_SECS: u64 = 1_800_000_000;
const MIB: u64 = 1024 * 1024;

/// The messages of the log, of all tests of this binary.
static MESSAGES: OnceLock<Arc<Mutex<Vec<String>>>> = OnceLock::new();

/// Returns the number of messages so far that contain `text`.
fn count_messages(text: &str) -> usize {
    let messages = MESSAGES.get_or_init(|| {
        let messages = Arc::default();
        let log = MessageLog(Arc::clone(&messages));
        tracing::subscriber::set_global_default(log).expect("no other log is set");
        messages
    });
    let messages = messages.lock().unwrap();
    messages
        .iter()
        .filter(|message| message.contains(text))
        .count()
}

/// A subscriber that collects messages.
struct MessageLog(Arc<Mutex<Vec<String>>>);

impl Subscriber for MessageLog {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The text of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// A node with its clock and its funded accounts.
struct Fixture {
    directory: TempDir,
    clock: HandClock,
    wallets: Vec<Wallet>,
    config: NodeConfig,
}

impl Fixture {
    fn new(change: impl FnOnce(&mut NodeConfig)) -> Self {
        let mut config = NodeConfig::default();
        config.wait.timeout_ms = 60_000;
        config.pruner.batch_versions = 1;
        change(&mut config);
        Self {
            directory: tempfile::tempdir().unwrap(),
            clock: HandClock::at_secs(START_SECS),
            wallets: Wallet::development(),
            config,
        }
    }

    async fn start(&self) -> Node {
        let directory: &Path = self.directory.path();
        let (chain, store) = open_store(directory);
        let clock = node_clock(&self.clock);
        let node =
            Node::start_with_clock(chain, store, Some(directory), self.config.clone(), clock);
        node.await.unwrap()
    }

    /// Commits a transfer of each wallet, `count` times, and returns the version of the last one.
    async fn commit(&mut self, handle: &NodeHandle, count: usize) -> u64 {
        let to = self.wallets[0].address;
        let until = self.clock.secs() + 600;
        let mut hash = None;
        for _ in 0..count {
            for wallet in &mut self.wallets {
                let transfer = wallet.transfer_until(handle.chain(), to, 1, until);
                hash = Some(transfer.hash());
                handle.submit(transfer, CLIENT).await.unwrap();
            }
        }
        let hash = hash.expect("at least one transfer");
        match handle.wait_for_commit(hash, CLIENT).await {
            Ok((_, TransactionStatus::Committed(committed))) => committed.version,
            other => panic!("{other:?}"),
        }
    }
}

fn oldest_version(handle: &NodeHandle) -> u64 {
    handle.head().ledger_info().oldest_version
}

#[actix::test]
async fn prunes_versions_below_the_window() {
    let mut fixture = Fixture::new(|config| {
        config.pruner.window_versions = 20;
        config.pruner.batch_versions = 5;
    });
    let node = fixture.start().await;
    let handle = node.handle();
    let to = fixture.wallets[0].address;
    let until = fixture.clock.secs() + 600;
    let first = fixture.wallets[0].transfer_until(handle.chain(), to, 1, until);
    handle.submit(first.clone(), CLIENT).await.unwrap();
    let mut newest = 0;
    for _ in 0..10 {
        newest = fixture.commit(&handle, 1).await;
    }
    // A step prunes whole blocks, of a transfer of each wallet and two transactions of the node.
    let block_versions_max = fixture.wallets.len() as u64 + 2;
    wait_until("the versions below the window are pruned", || {
        oldest_version(&handle) + 20 + 5 + block_versions_max > newest
    })
    .await;
    // Read together: the block of the newest transfer has another version after it.
    let info = *handle.head().ledger_info();
    assert!(
        info.oldest_version + 20 <= info.version + 1,
        "the versions in the window remain: {info:?}"
    );
    let status = handle.transaction_by_hash(first.hash(), CLIENT);
    let (_, status) = status.await.unwrap();
    assert!(
        matches!(status, TransactionStatus::Pruned { version: 2 }),
        "{status:?}"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn versions_stay_for_window_secs() {
    let mut fixture = Fixture::new(|config| {
        config.pruner.window_versions = 1;
        config.pruner.window_secs = 60;
    });
    let node = fixture.start().await;
    let handle = node.handle();
    let first = fixture.commit(&handle, 1).await;
    fixture.clock.pass_secs(30);
    let second = fixture.commit(&handle, 1).await;
    fixture.clock.pass_secs(29);
    // Several blocks, so that the pruner has handled one of them.
    for _ in 0..10 {
        fixture.commit(&handle, 1).await;
    }
    assert!(
        oldest_version(&handle) <= first,
        "the first block is 59 seconds old"
    );
    fixture.clock.pass_secs(2);
    fixture.commit(&handle, 1).await;
    wait_until("the first block is pruned", || {
        oldest_version(&handle) > first
    })
    .await;
    for _ in 0..10 {
        fixture.commit(&handle, 1).await;
    }
    assert!(
        oldest_version(&handle) <= second,
        "the second block is 31 seconds old"
    );
    node.stop().await.unwrap();

    // A restarted node has not seen the times of the blocks.
    fixture.clock.pass_secs(30);
    let node = fixture.start().await;
    let handle = node.handle();
    assert!(oldest_version(&handle) <= second);
    let newest = fixture.commit(&handle, 1).await;
    wait_until("the second block is pruned", || {
        oldest_version(&handle) > second
    })
    .await;
    assert!(
        oldest_version(&handle) + 20 < newest,
        "blocks of the last minute stay"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn time_does_not_shorten_window_versions() {
    let mut fixture = Fixture::new(|config| {
        config.pruner.window_versions = 10_000;
        config.pruner.window_secs = 1;
    });
    let node = fixture.start().await;
    let handle = node.handle();
    for _ in 0..20 {
        fixture.clock.pass_secs(100);
        fixture.commit(&handle, 1).await;
    }
    assert_eq!(oldest_version(&handle), 0);
    node.stop().await.unwrap();
}

#[actix::test]
async fn size_overrides_both_minimums() {
    const LIMIT: u64 = 12 * MIB;
    const BATCH_VERSIONS: u64 = 100;
    let mut fixture = Fixture::new(|config| {
        config.pruner.window_secs = 1_000_000;
        config.pruner.window_bytes = LIMIT;
        config.pruner.batch_versions = BATCH_VERSIONS;
        // The scrubber runs after all other threads. On a busy machine it retains the pages of the
        // versions that were pruned during its pass for as long.
        config.storage.scrub_hours = 0;
    });
    let node = fixture.start().await;
    let handle = node.handle();
    let mut most = 0;
    let round_transfers = 100 * fixture.wallets.len();
    let rounds = 12_000 / round_transfers;
    // A step prunes whole blocks, of at most a round and two transactions of the node.
    let lag_versions_max = BATCH_VERSIONS as usize + round_transfers + 2;
    for _ in 0..rounds {
        fixture.commit(&handle, 100).await;
        // A node without processor time for its pruner may exceed the limit by more.
        wait_until("pruning keeps up", || {
            handle.meters().pruner.lag_versions <= lag_versions_max
        })
        .await;
        most = most.max(handle.store_usage().bytes());
    }
    wait_until("versions are pruned", || oldest_version(&handle) > 1_000).await;
    // The database grows by up to 10 MB between two checkpoints.
    assert!(most < LIMIT + 10 * MIB, "{most} bytes");
    let info = *handle.head().ledger_info();
    assert!(info.version + 1 - info.oldest_version >= 1_000, "{info:?}");
    let status = handle.meters().pruner;
    assert_eq!((status.limited, status.limit_exceeded), (1, 0));
    node.stop().await.unwrap();

    // A lower limit is reached without load.
    fixture.config.pruner.window_bytes = LIMIT / 2;
    let node = fixture.start().await;
    let handle = node.handle();
    wait_until("the ledger is within the lower limit", || {
        handle.store_usage().bytes() <= LIMIT / 2
    })
    .await;
    node.stop().await.unwrap();
}

/// Genesis alone is larger than the limit.
#[actix::test]
async fn limit_that_cannot_be_kept_is_reported_once() {
    const TEXT: &str = "exceeds pruner.window_bytes";
    let before = count_messages(TEXT);
    let mut fixture = Fixture::new(|config| config.pruner.window_bytes = 1);
    let node = fixture.start().await;
    let handle = node.handle();
    fixture.commit(&handle, 1).await;
    wait_until("the metric is 1", || {
        handle.meters().pruner.limit_exceeded == 1
    })
    .await;
    let measured = handle.store_usage().sequence;
    // The node continues, and measures again.
    while handle.store_usage().sequence < measured + 2 {
        fixture.commit(&handle, 90).await;
    }
    let info = *handle.head().ledger_info();
    assert!(info.version + 1 - info.oldest_version >= 1_000, "{info:?}");
    assert_eq!(handle.meters().pruner.limit_exceeded, 1);
    assert_eq!(count_messages(TEXT), before + 1);
    node.stop().await.unwrap();
}
