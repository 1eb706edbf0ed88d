//! Tests of the actors' timers in a node under load.

use super::builder::NodeBuilder;
use crate::{
    config::{MempoolConfig, NodeConfig},
    mempool::Pool,
    protocol::sequencer::Start,
    runtime::{
        arbiters::{ActorHost, ArbiterGroup},
        fatal::FatalErrorReporter,
        mailbox::{Flood, Mailbox},
        timer::{RESOLUTION, TimedActor},
    },
    testing::ledger_clock,
};
use ledger_store::UsageMeter;
use ledger_test_support::{HandClock, store::open_store};
use std::{cell::RefCell, time::Duration};

const NOW: u64 = 1_800_000_000;
const HEARTBEAT_SECS: u64 = 30;

/// Runs all actors on the calling thread, as a node with one arbiter does.
struct ThisThread {
    reporter: FatalErrorReporter,
    /// Functions that flood a mailbox, one for each actor.
    floods: RefCell<Vec<Box<dyn Fn() -> Flood>>>,
}

impl ActorHost for ThisThread {
    fn run<A: TimedActor>(&self, _: ArbiterGroup, capacity: usize, actor: A) -> Mailbox<A> {
        let mailbox = Mailbox::start_here("test", capacity, actor, &self.reporter);
        let flooded = mailbox.clone();
        let flood = Box::new(move || flooded.flood());
        self.floods.borrow_mut().push(flood);
        mailbox
    }
}

#[actix::test]
async fn orders_a_heartbeat_block_while_no_mailbox_of_the_node_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let (writer, reader) = store.split();
    let tip = reader.chain_tip().unwrap();
    let clock = HandClock::at_secs(NOW);
    let mut config = NodeConfig::default();
    config.sequencer.heartbeat_secs = HEARTBEAT_SECS;
    let reporter = FatalErrorReporter::new();
    let builder = NodeBuilder {
        chain: &chain,
        config: &config,
        clock: &ledger_clock(&clock),
        ledger_info: *reader.snapshot().unwrap().ledger_info(),
        usage: UsageMeter::default(),
        reporter: reporter.clone(),
        host: ThisThread {
            reporter,
            floods: RefCell::default(),
        },
    };
    let actors = builder.start_actors(Pool::new(MempoolConfig::default()), &tip);
    let mailboxes = actors.mailboxes.clone();
    let workers = builder.workers(actors, (writer, reader), tip);
    mailboxes.sequencer.send(Start {
        batches: mailboxes.sequencer.recipient(),
    });
    tokio::time::pause();
    let floods: Vec<_> = builder
        .host
        .floods
        .borrow()
        .iter()
        .map(|flood| flood())
        .collect();
    assert_eq!(floods.len(), mailboxes.all().len());
    clock.pass_secs(HEARTBEAT_SECS);
    tokio::time::advance(Duration::from_secs(1) + RESOLUTION).await;
    while !workers.executor.has_work() {
        tokio::task::yield_now().await;
    }
    assert!(floods.iter().all(Flood::is_running));
}
