//! The order in which a durable block is told.

use super::*;
use crate::{
    error::FaultKind,
    runtime::mailbox::Recipient,
    state::{committed::IndexedBlock, head::HeadReader, storage_health::StorageHealthPublisher},
    testing::{block, draft, ledger_info},
};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use std::sync::Mutex;
use tokio::sync::oneshot::{self, error::TryRecvError};

const IN_FLIGHT_MAX: usize = 3;

struct Fixture {
    committer: Committer,
    head: HeadReader,
    health: StorageHealthPublisher,
    /// What the executor would take from.
    _jobs: Jobs,
}

fn fixture() -> Fixture {
    let publisher = HeadPublisher::unpruned(ledger_info(0));
    let head = publisher.reader();
    let health = StorageHealthPublisher::default();
    let (committer, jobs) = Committer::new(
        publisher,
        IN_FLIGHT_MAX,
        health.health().clone(),
        FatalErrorReporter::new(),
    );
    Fixture {
        committer,
        head,
        health,
        _jobs: jobs,
    }
}

/// What the world looked like when somebody was told of a block.
#[derive(Debug, PartialEq)]
struct Seen {
    who: &'static str,
    head_height: u64,
    is_waiter_told: bool,
}

#[test]
fn the_head_comes_first_then_the_mempool_then_the_waiters() {
    let Fixture {
        mut committer,
        head,
        _jobs,
        ..
    } = fixture();
    let transaction = draft(1, 0).checked();
    let (end, ended) = oneshot::channel();
    committer.waiters.insert(transaction.hash(), end, None);
    let ended = Arc::new(Mutex::new(ended));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe = |who| {
        let (head, ended, seen) = (head.clone(), Arc::clone(&ended), Arc::clone(&seen));
        Recipient::new(move |_: BlockCommitted| {
            let head_height = head.load().ledger_info().block_height;
            let is_waiter_told =
                !matches!(ended.lock().unwrap().try_recv(), Err(TryRecvError::Empty));
            seen.lock().unwrap().push(Seen {
                who,
                head_height,
                is_waiter_told,
            });
        })
    };
    committer.peers = Some(Peers {
        pool: Recipient::new(|_| ()),
        mempool: probe("mempool"),
        sequencer: probe("sequencer"),
        pruner: probe("pruner"),
    });
    let executed = IndexedBlock::without_updates(block(1, std::slice::from_ref(&transaction), &[]));
    committer.publish_blocks(&[executed], Vec::new());
    let expected = ["mempool", "sequencer", "pruner"].map(|who| Seen {
        who,
        head_height: 1,
        is_waiter_told: false,
    });
    assert_eq!(*seen.lock().unwrap(), expected);
    let end = ended.lock().unwrap().try_recv().unwrap();
    let WaitOutcome::Committed(ledger_info, committed) = end else {
        panic!("{end:?}")
    };
    assert_eq!((ledger_info.block_height, committed.version), (1, 1_000));
    assert_eq!(committed.content().unwrap().hash, transaction.hash());
}

#[test]
fn blocks_that_became_durable_together_are_told_in_order() {
    let Fixture {
        mut committer,
        _jobs,
        ..
    } = fixture();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heights = Arc::clone(&told);
    committer.peers = Some(Peers {
        pool: Recipient::new(|_| ()),
        mempool: Recipient::new(move |committed: BlockCommitted| {
            heights.lock().unwrap().push(committed.0.height());
        }),
        sequencer: Recipient::new(|_| ()),
        pruner: Recipient::new(|_| ()),
    });
    let mut feed = committer.feed.subscribe();
    for height in 1..=3 {
        committer.handle(ExecuteBlock(ordered(height)));
    }
    assert!(told.lock().unwrap().is_empty(), "nothing is durable");
    let executed = |height| IndexedBlock::without_updates(block(height, &[], &[]));
    committer.handle(stored(vec![executed(1), executed(2)]));
    assert_eq!(*told.lock().unwrap(), [1, 2]);
    let (done, mut finished) = oneshot::channel();
    committer.handle(Finish { done });
    assert!(finished.try_recv().is_err(), "block 3 is on its way");
    committer.handle(stored(vec![executed(3)]));
    assert!(finished.try_recv().is_ok());
    let heights: Vec<_> = (0..3)
        .map(|_| block_on_ready(feed.next()).unwrap().height())
        .collect();
    assert_eq!(heights, [1, 2, 3]);
}

#[test]
fn more_than_may_be_in_flight_is_a_failure_of_the_node() {
    let Fixture {
        mut committer,
        _jobs,
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
        transactions: Vec::new(),
        certificate: bytes::Bytes::new(),
    }
}

fn stored(blocks: Vec<Arc<IndexedBlock>>) -> BlocksDurable {
    BlocksDurable {
        blocks,
        wal_blocks: Vec::new(),
    }
}

fn block_on_ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it should be ready"),
    }
}

#[test]
fn who_leaves_the_pool_ends_the_wait_with_the_reason() {
    let Fixture { mut committer, .. } = fixture();
    let hash = HashValue::sha3_of(&[b"gone"]);
    let (end, mut ended) = oneshot::channel();
    committer.waiters.insert(hash, end, None);
    let reason = crate::RemovalReason::Expired { at_secs: 7 };
    committer.handle(TransactionsRemoved(vec![(hash, reason.clone())]));
    assert!(matches!(ended.try_recv(), Ok(WaitOutcome::Removed(told)) if told == reason));
}

#[test]
fn a_stop_does_not_wait_for_blocks_that_cannot_become_durable() {
    let Fixture {
        mut committer,
        health,
        ..
    } = fixture();
    committer.handle(ExecuteBlock(ordered(1)));
    let (done, mut finished) = oneshot::channel();
    committer.handle(Finish { done });
    assert!(matches!(finished.try_recv(), Err(TryRecvError::Empty)));
    health.publish_fault(&StorageFault {
        thread: "test",
        kind: FaultKind::Write,
        cause: "as the test wants it".into(),
    });
    committer.handle(CancelWaiters);
    assert!(finished.try_recv().is_ok());
}
