//! Tests of the actors' timers in a node under load.

use super::{parts::Parts, wires::opened, wiring::Wiring};
use crate::{
    config::NodeConfig,
    runtime::{
        actor::Actor,
        arbiters::{ActorHost, ArbiterGroup},
        fatal::FatalErrorReporter,
        mailbox::{Flood, Inbox, Mailbox},
        timer::{RESOLUTION, TimedActor},
    },
    testing::ledger_clock,
};
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

/// The inbox of an actor, with its mailbox.
struct ThisInbox<A: Actor> {
    inbox: Inbox<A>,
    mailbox: Mailbox<A>,
}

impl ActorHost for ThisThread {
    type Inbox<A: TimedActor> = ThisInbox<A>;

    fn open<A: TimedActor>(&self, _: ArbiterGroup, capacity: usize) -> (Mailbox<A>, ThisInbox<A>) {
        let (mailbox, inbox) = Mailbox::open("test", capacity, &self.reporter);
        let inbox = ThisInbox {
            inbox,
            mailbox: mailbox.clone(),
        };
        (mailbox, inbox)
    }

    fn run<A: TimedActor>(&self, inbox: ThisInbox<A>, actor: A) {
        let ThisInbox { inbox, mailbox } = inbox;
        inbox.run_here(&mailbox, actor);
        self.floods
            .borrow_mut()
            .push(Box::new(move || mailbox.flood()));
    }
}

#[actix::test]
async fn orders_a_heartbeat_block_while_no_mailbox_of_the_node_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let clock = HandClock::at_secs(NOW);
    let mut config = NodeConfig::default();
    config.sequencer.heartbeat_secs = HEARTBEAT_SECS;
    let reporter = FatalErrorReporter::new();
    let host = ThisThread {
        reporter: reporter.clone(),
        floods: RefCell::default(),
    };
    let opened = opened(chain, store, config, ledger_clock(&clock));
    let wiring = Wiring::new(&opened, &host, &reporter);
    let parts = Parts::new(opened, wiring, &reporter);
    parts.actors.run(&host, parts.inboxes);
    tokio::time::pause();
    let floods: Vec<_> = host.floods.borrow().iter().map(|flood| flood()).collect();
    assert_eq!(floods.len(), parts.handle.node().mailboxes.all().len());
    clock.pass_secs(HEARTBEAT_SECS);
    tokio::time::advance(Duration::from_secs(1) + RESOLUTION).await;
    while !parts.workers.executor.has_work() {
        tokio::task::yield_now().await;
    }
    assert!(floods.iter().all(Flood::is_running));
}
