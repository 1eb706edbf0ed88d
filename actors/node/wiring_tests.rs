//! Tests of the connections between the actors of a node.

use super::{parts::Parts, wires::opened, wiring::Wiring};
use crate::{
    committer::Committer,
    config::NodeConfig,
    protocol::committer::BlocksDurable,
    runtime::{
        actor::Actor,
        arbiters::{ActorHost, ArbiterGroup},
        fatal::FatalErrorReporter,
        mailbox::{Envelope, EnvelopeSink, Mailbox},
        timer::TimedActor,
    },
    state::committed::IndexedBlock,
    testing::ledger_clock,
};
use ledger_test_support::{HandClock, block::block, store::open_store};
use std::sync::{Arc, Mutex};

/// Runs the committer on the thread that sends to it. The other actors handle no messages.
#[derive(Default)]
struct CommitterHost {
    /// Names of the actors that messages were sent to, in order.
    receivers: Arc<Mutex<Vec<&'static str>>>,
}

impl ActorHost for CommitterHost {
    type Inbox<A: TimedActor> = Arc<RecordingSink<A>>;

    fn open<A: TimedActor>(
        &self,
        _: ArbiterGroup,
        capacity: usize,
    ) -> (Mailbox<A>, Arc<RecordingSink<A>>) {
        let sink = Arc::new(RecordingSink {
            actor: Mutex::new(None),
            receivers: Arc::clone(&self.receivers),
        });
        let inbox = Arc::clone(&sink);
        let mailbox = Mailbox::with_sink(sink, capacity, &FatalErrorReporter::new());
        (mailbox, inbox)
    }

    fn run<A: TimedActor>(&self, inbox: Arc<RecordingSink<A>>, actor: A) {
        inbox.actor.lock().unwrap().replace(actor);
    }
}

/// A sink that records the receiver of each message, and delivers only messages to the committer.
struct RecordingSink<A> {
    actor: Mutex<Option<A>>,
    receivers: Arc<Mutex<Vec<&'static str>>>,
}

impl<A: Actor> EnvelopeSink<A> for RecordingSink<A> {
    fn is_open(&self) -> bool {
        true
    }

    fn deliver(&self, envelope: Envelope<A>) {
        self.receivers.lock().unwrap().push(A::NAME);
        if A::NAME == Committer::NAME {
            envelope.deliver(self.actor.lock().unwrap().as_mut().unwrap());
        }
    }
}

#[test]
fn notifies_the_mempool_of_a_block_before_the_other_actors() {
    let host = CommitterHost::default();
    let receivers = Arc::clone(&host.receivers);
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let clock = ledger_clock(&HandClock::at_secs(1_800_000_000));
    let reporter = FatalErrorReporter::new();
    let opened = opened(chain, store, NodeConfig::default(), clock);
    let wiring = Wiring::new(&opened, &host, &reporter);
    let parts = Parts::new(opened, wiring, &reporter);
    let mailboxes = &parts.handle.node().mailboxes;
    parts.actors.run(&host, parts.inboxes);
    mailboxes.committer.send(BlocksDurable {
        blocks: vec![IndexedBlock::without_updates(block(1, &[], &[]))],
        wal_blocks: Vec::new(),
        write_usecs: None,
    });
    let receivers = receivers.lock().unwrap();
    let expected = ["committer", "mempool", "sequencer", "pruner"];
    assert!(receivers.starts_with(&expected), "{receivers:?}");
}
