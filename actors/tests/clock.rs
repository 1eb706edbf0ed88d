//! Tests of a whole node under a wrong clock: at a start and while it runs, with and without
//! load.

use crate::{CLIENT, node_clock, wait_until};
use ledger_actors::{
    ClockState, Node, NodeConfig, NodeError, NodeHandle, NotWritable, SubmitError,
    TransactionStatus,
};
use ledger_test_support::{HandClock, Wallet, store::open_store};
use ledger_types::CheckedTransaction;
use std::path::Path;
use tempfile::TempDir;

const START_SECS: u64 = 1_800_000_000;
const DAY_SECS: i64 = 86_400;
const YEAR_SECS: i64 = 365 * DAY_SECS;

/// A chain, its clock, and its funded accounts.
struct Fixture {
    directory: TempDir,
    clock: HandClock,
    wallets: Vec<Wallet>,
    config: NodeConfig,
}

impl Fixture {
    /// Starts a node on a chain whose newest block has the current time.
    async fn started() -> (Self, Node) {
        let mut config = NodeConfig::default();
        config.wait.timeout_ms = 60_000;
        let mut fixture = Self {
            directory: tempfile::tempdir().unwrap(),
            clock: HandClock::at_secs(START_SECS),
            wallets: Wallet::development(),
            config,
        };
        let node = fixture.start().await;
        fixture.commit(&node.handle()).await;
        (fixture, node)
    }

    async fn start(&self) -> Node {
        let directory: &Path = self.directory.path();
        let (chain, store) = open_store(directory);
        let clock = node_clock(&self.clock);
        let node =
            Node::start_with_clock(chain, store, Some(directory), self.config.clone(), clock);
        node.await.expect("the node starts")
    }

    /// Creates a transfer of the first account that expires ten minutes after `true_secs`.
    fn transfer(&mut self, handle: &NodeHandle, true_secs: u64) -> CheckedTransaction {
        let to = self.wallets[1].address;
        self.wallets[0].transfer_until(handle.chain(), to, 1, true_secs + 600)
    }

    /// Commits a transfer that is created at the time of the wall clock. Returns the time of its
    /// block, in seconds since the Unix epoch.
    async fn commit(&mut self, handle: &NodeHandle) -> u64 {
        let transaction = self.transfer(handle, self.clock.secs());
        commit(handle, transaction).await
    }
}

/// Commits a transaction and returns the time of its block, in seconds since the Unix epoch.
async fn commit(handle: &NodeHandle, transaction: CheckedTransaction) -> u64 {
    let hash = transaction.hash();
    handle
        .submit(transaction, CLIENT)
        .await
        .expect("it is accepted");
    match handle
        .wait_for_commit(hash, CLIENT)
        .await
        .expect("the node runs")
    {
        (_, TransactionStatus::Committed(committed)) => committed.block_timestamp_usecs / 1_000_000,
        (_, other) => panic!("{other:?}"),
    }
}

/// Waits until the clock is trusted.
async fn wait_until_trusted(handle: &NodeHandle) {
    wait_until("the node continues", || handle.not_writable().is_none()).await;
}

/// Returns the message of a rejection that is due to the clock, or `None` for any other result.
fn clock_rejection_message(outcome: Result<impl Sized, SubmitError>) -> Option<String> {
    match outcome {
        Err(SubmitError::Node(NodeError::NotWritable(cause @ NotWritable::ClockUntrusted(_)))) => {
            Some(cause.to_string())
        }
        _ => None,
    }
}

#[actix::test]
async fn trusts_the_clock_immediately_after_seven_days_off() {
    let (mut fixture, node) = Fixture::started().await;
    node.stop().await.unwrap();
    fixture.clock.step_secs(7 * DAY_SECS);
    let node = fixture.start().await;
    let block_secs = fixture.commit(&node.handle()).await;
    assert_eq!(block_secs, START_SECS + 7 * DAY_SECS as u64);
    node.stop().await.unwrap();
}

