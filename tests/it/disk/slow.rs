//! A disk whose syncs are slow: what does not need a sync does not wait for one.
//!
//! A sync hangs until the clients have received the responses that must not wait for it. So the
//! tests compare no times except the deadline of a long poll, which has ten times its limit. In a
//! run under load and at a stop, a sync takes at least `SLOW_SYNC_MS`, 2,000 ms by default.

mod under_load;

use crate::metrics::Scrape;
use ledger_crypto::HashValue;
use ledger_framework::modules::object::{INIT_GUID_CREATION_NUM, user_derived_address};
use ledger_test_support::{
    TestAccount,
    http::{HttpResponse, number},
    node::{DiskOperation, SlowDisk, TestNode, until, within_patience},
};
use ledger_types::AccountAddress;
use ledger_vm::Chain;
use std::time::{Duration, Instant};

/// The database and the log. Their directory is named too, because a client may have a file of the
/// same name open.
const LEDGER_FILES: &str = "/data/ledger.";

/// Time limit of a long poll of these nodes, in milliseconds.
const POLL_MS: u64 = 1_000;

/// Number of accounts that submit in a run under load.
const SENDERS: u64 = 8;

/// Number of transfers that each account submits during a slow sync.
const ROUNDS_PER_SYNC: usize = 20;

/// Returns the minimum duration of a sync.
fn sync_duration() -> Duration {
    let named = std::env::var("SLOW_SYNC_MS").ok();
    let ms = named.map_or(2_000, |text| text.parse().unwrap());
    Duration::from_millis(ms)
}

/// A node on a slow disk, with funded accounts and a closed first checkpoint.
pub(super) struct Fixture {
    pub(super) disk: SlowDisk,
    pub(super) node: TestNode,
    chain: Chain,
    /// Accounts with the sequence numbers of their next transactions.
    senders: Vec<(TestAccount, u64)>,
}

impl Fixture {
    /// Starts the node. Returns `None` if this system cannot slow its disk.
    async fn new() -> Option<Self> {
        Self::with_settings(&[]).await
    }

    /// Starts the node as [`Self::new`] does, with additional settings.
    pub(super) async fn with_settings(settings: &[&str]) -> Option<Self> {
        let disk = SlowDisk::new()?;
        let poll = format!("wait.timeout_ms={POLL_MS}");
        // More than an account submits during two slow syncs.
        let fixed = [&*poll, "mempool.capacity_per_account=100000"];
        let node = disk.start(&[&fixed[..], settings].concat());
        let accounts: Vec<_> = (1..=SENDERS).map(TestAccount::from_seed).collect();
        for account in &accounts {
            node.fund(account, 1_000_000_000_000).await;
        }
        // The database syncs when its file doubles. These blocks pass that point, and the read
        // applies them, so that no application of a later block waits for a sync.
        for _ in 0..5 {
            node.fund(&TestAccount::from_seed(101), 1).await;
        }
        node.balance(&recipient().address).await;
        Some(Self {
            chain: node.chain().await,
            senders: accounts.into_iter().map(|account| (account, 0)).collect(),
            disk,
            node,
        })
    }

    /// Submits a transfer of the first account.
    async fn submit(&mut self) -> HashValue {
        let (account, sequence_number) = &mut self.senders[0];
        let transfer = account.transfer(&self.chain, *sequence_number, recipient().address, 1);
        *sequence_number += 1;
        self.node.submit(&transfer).await
    }

    fn syncs(&self) -> u64 {
        self.disk.calls(DiskOperation::Sync).begun
    }

    fn delay_syncs(&self, duration: Duration) {
        self.disk.delay(DiskOperation::Sync, LEDGER_FILES, duration);
    }

    /// Commits two transfers in two blocks, and makes the sync of the second one hang. The first
    /// one is durable, and the writer has had no idle time to apply it.
    pub(super) async fn hang_after_durable_block(&mut self) -> HungSync {
        /// Time in which this test must notice that a sync has ended.
        const NOTICE: Duration = Duration::from_millis(500);
        loop {
            self.delay_syncs(NOTICE);
            let first = self.syncs() + 1;
            let durable = self.submit().await;
            self.wait_for_sync(first).await;
            let hanging = self.submit().await;
            self.wait_for_sync(first + 1).await;
            // Only syncs of the log: the database syncs when its file grows, and a read of the
            // durable block would wait for that.
            self.disk
                .hang_in("store-writer", DiskOperation::Sync, LEDGER_FILES);
            let calls = self.disk.calls(DiskOperation::Sync);
            if calls.waiting() == 1 && calls.begun == first + 1 {
                return HungSync { durable, hanging };
            }
            // The machine was too busy, and the sync has ended already.
            self.disk.release(DiskOperation::Sync);
            self.node.try_wait(&hanging).await.unwrap();
        }
    }

    /// Makes the sync in progress hang, or the next one, and waits for it.
    async fn hang_sync(&self) {
        self.disk.hang(DiskOperation::Sync, LEDGER_FILES);
        until("a sync that hangs", || async {
            (self.disk.calls(DiskOperation::Sync).waiting() > 0).then_some(())
        })
        .await;
    }

