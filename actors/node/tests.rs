//! The order of look-ups and subscriptions: a transaction is committed at every point where a
//! question waits for an answer, and no question may miss it.
//!
//! The node is real, but its sequencer is stopped and the test orders the block itself.

use super::handle::*;
use super::lookup::FindByHash;
use super::lookup::TransactionStatus;
use crate::{
    Node, SubmitError,
    config::NodeConfig,
    error::NodeError,
    protocol::{
        committer::ExecuteBlock,
        mempool::{BatchLimits, GetPending, PendingStatus, PullBatch, Submit},
        sequencer::{Batch, Stop},
    },
    runtime::mailbox::Recipient,
    state::committed::CommittedTransaction,
    testing::wallet::{development, funded},
};
use bytes::Bytes;
use futures::future::LocalBoxFuture;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CheckedTransaction, LedgerInfo, OrderedBlock};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Longer than any machine is busy: a wait that runs into it was in vain.
const TIMEOUT_MS: u64 = 60_000;

struct Fixture {
    node: Node,
    handle: NodeHandle,
    transaction: Arc<CheckedTransaction>,
    /// How many reads the set-up took.
    reads_before: u64,
    _directory: tempfile::TempDir,
}

/// A node that orders nothing, with one transaction in its pool.
async fn fixture() -> Fixture {
    fixture_with(NodeConfig::default()).await
}

async fn fixture_with(mut config: NodeConfig) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = development(directory.path());
    config.wait.timeout_ms = TIMEOUT_MS;
    let node = Node::start(chain.clone(), store, None, config)
        .await
        .unwrap();
    let handle = node.handle();
    let (done, stopped) = oneshot::channel();
    handle.shared.node.mailboxes.sequencer.send(Stop { done });
    stopped.await.unwrap();
    let mut wallets = funded();
    let to = wallets[1].address;
    let accepted = handle
        .submit(wallets[0].transfer(&chain, to, 1))
        .await
        .unwrap();
    let reads_before = handle.mailboxes()[3].accepted;
    Fixture {
        node,
        handle,
        transaction: accepted.transaction,
        reads_before,
        _directory: directory,
    }
}

impl Fixture {
    /// Makes the transaction durable, and returns when the mempool has heard of it and all waiters
    /// were told.
    async fn commit(&self) {
        let mailboxes = &self.handle.shared.node.mailboxes;
        let mut feed = self.handle.subscribe_blocks().await.unwrap();
        mailboxes.committer.send(ExecuteBlock(OrderedBlock {
            height: 1,
            epoch: 1,
            round: 1,
            proposer: AccountAddress::from_low_u64(0),
            timestamp_usecs: self.handle.shared.node.clock.now_usecs(),
            transactions: vec![Arc::clone(&self.transaction)],
            certificate: Bytes::new(),
        }));
        assert_eq!(feed.next().await.unwrap().height(), 1);
        // First in, first out: this answer comes after the mempool has handled the block.
        let hash = self.transaction.hash();
        let in_pool = request(&mailboxes.mempool, |reply| GetPending { hash, reply })
            .await
            .unwrap();
        assert!(matches!(in_pool, PendingStatus::Unknown));
    }
}

