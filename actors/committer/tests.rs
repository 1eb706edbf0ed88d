//! Tests of the order in which the committer publishes durable blocks, and of the end of waits.

use super::*;
use crate::{
    Clock,
    error::{FaultKind, StorageFault},
    runtime::mailbox::Recipient,
    state::{committed::IndexedBlock, head::HeadReader, storage_health::StorageHealthPublisher},
};
use crossbeam_channel::Receiver;
use ledger_crypto::HashValue;
use ledger_test_support::{
    block::{block, ledger_info},
    draft::draft,
};
use ledger_types::AccountAddress;
use std::sync::Mutex;
use tokio::sync::oneshot::{self, error::TryRecvError};

const IN_FLIGHT_MAX: usize = 3;

/// A committer with the values that it publishes.
struct Fixture {
    committer: Committer,
    head: HeadReader,
    health: StorageHealthPublisher,
    /// The executor's queue, which must stay connected.
    _ordered: Receiver<OrderedBlock>,
}

fn fixture() -> Fixture {
    let publisher = HeadPublisher::unpruned(ledger_info(0));
    let head = publisher.reader();
    let health = StorageHealthPublisher::default();
    let (executor, ordered) = crossbeam_channel::bounded(IN_FLIGHT_MAX);
    let peers = CommitterPeers {
        pool: Recipient::new(|_| ()),
        committed: Vec::new(),
    };
    let committer = Committer::new(
        executor,
        publisher,
        peers,
        health.health().clone(),
        FlightRecorder::new(Clock::default()),
        FatalErrorReporter::new(),
    );
    Fixture {
        committer,
        head,
        health,
        _ordered: ordered,
    }
}

/// The state of Head and waiter when an actor was notified of a block.
#[derive(Debug, PartialEq)]
struct Observation {
    actor: &'static str,
    head_height: u64,
    is_waiter_notified: bool,
}

#[test]
fn publishes_the_head_before_notifying_the_mempool_and_then_the_waiters() {
    let Fixture {
        mut committer,
        head,
        _ordered,
        ..
    } = fixture();
    let transaction = draft(1, 0).checked();
    let (reply, outcome) = oneshot::channel();
    committer.waiters.insert(transaction.hash(), reply, None);
    let outcome = Arc::new(Mutex::new(outcome));
    let observed = Arc::new(Mutex::new(Vec::new()));
    let probe = |actor| {
        let (head, outcome, observed) = (head.clone(), Arc::clone(&outcome), Arc::clone(&observed));
        Recipient::new(move |_: BlockCommitted| {
            let head_height = head.load().ledger_info().block_height;
            let is_waiter_notified =
                !matches!(outcome.lock().unwrap().try_recv(), Err(TryRecvError::Empty));
            observed.lock().unwrap().push(Observation {
                actor,
                head_height,
                is_waiter_notified,
            });
        })
    };
    let actors = ["mempool", "sequencer", "pruner"];
    committer.peers.committed = actors.map(probe).into();
    let executed = IndexedBlock::without_updates(block(1, std::slice::from_ref(&transaction), &[]));
    committer.publish_blocks(durable(vec![executed]));
    let expected = actors.map(|actor| Observation {
        actor,
        head_height: 1,
        is_waiter_notified: false,
    });
    assert_eq!(*observed.lock().unwrap(), expected);
    let received = outcome.lock().unwrap().try_recv().unwrap();
    let WaitOutcome::Committed(ledger_info, committed) = received else {
        panic!("{received:?}")
    };
    assert_eq!((ledger_info.block_height, committed.version), (1, 1_000));
    assert_eq!(committed.content().unwrap().hash, transaction.hash());
}

#[test]
fn publishes_the_blocks_of_a_group_in_order() {
    let Fixture {
        mut committer,
        _ordered,
        ..
    } = fixture();
    let notified_heights = Arc::new(Mutex::new(Vec::new()));
    let heights = Arc::clone(&notified_heights);
    committer.peers.committed = vec![Recipient::new(move |committed: BlockCommitted| {
        heights.lock().unwrap().push(committed.block.height());
    })];
    for height in 1..=3 {
        committer.handle(ExecuteBlock(ordered(height)));
    }
    assert!(
        notified_heights.lock().unwrap().is_empty(),
        "no block is durable"
    );
    let executed = |height| IndexedBlock::without_updates(block(height, &[], &[]));
    committer.handle(durable(vec![executed(1), executed(2)]));
    assert_eq!(*notified_heights.lock().unwrap(), [1, 2]);
    let (done, mut finished) = oneshot::channel();
    committer.handle(Finish {
        done,
        are_blocks_discarded: false,
    });
    assert!(finished.try_recv().is_err(), "block 3 is in flight");
    committer.handle(durable(vec![executed(3)]));
    assert!(finished.try_recv().is_ok());
    assert_eq!(*notified_heights.lock().unwrap(), [1, 2, 3]);
}

#[test]
fn reports_a_block_beyond_the_maximum_in_flight_as_fatal() {
    let Fixture {
        mut committer,
        _ordered,
        ..
    } = fixture();
    for height in 1..=IN_FLIGHT_MAX as u64 {
        committer.handle(ExecuteBlock(ordered(height)));
    }
    assert!(committer.reporter.get().is_none());
    committer.handle(ExecuteBlock(ordered(IN_FLIGHT_MAX as u64 + 1)));
    assert_eq!(committer.reporter.get().unwrap().thread, Committer::NAME);
}

fn ordered(height: u64) -> OrderedBlock {
    OrderedBlock {
        height,
        epoch: 1,
        round: height,
        proposer: AccountAddress::from_low_u64(0),
        timestamp_usecs: height,
        executed: None,
        transactions: Vec::new(),
        certificate: bytes::Bytes::new(),
    }
}

fn durable(blocks: Vec<Arc<IndexedBlock>>) -> BlocksDurable {
    BlocksDurable {
        blocks,
        wal_blocks: Vec::new(),
        write_usecs: None,
    }
}

#[test]
fn completes_the_wait_for_a_removed_transaction_with_the_reason() {
    let Fixture { mut committer, .. } = fixture();
    let hash = HashValue::sha3_of(&[b"removed"]);
    let (reply, mut outcome) = oneshot::channel();
    committer.waiters.insert(hash, reply, None);
    let reason = crate::RemovalReason::Expired { at_secs: 7 };
    committer.handle(TransactionsRemoved(vec![Removed {
        hash,
        reason: reason.clone(),
    }]));
    assert!(matches!(outcome.try_recv(), Ok(WaitOutcome::Removed(received)) if received == reason));
}

#[test]
fn finishes_without_blocks_that_cannot_become_durable() {
    let Fixture {
        mut committer,
        health,
        ..
    } = fixture();
    committer.handle(ExecuteBlock(ordered(1)));
    let (done, mut finished) = oneshot::channel();
    committer.handle(Finish {
        done,
        are_blocks_discarded: false,
    });
    assert!(matches!(finished.try_recv(), Err(TryRecvError::Empty)));
    health.publish_fault(&StorageFault {
        thread: "test",
        kind: FaultKind::Write,
        cause: "injected by the test".into(),
    });
    committer.handle(CancelWaiters);
    assert!(finished.try_recv().is_ok());
}
