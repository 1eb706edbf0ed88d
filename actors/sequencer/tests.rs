//! Tests of the pull, of the limit on blocks in flight, and of the heartbeat.

use super::*;
use crate::{
    runtime::{fatal::FatalErrorReporter, mailbox::Mailbox, timer::RESOLUTION},
    testing::{HandClock, block, draft, ledger_clock},
};
use tokio::sync::{mpsc, oneshot};

const NOW: u64 = 1_800_000_000;

struct Fixture {
    sequencer: Mailbox<Sequencer>,
    pulls: mpsc::UnboundedReceiver<PullBatch>,
    blocks: mpsc::UnboundedReceiver<OrderedBlock>,
    clock: HandClock,
}

fn fixture(blocks_in_flight_max: usize, heartbeat_secs: u64) -> Fixture {
    let (tell_pull, pulls) = mpsc::unbounded_channel();
    let (tell_block, blocks) = mpsc::unbounded_channel();
    let clock = HandClock::at_secs(NOW);
    let config = SequencerConfig {
        blocks_in_flight_max,
        heartbeat_secs,
        ..SequencerConfig::default()
    };
    let actor = Sequencer::new(
        Engine::solo(&block(0, &[], &[]).tip),
        config,
        ledger_clock(&clock),
        Recipient::new(move |pull| tell_pull.send(pull).unwrap()),
        Recipient::new(move |ExecuteBlock(block)| tell_block.send(block).unwrap()),
    );
    let sequencer = Mailbox::start_here("commit", 1, actor, &FatalErrorReporter::new());
    sequencer.send(Start {
        batches: sequencer.recipient(),
    });
    Fixture {
        sequencer,
        pulls,
        blocks,
        clock,
    }
}

impl Fixture {
    /// Replies to the next pull with one transaction and returns its block.
    async fn give(&mut self, number: u64) -> OrderedBlock {
        let pull = self.pulls.recv().await.unwrap();
        pull.reply_to.send(Batch(vec![draft(1, number).checked()]));
        self.blocks.recv().await.unwrap()
    }

    /// Waits until the sequencer has handled all messages.
    async fn settle(&self) {
        let status = || self.sequencer.status();
        while status().handled < status().protocol {
            tokio::task::yield_now().await;
        }
    }

    fn durable(&self, height: u64) {
        self.sequencer.send(BlockCommitted(block(height, &[], &[])));
    }
}

#[actix::test]
async fn no_more_blocks_are_in_flight_than_may_be() {
    let mut fixture = fixture(2, 0);
    assert_eq!(fixture.give(0).await.height, 1);
    assert_eq!(fixture.give(1).await.height, 2);
    fixture.settle().await;
    assert!(fixture.pulls.try_recv().is_err());
    fixture.durable(1);
    assert_eq!(fixture.give(2).await.height, 3);
    fixture.settle().await;
    assert!(fixture.pulls.try_recv().is_err());
}

#[actix::test]
async fn a_stopped_sequencer_orders_nothing() {
    let mut fixture = fixture(2, 0);
    let pull = fixture.pulls.recv().await.unwrap();
    let (done, stopped) = oneshot::channel();
    fixture.sequencer.send(Stop { done });
    stopped.await.unwrap();
    pull.reply_to.send(Batch(vec![draft(1, 0).checked()]));
    fixture.settle().await;
    assert!(fixture.blocks.try_recv().is_err());
}

#[actix::test]
async fn a_paused_chain_does_not_beat_and_makes_up_for_it() {
    let mut fixture = fixture(2, 30);
    tokio::time::pause();
    fixture.sequencer.send(SetPaused(true));
    fixture.settle().await;
    fixture.clock.pass_secs(90);
    tokio::time::advance(Duration::from_secs(5)).await;
    fixture.settle().await;
    assert!(fixture.blocks.try_recv().is_err());
    fixture.sequencer.send(SetPaused(false));
    assert_eq!(fixture.blocks.recv().await.unwrap().height, 1);
}

#[actix::test]
async fn an_idle_chain_beats_only_when_it_is_told_to() {
    let mut beating = fixture(2, 30);
    let mut silent = fixture(2, 0);
    tokio::time::pause();
    for fixture in [&beating, &silent] {
        fixture.clock.pass_secs(29);
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    beating.settle().await;
    assert!(beating.blocks.try_recv().is_err());
    for fixture in [&beating, &silent] {
        fixture.clock.pass_secs(1);
    }
    let beat = beating.blocks.recv().await.unwrap();
    assert_eq!((beat.height, beat.transactions.len()), (1, 0));
    beating.clock.pass_secs(60);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(
        beating.blocks.try_recv().is_err(),
        "one empty block at a time"
    );
    beating.durable(1);
    assert_eq!(beating.blocks.recv().await.unwrap().height, 2);
    assert!(silent.blocks.try_recv().is_err());
}

#[actix::test]
async fn beats_while_the_clock_is_set_back() {
    let mut fixture = fixture(2, 30);
    let before_usecs = fixture.give(0).await.timestamp_usecs;
    fixture.durable(1);
    tokio::time::pause();
    fixture.clock.step_secs(-3_600);
    fixture.clock.pass_secs(30);
    let beat = tokio::time::timeout(Duration::from_secs(5), fixture.blocks.recv()).await;
    let beat = beat.expect("a beat within seconds").unwrap();
    assert_eq!((beat.height, beat.timestamp_usecs), (2, before_usecs + 1));
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