impl Fixture {
    /// Whether an actor or a reader has not answered yet. Of the readers it is only known that they
    /// were asked; but they always answer.
    fn owes_answers(&self) -> bool {
        let statuses = self.handle.mailboxes();
        let is_reading = statuses[3].accepted > self.reads_before;
        is_reading || statuses.iter().any(|s| s.handled < s.accepted + s.protocol)
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

type Question =
    for<'a> fn(
        &'a NodeHandle,
        HashValue,
    ) -> LocalBoxFuture<'a, Result<(LedgerInfo, TransactionStatus), NodeError>>;

/// Asks, commits the transaction after the question was continued `steps` times, each time until the
/// actors had answered it, and gives what was answered in the end.
async fn asked_around_a_commit(question: Question, steps: usize) -> TransactionStatus {
    let fixture = fixture().await;
    let handle = fixture.handle.clone();
    let mut future: Pin<Box<_>> = question(&handle, fixture.transaction.hash());
    for _ in 0..steps {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        if let Poll::Ready(answer) = future
            .as_mut()
            .poll(&mut std::task::Context::from_waker(&waker))
        {
            drop(future);
            fixture.node.stop().await.unwrap();
            return answer.unwrap().1;
        }
        while !flag.0.load(SeqCst) && fixture.owes_answers() {
            tokio::task::yield_now().await;
        }
    }
    fixture.commit().await;
    let begun = Instant::now();
    let (ledger_info, lookup) = future.await.unwrap();
    assert!(
        begun.elapsed() < Duration::from_millis(TIMEOUT_MS / 2),
        "the wait was in vain"
    );
    if let TransactionStatus::Committed(committed) = &lookup {
        assert!(ledger_info.version >= committed.version);
        assert_eq!(
            committed.content().unwrap().hash,
            fixture.transaction.hash()
        );
    }
    fixture.node.stop().await.unwrap();
    lookup
}

#[actix::test]
async fn a_look_up_never_misses_what_is_committed_meanwhile() {
    for steps in 0..=2 {
        let question: Question = |handle, hash| Box::pin(handle.transaction_by_hash(hash));
        let lookup = asked_around_a_commit(question, steps).await;
        assert!(
            matches!(
                lookup,
                TransactionStatus::Pending(_) | TransactionStatus::Committed(_)
            ),
            "after {steps} answers: {lookup:?}"
        );
    }
}

#[actix::test]
async fn a_wait_never_misses_what_is_committed_meanwhile() {
    for steps in 0..=3 {
        let question: Question = |handle, hash| Box::pin(handle.wait_for_commit(hash));
        let lookup = asked_around_a_commit(question, steps).await;
        assert!(
            matches!(lookup, TransactionStatus::Committed(_)),
            "after {steps} answers: {lookup:?}"
        );
    }
}

#[actix::test]
async fn what_was_committed_long_ago_is_found_in_the_store() {
    let fixture = fixture().await;
    fixture.commit().await;
    let hash = fixture.transaction.hash();
    let (ledger_info, found) = fixture.handle.read(FindByHash(hash)).await.unwrap();
    let TransactionStatus::Committed(stored) = found else {
        panic!("{found:?}")
    };
    let (_, found) = fixture.handle.transaction_by_hash(hash).await.unwrap();
    let TransactionStatus::Committed(recent) = found else {
        panic!("{found:?}")
    };
    let (stored_whole, recent_whole) = (stored.content().unwrap(), recent.content().unwrap());
    assert_eq!(*stored_whole, *recent_whole);
    assert!(stored.stored().is_some() && recent.stored().is_none());
    let facts = |committed: &CommittedTransaction| {
        (
            committed.version,
            committed.block_timestamp_usecs,
            committed.is_block_end,
        )
    };
    assert_eq!(facts(&stored), facts(&recent));
    assert!(!recent.is_block_end, "the epilogue comes after it");
    assert_eq!(ledger_info.block_height, 1);
    fixture.node.stop().await.unwrap();
}

/// A client sends the next transaction while the one before becomes durable: it was checked against
/// the Head before the block, and reaches the pool after it.
#[actix::test]
async fn a_submission_that_a_block_overtook_is_ready_all_the_same() {
    let fixture = fixture().await;
    let mut wallet = funded().remove(0);
    let checked_against = wallet.sequence_number;
    wallet.sequence_number += 1;
    let next = wallet.transfer(fixture.handle.chain(), wallet.address, 1);
    let hash = next.hash();
    fixture.commit().await;
    let mempool = &fixture.handle.shared.node.mailboxes.mempool;
    let accepted = request(mempool, |reply| Submit {
        transaction: Arc::new(next),
        sequence_number: checked_against,
        reply,
    });
    accepted.await.unwrap().unwrap();
    let (tell_batch, batches) = mpsc::channel();
    mempool.send(PullBatch {
        limits: BatchLimits {
            transactions_max: 10,
            bytes_max: usize::MAX,
        },
        reply_to: Recipient::new(move |batch: Batch| tell_batch.send(batch.0).unwrap()),
    });
    // First in, first out: this answer comes after that to the pull.
    request(mempool, |reply| GetPending { hash, reply })
        .await
        .unwrap();
    let batch = batches.try_recv().expect("it is ready");
    assert_eq!((batch.len(), batch[0].hash()), (1, hash));
    fixture.node.stop().await.unwrap();
}

/// Where a batch of the mempool is told, and where it is heard of.
fn batches() -> (PullBatch, mpsc::Receiver<usize>) {
    let (tell_batch, batches) = mpsc::channel();
    let pull = PullBatch {
        limits: BatchLimits {
            transactions_max: 10,
            bytes_max: usize::MAX,
        },
        reply_to: Recipient::new(move |batch: Batch| tell_batch.send(batch.0.len()).unwrap()),
    };
    (pull, batches)
}

#[actix::test]
async fn nothing_is_begun_while_the_disk_has_no_room() {
    let fixture = fixture().await;
    let handle = &fixture.handle;
    let protocol = || -> Vec<_> {
        handle
            .mailboxes()
            .iter()
            .map(|status| status.protocol)
            .collect()
    };
    let mempool = &handle.shared.node.mailboxes.mempool;
    let hash = fixture.transaction.hash();
    // First in, first out: the answer comes after all that the mempool was told before.
    let settle = || async {
        request(mempool, |reply| GetPending { hash, reply })
            .await
            .unwrap()
    };
    // It tells the sequencer of the first transaction after it has answered the submission.
    settle().await;
    let before = protocol();

    handle.report_disk_space(Some(&"7 bytes are left".into()));
    // The storage notifies the mempool.
    while protocol()[0] == before[0] {
        tokio::task::yield_now().await;
    }
    // What waits already, and what was checked before the disk was known to be full.
    let mut wallet = funded().remove(1);
    let next = Arc::new(wallet.transfer(handle.chain(), wallet.address, 1));
    let accepted = request(mempool, |reply| Submit {
        transaction: next,
        sequence_number: 0,
        reply,
    });
    accepted.await.unwrap().unwrap();
    let (pull, batches) = batches();
    mempool.send(pull);
    settle().await;
    assert!(batches.try_recv().is_err(), "a block was begun");
    let refused = handle
        .submit(wallet.transfer(handle.chain(), wallet.address, 1))
        .await;
    assert!(
        matches!(
            &refused,
            Err(SubmitError::Node(NodeError::StorageUnavailable(_)))
        ),
        "{refused:?}"
    );

    handle.report_disk_space(None);
    let mut batch = batches.try_recv();
    while batch.is_err() {
        settle().await;
        batch = batches.try_recv();
    }
    assert_eq!(batch, Ok(1));
    // The committer receives nothing. The others receive the begin and the end, and the mempool also a pull.
    let told: Vec<_> = protocol()
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    assert_eq!(told, [3, 2, 0, 2, 2], "{:?}", handle.mailboxes());
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn an_account_with_its_share_of_the_pool_does_not_make_others_ask_for_room() {
    let mut config = NodeConfig::default();
    config.mempool.capacity_per_account = 1;
    let fixture = fixture_with(config).await;
    let handle = &fixture.handle;
    let mut rich = funded().remove(0);
    rich.sequence_number = 1;
    let second = rich.transfer(handle.chain(), rich.address, 1);
    let signed = second.transaction().clone();
    let refused = handle.submit(second).await;
    assert!(
        matches!(refused, Err(SubmitError::AccountFull { .. })),
        "{refused:?}"
    );
    assert!(!handle.shared.pool_was_full.load(SeqCst));
    // Also where the question was asked for another reason.
    handle.shared.pool_was_full.store(true, SeqCst);
    assert!(handle.check_capacity(&signed).await.is_err());
    assert!(!handle.shared.pool_was_full.load(SeqCst));
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn the_size_of_a_saved_pool_is_told() {
    let fixture = fixture().await;
    let bytes = fixture.handle.saved_pool_bytes().await.unwrap();
    let size = u64::try_from(fixture.transaction.size_bytes()).unwrap();
    assert!((size..size + 100).contains(&bytes), "{bytes} for {size}");
    fixture.node.stop().await.unwrap();
}
