//! Tests of the pull, of the limit on blocks in flight, and of the heartbeat.

use super::*;
use crate::{
    Clock,
    protocol::{
        committer::ExecuteBlock,
        consensus::{ReturnBatch, TransactionsDecided, WatchReady},
    },
    runtime::{
        fatal::FatalErrorReporter,
        mailbox::{Mailbox, MailboxControl as _, Recipient},
        timer::RESOLUTION,
    },
    testing::ledger_clock,
};
use ledger_test_support::{HandClock, block::block, draft::draft};
use ledger_types::OrderedBlock;
use tokio::sync::{mpsc, oneshot};

const NOW: u64 = 1_800_000_000;

/// A sequencer with the receivers of its messages.
struct Fixture {
    sequencer: Mailbox<Sequencer>,
    pulls: mpsc::UnboundedReceiver<PullBatch>,
    blocks: mpsc::UnboundedReceiver<OrderedBlock>,
    clock: HandClock,
    reporter: FatalErrorReporter,
}

fn fixture(blocks_in_flight_max: usize, heartbeat_secs: u64) -> Fixture {
    let (pull_sender, pulls) = mpsc::unbounded_channel();
    let (block_sender, blocks) = mpsc::unbounded_channel();
    let clock = HandClock::at_secs(NOW);
    let config = SequencerConfig {
        blocks_in_flight_max,
        heartbeat_secs,
        ..SequencerConfig::default()
    };
    let reporter = FatalErrorReporter::new();
    let (sequencer, inbox) = Mailbox::open("commit", 1, &reporter);
    let peers = SequencerPeers {
        mempool: Recipient::new(move |pull| pull_sender.send(pull).unwrap()),
        committer: Recipient::new(move |ExecuteBlock(block)| block_sender.send(block).unwrap()),
        batches: sequencer.recipient(),
        watch_ready: Recipient::new(drop::<WatchReady>),
        ready: sequencer.recipient(),
        decided: Recipient::new(drop::<TransactionsDecided>),
        returned: Recipient::new(drop::<ReturnBatch>),
    };
    let actor = Sequencer::new(
        Engine::solo(&block(0, &[], &[]).tip),
        config,
        ledger_clock(&clock),
        FlightRecorder::new(Clock::default()),
        reporter.clone(),
        peers,
    );
    inbox.run_here(&sequencer, actor);
    Fixture {
        sequencer,
        pulls,
        blocks,
        clock,
        reporter,
    }
}

impl Fixture {
    /// Replies to the next pull with one transaction and returns its block.
    async fn order_next(&mut self, number: u64) -> OrderedBlock {
        let pull = self.pulls.recv().await.unwrap();
        pull.reply_to.send(Batch(vec![draft(1, number).checked()]));
        self.blocks.recv().await.unwrap()
    }

    /// Waits until the sequencer has handled all messages.
    async fn wait_until_handled(&self) {
        let status = || self.sequencer.status();
        while status().handled < status().protocol {
            tokio::task::yield_now().await;
        }
    }

    fn notify_committed(&self, height: u64) {
        self.sequencer.send(BlockCommitted {
            block: block(height, &[], &[]),
            execution_usecs: 0,
            group_end: None,
        });
    }
}

#[actix::test]
async fn orders_no_block_beyond_the_limit_in_flight() {
    let mut fixture = fixture(2, 0);
    assert_eq!(fixture.order_next(0).await.height, 1);
    assert_eq!(fixture.order_next(1).await.height, 2);
    fixture.wait_until_handled().await;
    assert!(fixture.pulls.try_recv().is_err());
    fixture.notify_committed(1);
    assert_eq!(fixture.order_next(2).await.height, 3);
    fixture.wait_until_handled().await;
    assert!(fixture.pulls.try_recv().is_err());
}

#[actix::test]
async fn reports_a_committed_block_that_was_not_ordered_as_fatal() {
    let mut fixture = fixture(2, 0);
    fixture.order_next(0).await;
    fixture.notify_committed(1);
    fixture.wait_until_handled().await;
    assert!(fixture.reporter.get().is_none());
    fixture.notify_committed(2);
    fixture.wait_until_handled().await;
    assert_eq!(fixture.reporter.get().unwrap().thread, Sequencer::NAME);
}

#[actix::test]
async fn stopped_sequencer_orders_nothing() {
    let mut fixture = fixture(2, 0);
    let pull = fixture.pulls.recv().await.unwrap();
    let (done, stopped) = oneshot::channel();
    fixture.sequencer.send(Stop { done });
    stopped.await.unwrap();
    pull.reply_to.send(Batch(vec![draft(1, 0).checked()]));
    fixture.wait_until_handled().await;
    assert!(fixture.blocks.try_recv().is_err());
}

#[actix::test]
async fn orders_a_late_heartbeat_after_a_pause() {
    let mut fixture = fixture(2, 30);
    tokio::time::pause();
    fixture.sequencer.send(SetPaused(true));
    fixture.wait_until_handled().await;
    fixture.clock.pass_secs(90);
    tokio::time::advance(Duration::from_secs(5)).await;
    fixture.wait_until_handled().await;
    assert!(fixture.blocks.try_recv().is_err());
    fixture.sequencer.send(SetPaused(false));
    assert_eq!(fixture.blocks.recv().await.unwrap().height, 1);
}

#[actix::test]
async fn orders_heartbeats_only_if_configured() {
    let mut with_heartbeat = fixture(2, 30);
    let mut without_heartbeat = fixture(2, 0);
    tokio::time::pause();
    for fixture in [&with_heartbeat, &without_heartbeat] {
        fixture.clock.pass_secs(29);
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    with_heartbeat.wait_until_handled().await;
    assert!(with_heartbeat.blocks.try_recv().is_err());
    for fixture in [&with_heartbeat, &without_heartbeat] {
        fixture.clock.pass_secs(1);
    }
    let heartbeat = with_heartbeat.blocks.recv().await.unwrap();
    assert_eq!((heartbeat.height, heartbeat.transactions.len()), (1, 0));
    with_heartbeat.clock.pass_secs(60);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(
        with_heartbeat.blocks.try_recv().is_err(),
        "one empty block at a time"
    );
    with_heartbeat.notify_committed(1);
    assert_eq!(with_heartbeat.blocks.recv().await.unwrap().height, 2);
    assert!(without_heartbeat.blocks.try_recv().is_err());
}

#[actix::test]
async fn orders_a_heartbeat_while_the_clock_is_set_back() {
    let mut fixture = fixture(2, 30);
    let before_usecs = fixture.order_next(0).await.timestamp_usecs;
    fixture.notify_committed(1);
    tokio::time::pause();
    fixture.clock.step_secs(-3_600);
    fixture.clock.pass_secs(30);
    let heartbeat = tokio::time::timeout(Duration::from_secs(5), fixture.blocks.recv()).await;
    let heartbeat = heartbeat.expect("a heartbeat within seconds").unwrap();
    assert_eq!(
        (heartbeat.height, heartbeat.timestamp_usecs),
        (2, before_usecs + 1)
    );
}

#[actix::test]
async fn orders_a_heartbeat_block_while_the_mailbox_is_never_empty() {
    let mut fixture = fixture(2, 30);
    tokio::time::pause();
    let flood = fixture.sequencer.flood();
    fixture.clock.pass_secs(30);
    tokio::time::advance(HEARTBEAT_CHECK_INTERVAL + RESOLUTION).await;
    let block = fixture.blocks.recv().await.unwrap();
    assert_eq!((block.height, block.transactions.len()), (1, 0));
    assert!(flood.is_running());
}
