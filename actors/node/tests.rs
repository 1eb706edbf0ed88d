//! Tests of a node's handle, in particular of the order of look-ups and subscriptions.
//!
//! For that order, the tests commit a transaction at each point at which a look-up or a wait pauses
//! for a reply. Neither may miss the transaction. The node is real, but its sequencer is stopped,
//! and the tests order the block.

use super::handle::*;
use super::lookup::FindByHash;
use super::lookup::TransactionStatus;
use crate::{
    Node, SubmitError,
    config::NodeConfig,
    error::NodeError,
    protocol::{
        committer::{ExecuteBlock, SubscribeVersion},
        mempool::{BatchLimits, GetPending, PendingStatus, PullBatch, Submit},
        sequencer::{Batch, Stop},
    },
    runtime::mailbox::Recipient,
    state::committed::CommittedTransaction,
};
use bytes::Bytes;
use futures::future::LocalBoxFuture;
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_test_support::{Wallet, store::open_store};
use ledger_types::{AccountAddress, CheckedTransaction, LedgerInfo, OrderedBlock};
use std::{
    collections::BTreeMap,
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

mod diverged;
mod elsewhere;

/// Timeout of a wait in milliseconds, longer than a busy machine delays the tests.
const TIMEOUT_MS: u64 = 60_000;

/// A node with one pending transaction.
struct Fixture {
    node: Node,
    handle: NodeHandle,
    transaction: Arc<CheckedTransaction>,
    /// Number of reads that the storage had accepted when the set-up was complete.
    reads_before: u64,
    _directory: tempfile::TempDir,
}

/// Starts a node that orders no blocks, with one transaction in its pool.
async fn fixture() -> Fixture {
    fixture_with(NodeConfig::default()).await
}

async fn fixture_with(mut config: NodeConfig) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    config.wait.timeout_ms = TIMEOUT_MS;
    // The end of a pass is a message to the storage, whenever it comes.
    config.storage.scrub_hours = 0;
    let node = Node::start(chain.clone(), store, None, config)
        .await
        .unwrap();
    let handle = node.handle();
    let (done, stopped) = oneshot::channel();
    handle.shared.node.mailboxes.sequencer.send(Stop { done });
    stopped.await.unwrap();
    let mut wallets = Wallet::development();
    let to = wallets[1].address;
    let accepted = handle
        .submit(wallets[0].transfer(&chain, to, 1), ClientKey::NODE)
        .await
        .unwrap();
    let reads_before = handle.mailbox("storage").unwrap().accepted;
    Fixture {
        node,
        handle,
        transaction: accepted.transaction,
        reads_before,
        _directory: directory,
    }
}

impl Fixture {
    /// Makes the transaction durable, and waits until the mempool has handled its block and all
    /// waiters are notified.
    async fn commit(&self) {
        let mailboxes = &self.handle.shared.node.mailboxes;
        let version = self.handle.head().ledger_info().version + 1;
        mailboxes.committer.send(ExecuteBlock(OrderedBlock {
            height: 1,
            epoch: 1,
            round: 1,
            proposer: AccountAddress::from_low_u64(0),
            timestamp_usecs: self.handle.shared.node.clock.now_usecs(),
            executed: None,
            transactions: vec![Arc::clone(&self.transaction)],
            certificate: Bytes::new(),
        }));
        let durable = request(&mailboxes.committer, |reply| SubscribeVersion {
            version,
            reply,
            notifier: None,
        });
        durable.await.unwrap();
        // The mailbox is first in, first out, so the mempool has handled the block before it
        // replies.
        let hash = self.transaction.hash();
        let in_pool = request(&mailboxes.mempool, |reply| GetPending { hash, reply })
            .await
            .unwrap();
        assert!(matches!(in_pool, PendingStatus::Unknown));
    }
}

impl Fixture {
    /// Returns whether an actor has messages to handle, or a reader may still run a query.
    ///
    /// The metrics of reads do not include their completion. Once the storage has accepted a read,
    /// the caller must wait for its waker, which the reply always wakes.
    fn has_unfinished_requests(&self) -> bool {
        let statuses = self.handle.mailboxes();
        let is_reading = self.handle.mailbox("storage").unwrap().accepted > self.reads_before;
        is_reading || statuses.iter().any(|s| s.handled < s.accepted + s.protocol)
    }
}

/// A waker that records whether it was called.
struct WakeFlag(AtomicBool);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

type StatusRequest =
    for<'a> fn(
        &'a NodeHandle,
        HashValue,
    ) -> LocalBoxFuture<'a, Result<(LedgerInfo, TransactionStatus), NodeError>>;