#[actix::test]
async fn rejects_submissions_while_the_clock_is_a_year_ahead_at_a_start() {
    let (mut fixture, node) = Fixture::started().await;
    let committed = fixture.transfer(&node.handle(), START_SECS);
    let hash = committed.hash();
    commit(&node.handle(), committed).await;
    // The second transfer waits for the missing sequence number of the first one, and the stop
    // saves it.
    let missing = fixture.transfer(&node.handle(), START_SECS);
    let waiting = fixture.transfer(&node.handle(), START_SECS);
    node.handle().submit(waiting.clone(), CLIENT).await.unwrap();
    node.stop().await.unwrap();

    fixture.clock.step_secs(YEAR_SECS);
    let node = fixture.start().await;
    let handle = node.handle();
    for _ in 0..3 {
        fixture.clock.pass_secs(1);
        let message = clock_rejection_message(handle.submit(missing.clone(), CLIENT).await)
            .expect("rejected because of the clock");
        for part in [
            "the system clock reads",
            "365.0 days",
            "sequencer.clock_confirmed_until_secs=",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert_eq!(handle.clock_status().state, ClockState::Untrusted);
    let (info, lookup) = handle.transaction_by_hash(hash, CLIENT).await.unwrap();
    assert!(
        matches!(lookup, TransactionStatus::Committed(_)),
        "{lookup:?}"
    );
    let height = info.block_height;
    let (_, lookup) = handle
        .transaction_by_hash(waiting.hash(), CLIENT)
        .await
        .unwrap();
    assert!(
        matches!(lookup, TransactionStatus::Pending(_)),
        "{lookup:?}"
    );

    fixture.clock.step_secs(-YEAR_SECS);
    wait_until_trusted(&handle).await;
    assert_eq!(
        handle.head().ledger_info().block_height,
        height,
        "a block was committed before the clock was trusted"
    );
    let block_secs = commit(&handle, missing).await;
    assert_eq!(block_secs, START_SECS + 3);
    let (_, lookup) = handle
        .wait_for_commit(waiting.hash(), CLIENT)
        .await
        .unwrap();
    assert!(
        matches!(lookup, TransactionStatus::Committed(_)),
        "{lookup:?}"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn trusts_a_confirmed_clock_after_a_restart() {
    let (mut fixture, node) = Fixture::started().await;
    node.stop().await.unwrap();
    fixture.clock.step_secs(YEAR_SECS);
    let node = fixture.start().await;
    let rejected = fixture.transfer(&node.handle(), fixture.clock.secs());
    let message = clock_rejection_message(node.handle().submit(rejected.clone(), CLIENT).await)
        .expect("rejected because of the clock");
    node.stop().await.unwrap();
    // The message suggests a value.
    let (_, value) = message
        .split_once("sequencer.clock_confirmed_until_secs=")
        .unwrap();
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    fixture.config.sequencer.clock_confirmed_until_secs = digits.parse().unwrap();
    let node = fixture.start().await;
    assert_eq!(commit(&node.handle(), rejected).await, fixture.clock.secs());
    node.stop().await.unwrap();
}

#[actix::test]
async fn blocks_ignore_a_clock_that_jumps_a_year_ahead() {
    let (mut fixture, node) = Fixture::started().await;
    let handle = node.handle();
    let mut true_secs = START_SECS;
    for _ in 0..5 {
        fixture.clock.step_secs(YEAR_SECS);
        // Three seconds of blocks, ten per second.
        for _ in 0..30 {
            fixture.clock.pass_usecs(100_000);
            let transaction = fixture.transfer(&handle, true_secs);
            let block_secs = commit(&handle, transaction).await;
            assert!(block_secs <= true_secs + 3, "{block_secs} at {true_secs}");
        }
        true_secs += 3;
        let status = handle.clock_status();
        assert_eq!(status.state, ClockState::TooFarAhead);
        assert_eq!(status.drift_usecs / 1_000_000, YEAR_SECS);
        fixture.clock.step_secs(-YEAR_SECS);
        let transaction = fixture.transfer(&handle, true_secs);
        assert_eq!(commit(&handle, transaction).await, true_secs);
        assert_eq!(handle.clock_status().state, ClockState::InStep);
    }
    node.stop().await.unwrap();
}

#[actix::test]
async fn clock_jump_expires_no_pending_transaction() {
    let (mut fixture, node) = Fixture::started().await;
    let handle = node.handle();
    let missing = fixture.transfer(&handle, START_SECS);
    let waiting = fixture.transfer(&handle, START_SECS);
    handle.submit(waiting.clone(), CLIENT).await.unwrap();
    fixture.clock.step_secs(YEAR_SECS);
    // A submission causes the pool to remove expired transactions.
    commit(&handle, missing).await;
    let (_, lookup) = handle
        .wait_for_commit(waiting.hash(), CLIENT)
        .await
        .unwrap();
    assert!(
        matches!(lookup, TransactionStatus::Committed(_)),
        "{lookup:?}"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn block_time_reaches_a_persistent_lead_of_an_hour() {
    let (mut fixture, node) = Fixture::started().await;
    let handle = node.handle();
    fixture.clock.step_secs(3_600);
    let mut followed = Vec::new();
    for _ in 0..500 {
        fixture.clock.pass_secs(1);
        followed.push(fixture.commit(&handle).await);
    }
    assert!(
        followed[..59]
            .iter()
            .zip(1..)
            .all(|(secs, passed)| *secs == START_SECS + passed)
    );
    assert_eq!(followed.last(), Some(&fixture.clock.secs()));
    assert_eq!(handle.clock_status().state, ClockState::InStep);
    node.stop().await.unwrap();
}

#[actix::test]
async fn block_time_follows_a_suspend_immediately() {
    let (mut fixture, node) = Fixture::started().await;
    fixture.clock.pass_secs(8 * 3_600);
    assert_eq!(fixture.commit(&node.handle()).await, START_SECS + 8 * 3_600);
    node.stop().await.unwrap();
}

#[actix::test]
async fn orders_heartbeats_and_blocks_while_the_clock_is_set_back() {
    let (mut fixture, node) = Fixture::started().await;
    node.stop().await.unwrap();
    fixture.config.sequencer.heartbeat_secs = 10;
    let node = fixture.start().await;
    let handle = node.handle();
    let height = handle.head().ledger_info().block_height;
    fixture.clock.step_secs(-3_600);
    fixture.clock.pass_secs(10);
    wait_until("a heartbeat", || {
        handle.head().ledger_info().block_height != height
    })
    .await;
    assert_eq!(handle.clock_status().state, ClockState::Behind);
    let transaction = fixture.transfer(&handle, START_SECS);
    assert_eq!(commit(&handle, transaction).await, START_SECS);
    // A transaction that expired before the newest block is rejected, regardless of the wall
    // clock.
    let to = fixture.wallets[1].address;
    let expired = fixture.wallets[2].transfer_until(handle.chain(), to, 1, START_SECS);
    assert!(matches!(
        handle.submit(expired, CLIENT).await,
        Err(SubmitError::Invalid(_))
    ));
    node.stop().await.unwrap();
}
