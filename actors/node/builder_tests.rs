//! Tests of the connections between the actors of a node.

use super::builder::NodeBuilder;
use crate::{
    committer::Committer,
    config::{MempoolConfig, NodeConfig},
    mempool::Pool,
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
use ledger_store::UsageMeter;
use ledger_test_support::{
    HandClock,
    block::{block, ledger_info},
    development_chain,
};
use std::sync::{Arc, Mutex};

/// Runs the committer on the thread that sends to it. The other actors handle no messages.
#[derive(Default)]
struct CommitterHost {
    /// Names of the actors that messages were sent to, in order.
    receivers: Arc<Mutex<Vec<&'static str>>>,
}

impl ActorHost for CommitterHost {
    fn run<A: TimedActor>(&self, _: ArbiterGroup, capacity: usize, actor: A) -> Mailbox<A> {
        let sink = RecordingSink {
            actor: Mutex::new(actor),
            receivers: Arc::clone(&self.receivers),
        };
        Mailbox::with_sink(Arc::new(sink), capacity, &FatalErrorReporter::new())
    }
}

/// A sink that records the receiver of each message, and delivers only messages to the committer.
struct RecordingSink<A> {
    actor: Mutex<A>,
    receivers: Arc<Mutex<Vec<&'static str>>>,
}

impl<A: Actor> EnvelopeSink<A> for RecordingSink<A> {
    fn is_open(&self) -> bool {
        true
    }

    fn deliver(&self, envelope: Envelope<A>) {
        self.receivers.lock().unwrap().push(A::NAME);
        if A::NAME == Committer::NAME {
            envelope.deliver(&mut self.actor.lock().unwrap());
        }
    }
}

#[test]
fn notifies_the_mempool_of_a_block_before_the_other_actors() {
    let host = CommitterHost::default();
    let receivers = Arc::clone(&host.receivers);
    let builder = NodeBuilder {
        chain: &development_chain(),
        config: &NodeConfig::default(),
        clock: &ledger_clock(&HandClock::at_secs(1_800_000_000)),
        ledger_info: ledger_info(0),
        usage: UsageMeter::default(),
        reporter: FatalErrorReporter::new(),
        host,
    };
    let pool = Pool::new(MempoolConfig::default());
    let actors = builder.start_actors(pool, &block(0, &[], &[]).tip);
    receivers.lock().unwrap().clear();
    actors.mailboxes.committer.send(BlocksDurable {
        blocks: vec![IndexedBlock::without_updates(block(1, &[], &[]))],
        wal_blocks: Vec::new(),
        write_usecs: None,
    });
    let receivers = receivers.lock().unwrap();
    let expected = ["committer", "mempool", "sequencer", "pruner"];
    assert!(receivers.starts_with(&expected), "{receivers:?}");
}