/// Returns the result of a request during which the transaction is committed.
///
/// The request is polled `polls_before_commit` times before the commit. After each of these polls,
/// the actors and readers send their replies. A request that is ready earlier returns without a
/// commit.
async fn status_with_a_commit_after(
    status_request: StatusRequest,
    polls_before_commit: usize,
) -> TransactionStatus {
    let fixture = fixture().await;
    let handle = fixture.handle.clone();
    let mut future: Pin<Box<_>> = status_request(&handle, fixture.transaction.hash());
    for _ in 0..polls_before_commit {
        let flag = Arc::new(WakeFlag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        if let Poll::Ready(answer) = future
            .as_mut()
            .poll(&mut std::task::Context::from_waker(&waker))
        {
            drop(future);
            fixture.node.stop().await.unwrap();
            return answer.unwrap().1;
        }
        while !flag.0.load(SeqCst) && fixture.has_unfinished_requests() {
            tokio::task::yield_now().await;
        }
    }
    fixture.commit().await;
    let started = Instant::now();
    let (ledger_info, lookup) = future.await.unwrap();
    assert!(
        started.elapsed() < Duration::from_millis(TIMEOUT_MS / 2),
        "the wait ended only at its timeout"
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
async fn look_up_never_misses_a_transaction_committed_meanwhile() {
    for polls in 0..=2 {
        let status_request: StatusRequest =
            |handle, hash| Box::pin(handle.transaction_by_hash(hash, ClientKey::NODE));
        let lookup = status_with_a_commit_after(status_request, polls).await;
        assert!(
            matches!(
                lookup,
                TransactionStatus::Pending(_) | TransactionStatus::Committed(_)
            ),
            "after {polls} polls: {lookup:?}"
        );
    }
}

#[actix::test]
async fn wait_returns_a_transaction_committed_meanwhile() {
    for polls in 0..=3 {
        let status_request: StatusRequest =
            |handle, hash| Box::pin(handle.wait_for_commit(hash, ClientKey::NODE));
        let lookup = status_with_a_commit_after(status_request, polls).await;
        assert!(
            matches!(lookup, TransactionStatus::Committed(_)),
            "after {polls} polls: {lookup:?}"
        );
    }
}

#[actix::test]
async fn store_and_head_return_the_same_transaction() {
    let fixture = fixture().await;
    fixture.commit().await;
    let hash = fixture.transaction.hash();
    let (ledger_info, found) = fixture
        .handle
        .read(point_read(ClientKey::NODE), FindByHash(hash))
        .await
        .unwrap();
    let TransactionStatus::Committed(stored) = found else {
        panic!("{found:?}")
    };
    let (_, found) = fixture
        .handle
        .transaction_by_hash(hash, ClientKey::NODE)
        .await
        .unwrap();
    let TransactionStatus::Committed(recent) = found else {
        panic!("{found:?}")
    };
    let (stored_content, recent_content) = (stored.content().unwrap(), recent.content().unwrap());
    assert_eq!(*stored_content, *recent_content);
    assert!(stored.stored().is_some() && recent.stored().is_none());
    let position = |committed: &CommittedTransaction| {
        (
            committed.version,
            committed.block_timestamp_usecs,
            committed.is_block_end,
        )
    };
    assert_eq!(position(&stored), position(&recent));
    assert!(!recent.is_block_end, "the epilogue comes after it");
    assert_eq!(ledger_info.block_height, 1);
    fixture.node.stop().await.unwrap();
}

/// A client sends a transaction while the previous one becomes durable. The transaction is
/// validated at the Head before the block, and reaches the mempool after the block.
#[actix::test]
async fn submission_validated_before_a_block_is_ready_after_it() {
    let fixture = fixture().await;
    let mut wallet = Wallet::development().remove(0);
    let sequence_number = wallet.sequence_number;
    wallet.sequence_number += 1;
    let next = wallet.transfer(fixture.handle.chain(), wallet.address, 1);
    let hash = next.hash();
    fixture.commit().await;
    let mempool = &fixture.handle.shared.node.mailboxes.mempool;
    let accepted = request(mempool, |reply| {
        Submit::one(Arc::new(next), sequence_number, reply)
    });
    accepted.await.unwrap().remove(0).unwrap();
    let (batch_sender, batches) = mpsc::channel();
    mempool.send(PullBatch {
        limits: BatchLimits {
            transactions_max: 10,
            bytes_max: usize::MAX,
            usecs_max: u64::MAX,
        },
        is_immediate: false,
        reply_to: Recipient::new(move |batch: Batch| batch_sender.send(batch.0).unwrap()),
    });
    // The mailbox is first in, first out, so the mempool has handled the pull before it replies.
    request(mempool, |reply| GetPending { hash, reply })
        .await
        .unwrap();
    let batch = batches.try_recv().expect("it is ready");
    assert_eq!((batch.len(), batch[0].hash()), (1, hash));
    fixture.node.stop().await.unwrap();
}

/// Returns a pull, and the receiver of the number of transactions in its batch.
fn pull_batch() -> (PullBatch, mpsc::Receiver<usize>) {
    let (batch_sender, batches) = mpsc::channel();
    let pull = PullBatch {
        limits: BatchLimits {
            transactions_max: 10,
            bytes_max: usize::MAX,
            usecs_max: u64::MAX,
        },
        is_immediate: false,
        reply_to: Recipient::new(move |batch: Batch| batch_sender.send(batch.0.len()).unwrap()),
    };
    (pull, batches)
}

impl Fixture {
    /// Waits until the mempool has handled all earlier messages. Its mailbox is first in, first
    /// out, so it has when it replies.
    async fn drain_mempool(&self) {
        let (mempool, hash) = (
            &self.handle.shared.node.mailboxes.mempool,
            self.transaction.hash(),
        );
        let reply = request(mempool, |reply| GetPending { hash, reply }).await;
        reply.unwrap();
    }

    /// Returns the number of protocol messages that each actor has received.
    fn protocol_messages(&self) -> BTreeMap<&'static str, u64> {
        let statuses = self.handle.mailboxes().into_iter();
        statuses.map(|s| (s.actor, s.protocol)).collect()
    }
}

/// Number of protocol messages that each actor receives: all but the committer the start and the
/// end of a shortage, and the mempool also a pull.
const SHORTAGE_MESSAGES: [(&str, u64); 5] = [
    ("mempool", 3),
    ("sequencer", 2),
    ("committer", 0),
    ("storage", 2),
    ("pruner", 2),
];

#[actix::test]
async fn starts_no_block_while_disk_space_is_low() {
    let fixture = fixture().await;
    let handle = &fixture.handle;
    let mempool = &handle.shared.node.mailboxes.mempool;
    // After its reply to the submission, the mempool sends the batch that the sequencer has pulled.
    // The reply to this request follows that batch.
    fixture.drain_mempool().await;
    let before = fixture.protocol_messages();

    handle.report_disk_space(Some(&"7 bytes are left".into()));
    // The storage notifies the mempool.
    while fixture.protocol_messages()["mempool"] == before["mempool"] {
        tokio::task::yield_now().await;
    }
    // A transaction that was validated before the shortage is added to the pool, but enters no
    // block.
    let mut wallet = Wallet::development().remove(1);
    let next = Arc::new(wallet.transfer(handle.chain(), wallet.address, 1));
    let accepted = request(mempool, |reply| Submit::one(next, 0, reply));
    accepted.await.unwrap().remove(0).unwrap();
    let (pull, batches) = pull_batch();
    mempool.send(pull);
    fixture.drain_mempool().await;
    assert!(batches.try_recv().is_err(), "a block was started");
    let next = wallet.transfer(handle.chain(), wallet.address, 1);
    let refused = handle.submit(next, ClientKey::NODE).await.unwrap_err();
    let is_unavailable = matches!(&refused, SubmitError::Node(NodeError::NotWritable(_)));
    assert!(is_unavailable, "{refused:?}");

    handle.report_disk_space(None);
    let mut batch = batches.try_recv();
    while batch.is_err() {
        fixture.drain_mempool().await;
        batch = batches.try_recv();
    }
    assert_eq!(batch, Ok(1));
    let after = fixture.protocol_messages();
    let received = SHORTAGE_MESSAGES.map(|(actor, _)| (actor, after[actor] - before[actor]));
    assert_eq!(received, SHORTAGE_MESSAGES, "{:?}", handle.mailboxes());
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn full_account_does_not_mark_the_pool_as_full() {
    let mut config = NodeConfig::default();
    config.mempool.capacity_per_account = 1;
    let fixture = fixture_with(config).await;
    let handle = &fixture.handle;
    let mut rich = Wallet::development().remove(0);
    rich.sequence_number = 1;
    let second = rich.transfer(handle.chain(), rich.address, 1);
    let signed = second.transaction().clone();
    let refused = handle.submit(second, ClientKey::NODE).await;
    assert!(
        matches!(refused, Err(SubmitError::AccountFull { .. })),
        "{refused:?}"
    );
    assert!(!handle.shared.pool_was_full.load(SeqCst));
    // A check of the capacity that finds only the account full clears the hint.
    handle.shared.pool_was_full.store(true, SeqCst);
    assert!(handle.check_capacity(&signed).await.is_err());
    assert!(!handle.shared.pool_was_full.load(SeqCst));
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn returns_the_size_of_the_saved_pool() {
    let fixture = fixture().await;
    // The mempool computes the size after its reply to the submission.
    fixture.drain_mempool().await;
    let bytes = fixture.handle.saved_pool_bytes();
    let size = u64::try_from(fixture.transaction.size_bytes()).unwrap();
    assert!((size..size + 100).contains(&bytes), "{bytes} for {size}");
    fixture.node.stop().await.unwrap();
}