    async fn wait_for_sync(&self, number: u64) {
        until(&format!("sync {number}"), || async {
            (self.syncs() >= number).then_some(())
        })
        .await;
    }
}

/// The transfers of [`Fixture::hang_after_durable_block`].
pub(super) struct HungSync {
    /// A transfer whose block is durable.
    pub(super) durable: HashValue,
    /// A transfer whose block is in the log, and whose sync hangs.
    pub(super) hanging: HashValue,
}

pub(super) fn recipient() -> TestAccount {
    TestAccount::from_seed(100)
}

/// Returns the path of the stream of deposits to [`recipient`], by its creation number.
fn deposits_path() -> String {
    let store = user_derived_address(recipient().address, AccountAddress::NATIVE_ASSET);
    let number = INIT_GUID_CREATION_NUM + 1;
    format!("/v1/accounts/{store}/events/{number}")
}

/// Returns the version in the headers of a response.
fn header_version(response: &HttpResponse) -> u64 {
    let mut pairs = response.headers.iter();
    let version = pairs.find(|(name, _)| name.as_str().ends_with("-ledger-version"));
    version.unwrap().1.to_str().unwrap().parse().unwrap()
}

/// Returns the paths that read `transfer`, a committed transfer to [`recipient`], from different
/// tables of the store.
fn paths_that_read(transfer: &serde_json::Value) -> Vec<String> {
    let sender = transfer["sender"].as_str().unwrap();
    let hash = transfer["hash"].as_str().unwrap();
    let version = transfer["version"].as_str().unwrap();
    let recipient = recipient().address;
    let sequence_number = number(&transfer["sequence_number"]);
    vec![
        "/v1".to_owned(),
        format!("/v1/accounts/{sender}"),
        format!("/v1/accounts/{recipient}/balance/0xa"),
        format!("/v1/accounts/{sender}/resources"),
        format!("/v1/transactions/by_hash/{hash}"),
        format!("/v1/transactions/by_version/{version}"),
        format!("/v1/transactions?start={version}&limit=1"),
        format!("/v1/accounts/{sender}/transactions?start={sequence_number}&limit=1"),
        deposits_path(),
        format!("/v1/blocks/by_version/{version}?with_transactions=true"),
        "/v1/transactions".to_owned(),
    ]
}

#[tokio::test]
async fn ends_a_long_poll_at_its_deadline_while_a_sync_hangs() {
    let Some(mut fixture) = Fixture::new().await else {
        return;
    };
    let HungSync { hanging, .. } = fixture.hang_after_durable_block().await;
    for hash in [hanging, HashValue::ZERO] {
        let path = format!("/v1/transactions/wait_by_hash/{hash}");
        let begun = Instant::now();
        let poll = within_patience("the end of a long poll", fixture.node.get(&path)).await;
        let expected = if hash == hanging { 200 } else { 404 };
        assert_eq!(poll.status, expected, "{}", poll.text);
        assert!(
            begun.elapsed() < Duration::from_millis(POLL_MS) * 10,
            "{:?}",
            begun.elapsed()
        );
    }
    fixture.disk.release(DiskOperation::Sync);
    let committed = fixture.node.try_wait(&hanging).await.unwrap();
    assert_eq!(committed["success"], true);
}

#[tokio::test]
async fn reads_at_the_version_of_a_long_poll_while_the_next_sync_hangs() {
    let Some(mut fixture) = Fixture::new().await else {
        return;
    };
    let HungSync { durable, hanging } = fixture.hang_after_durable_block().await;
    let node = &fixture.node;
    let path = format!("/v1/transactions/wait_by_hash/{durable}");
    let poll = within_patience("the end of a long poll", node.get(&path)).await;
    assert_eq!(poll.json["type"], "user_transaction", "{}", poll.text);
    let version = number(&poll.json["version"]);
    for path in paths_that_read(&poll.json) {
        let read = within_patience(&path, node.get(&path)).await;
        assert_eq!(read.status, 200, "{path}: {}", read.text);
        assert!(header_version(&read) >= version, "{path}");
    }
    let events = node.get(&deposits_path()).await;
    let newest = events.json.as_array().unwrap().last().unwrap();
    assert_eq!(number(&newest["version"]), version, "{}", events.text);
    let calls = fixture.disk.calls(DiskOperation::Sync);
    assert_eq!(calls.waiting(), 1, "the sync does not hang any more");
    fixture.disk.release(DiskOperation::Sync);
    node.try_wait(&hanging).await.unwrap();
}

#[tokio::test]
async fn rejects_a_read_of_a_block_that_is_not_applied_in_time() {
    // Without memory for pages, an apply writes the file.
    let Some(mut fixture) = Fixture::with_settings(&["storage.cache_bytes=1"]).await else {
        return;
    };
    let HungSync { hanging, .. } = fixture.hang_after_durable_block().await;
    let Fixture { disk, node, .. } = &fixture;
    disk.hang_in("store-applier", DiskOperation::Write, LEDGER_FILES);
    let path = format!("/v1/accounts/{}/resources", recipient().address);
    let rejected = within_patience("the end of a read", node.get(&path)).await;
    assert_eq!(disk.calls(DiskOperation::Write).waiting(), 1);
    assert_eq!(rejected.status, 503, "{}", rejected.text);
    assert!(rejected.headers.contains_key("retry-after"));
    disk.release(DiskOperation::Write);
    until("the apply", || async {
        (node.get(&path).await.status == 200).then_some(())
    })
    .await;
    assert_eq!(disk.calls(DiskOperation::Sync).waiting(), 1);
    disk.release(DiskOperation::Sync);
    node.try_wait(&hanging).await.unwrap();
}

#[tokio::test]
async fn counts_no_wait_for_a_sync_as_work_of_the_writer() {
    const SYNC: Duration = Duration::from_millis(100);
    let Some(mut fixture) = Fixture::new().await else {
        return;
    };
    let write = [("kind", "write")];
    let before = Scrape::of(&fixture.node).await;
    fixture.delay_syncs(SYNC);
    // One group in many is measured.
    let units = |of: &Scrape| of.sum("ledger_cost_units_total", &write);
    let mut after = Scrape::of(&fixture.node).await;
    while units(&after) == units(&before) {
        let transfer = fixture.submit().await;
        fixture.node.try_wait(&transfer).await.unwrap();
        after = Scrape::of(&fixture.node).await;
    }
    let secs = |of: &Scrape| of.sum("ledger_cost_actual_seconds_total", &write);
    let work_secs = secs(&after) - secs(&before);
    assert!(
        work_secs < SYNC.as_secs_f64() / 2.0,
        "a transfer took {work_secs} s of the writer"
    );
}

/// Submits transfers of all accounts during each slow sync, until the node has begun this many.
/// Transfers are pending then. Returns the hashes.
async fn submit_until_sync(fixture: &mut Fixture, number: u64) -> Vec<HashValue> {
    let mut submitted = Vec::new();
    loop {
        let next = fixture.syncs() + 1;
        for _ in 0..ROUNDS_PER_SYNC {
            for (account, sequence_number) in &mut fixture.senders {
                let to = recipient().address;
                let transfer = account.transfer(&fixture.chain, *sequence_number, to, 1);
                *sequence_number += 1;
                submitted.push(fixture.node.submit(&transfer).await);
            }
        }
        if next > number {
            return submitted;
        }
        // The transfers need a further sync.
        fixture.wait_for_sync(next).await;
    }
}

/// Returns how often the log says that a stop has given up blocks.
fn discards(node: &TestNode) -> usize {
    let words = "blocks whose sync has not begun are discarded";
    node.log().matches(words).count()
}

#[allow(
    clippy::print_stdout,
    reason = "the figures are the result of a long run"
)]
#[tokio::test]
async fn stops_within_one_slow_sync() {
    let Some(mut fixture) = Fixture::new().await else {
        return;
    };
    for is_loaded in [false, true] {
        fixture.delay_syncs(sync_duration());
        let next = fixture.syncs() + 1;
        let mut submitted = vec![fixture.submit().await];
        fixture.wait_for_sync(next).await;
        if is_loaded {
            submitted.extend(submit_until_sync(&mut fixture, next + 2).await);
        }
        fixture.hang_sync().await;
        let (syncs, discarded) = (fixture.syncs(), discards(&fixture.node));
        let begun = Instant::now();
        fixture.node.signal("TERM");
        until("the stop to give up the blocks behind the sync", || async {
            (discards(&fixture.node) > discarded).then_some(())
        })
        .await;
        // Ends the sync in progress once it has taken so long, and delays each further one.
        fixture.delay_syncs(sync_duration());
        let status = fixture.node.ended_within_patience().await;
        let elapsed = begun.elapsed();
        assert_eq!(status.code(), Some(0), "{}", fixture.node.log());
        let further = fixture.syncs() - syncs;
        println!(
            "syncs of {} ms: a stop took {} ms and began {further} further syncs",
            sync_duration().as_millis(),
            elapsed.as_millis()
        );
        assert_eq!(further, 0, "syncs began after the signal");
        fixture.disk.release(DiskOperation::Sync);
        let Fixture {
            disk,
            node,
            chain,
            senders,
        } = fixture;
        let node = node.restart_with(&["mempool.capacity_per_account=100000"]);
        for hash in &submitted {
            let committed = node.try_wait(hash).await.unwrap();
            assert_eq!(committed["success"], true, "{committed}");
        }
        // The next round needs the library again.
        let directory = node.shared_directory();
        drop(node);
        fixture = Fixture {
            node: disk.start_in(
                directory,
                vec!["mempool.capacity_per_account=100000".to_owned()],
            ),
            disk,
            chain,
            senders,
        };
    }
}
