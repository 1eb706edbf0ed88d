//! Tests of the mempool actor: batches that the sequencer pulls, expiration and gas prices.

mod list;
mod offers;

use super::*;
use crate::{
    MempoolConfig, RemovalReason, SubmitError,
    protocol::{
        mempool::BatchLimits,
        wait::{Hashes, WaiterId},
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Mailbox, timer::RESOLUTION},
    state::{
        committed::IndexedBlock,
        head::HeadPublisher,
        prune_horizon::{Horizon, PruneHorizonPublisher},
    },
    testing::ledger_clock,
};
use ledger_test_support::{
    HandClock,
    block::{block, ledger_info},
    draft::{Draft, draft, orderless},
};
use ledger_types::CheckedTransaction;
use std::{slice, sync::Arc};
use tokio::sync::{mpsc, oneshot};

const NOW: u64 = 1_800_000_000;

/// A mempool with the receivers of its messages.
struct Fixture {
    mempool: Mailbox<Mempool>,
    removals: mpsc::UnboundedReceiver<TransactionsRemoved>,
    not_pending: mpsc::UnboundedReceiver<NotPending>,
    batches: mpsc::UnboundedReceiver<usize>,
    batch_recipient: Recipient<Batch>,
    clock: HandClock,
}

fn start_mempool() -> Fixture {
    start_mempool_with_head(HeadPublisher::unpruned(ledger_info(0)).reader())
}

fn start_mempool_with_head(head: HeadReader) -> Fixture {
    start_mempool_of(head, None)
}

fn start_mempool_of(head: HeadReader, relay: Option<RelaySender>) -> Fixture {
    let (send_removals, removals) = mpsc::unbounded_channel();
    let (send_not_pending, not_pending) = mpsc::unbounded_channel();
    let (send_batch, batches) = mpsc::unbounded_channel();
    let clock = HandClock::at_secs(NOW);
    let actor = Mempool::new(
        Pool::new(MempoolConfig::default()),
        GasHistory::new(100, 10),
        ledger_clock(&clock),
        head,
        MempoolPeers {
            removals: Recipient::new(move |removals| send_removals.send(removals).unwrap()),
            not_pending: Recipient::new(move |not_pending| {
                send_not_pending.send(not_pending).unwrap();
            }),
            relay,
        },
        DirectorySize::default(),
        Arc::default(),
    );
    Fixture {
        mempool: Mailbox::start_here("mempool", 100, actor, &FatalErrorReporter::new()),
        removals,
        not_pending,
        batches,
        batch_recipient: Recipient::new(move |batch: Batch| {
            send_batch.send(batch.0.len()).unwrap();
        }),
        clock,
    }
}

impl Fixture {
    async fn submit(&self, draft: Draft) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let (reply, response) = oneshot::channel();
        let submit = Submit::one(draft.checked(), 0, reply);
        self.mempool.try_request(submit).unwrap();
        response.await.unwrap().remove(0)
    }

    fn pull(&self) {
        self.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: 10,
                bytes_max: usize::MAX,
                usecs_max: u64::MAX,
            },
            is_immediate: false,
            reply_to: self.batch_recipient.clone(),
        });
    }

    async fn get_pending(&self, hash: ledger_crypto::HashValue) -> PendingStatus {
        let (reply, response) = oneshot::channel();
        self.mempool
            .try_request(GetPending { hash, reply })
            .unwrap();
        response.await.unwrap()
    }
}

#[actix::test]
async fn replies_to_a_waiting_pull_once_when_a_transaction_is_ready() {
    let mut fixture = start_mempool();
    fixture.pull();
    let parked = fixture.submit(draft(1, 1)).await.unwrap();
    assert!(
        fixture.batches.try_recv().is_err(),
        "a parked transaction makes no block"
    );
    fixture.submit(draft(1, 0)).await.unwrap();
    assert_eq!(fixture.batches.recv().await, Some(2));
    fixture.submit(draft(2, 0)).await.unwrap();
    assert!(matches!(
        fixture.get_pending(parked.hash()).await,
        PendingStatus::Pending(_)
    ));
    assert!(
        fixture.batches.try_recv().is_err(),
        "one pull receives one batch"
    );
    fixture.pull();
    assert_eq!(fixture.batches.recv().await, Some(1));
}

#[actix::test]
async fn replies_to_check_pending_with_the_absent_transactions() {
    let mut fixture = start_mempool();
    let pending = fixture.submit(draft(1, 0)).await.unwrap().hash();
    let expired = fixture
        .submit(draft(2, 0).expires_at(NOW + 1))
        .await
        .unwrap()
        .hash();
    fixture.clock.pass_secs(1);
    // Every change of the pool removes expired transactions.
    fixture.submit(draft(3, 0)).await.unwrap();
    let unknown = ledger_crypto::HashValue::sha3_of(&[b"unknown"]);
    let [waiter, other, last] = [1, 2, 3].map(WaiterId::One);
    for (hash, waiter) in [(pending, waiter), (expired, other), (unknown, last)] {
        let hashes = Hashes::One(hash);
        fixture.mempool.send(CheckPending { hashes, waiter });
    }
    let reason = RemovalReason::Expired { at_secs: NOW + 1 };
    let absent = |index, reason| Absent { index, reason };
    for (hash, waiter, reason) in [
        (expired, other, Some(reason.clone())),
        (unknown, last, None),
    ] {
        let received = fixture.not_pending.recv().await.unwrap();
        assert_eq!(
            (&*received.hashes, received.waiter, received.absent),
            (&[hash][..], waiter, vec![absent(0, reason)])
        );
    }
    // A wait for many receives one reply, even if all of its transactions are pending.
    for (hashes, expected) in [
        (
            vec![unknown, pending, expired],
            vec![absent(0, None), absent(2, Some(reason))],
        ),
        (vec![pending], vec![]),
    ] {
        let (hashes, waiter) = (Hashes::Many(hashes.into()), WaiterId::Many(7));
        fixture.mempool.send(CheckPending { hashes, waiter });
        let received = fixture.not_pending.recv().await.unwrap();
        assert_eq!((received.waiter, received.absent), (waiter, expected));
    }
}

#[actix::test]
async fn removes_expired_transactions_by_the_timer_of_an_idle_node() {
    let mut fixture = start_mempool();
    let transaction = fixture
        .submit(draft(1, 0).expires_at(NOW + 30))
        .await
        .unwrap();
    tokio::time::pause();
    tokio::time::advance(EXPIRY_INTERVAL).await;
    assert!(matches!(
        fixture.get_pending(transaction.hash()).await,
        PendingStatus::Pending(_)
    ));
    fixture.clock.pass_secs(30);
    let reason = RemovalReason::Expired { at_secs: NOW + 30 };
    let received = tokio::time::timeout(2 * EXPIRY_INTERVAL, fixture.removals.recv()).await;
    let TransactionsRemoved(removed) = received
        .expect("the timer alone removes the transaction")
        .unwrap();
    let expected = Removed {
        hash: transaction.hash(),
        reason: reason.clone(),
    };
    assert_eq!(removed, [expected]);
    assert!(
        matches!(fixture.get_pending(transaction.hash()).await, PendingStatus::Removed(found) if found == reason)
    );
}

#[actix::test]
async fn removes_transactions_that_expire_by_the_time_of_a_block() {
    let fixture = start_mempool();
    let pending = fixture
        .submit(draft(1, 0).expires_at(NOW + 5))
        .await
        .unwrap();
    let mut later = Arc::unwrap_or_clone(block(1, &[], &[]));
    later.header.timestamp_usecs = (NOW + 5) * 1_000_000;
    fixture.mempool.send(BlockCommitted {
        block: Arc::new(later),
        execution_usecs: 0,
        group_end: None,
    });
    let found = fixture.get_pending(pending.hash()).await;
    assert!(
        matches!(found, PendingStatus::Removed(RemovalReason::Expired { at_secs }) if at_secs == NOW + 5),
        "{found:?}"
    );
}

#[actix::test]
async fn omits_expired_transactions_from_a_batch() {
    let mut fixture = start_mempool();
    fixture
        .submit(draft(1, 0).expires_at(NOW + 1))
        .await
        .unwrap();
    fixture.submit(draft(2, 0)).await.unwrap();
    fixture.clock.pass_secs(1);
    fixture.pull();
    assert_eq!(fixture.batches.recv().await, Some(1));
    assert_eq!(fixture.removals.recv().await.unwrap().0.len(), 1);
}

#[actix::test]
async fn omits_expired_transactions_from_the_reply_to_a_waiting_pull() {
    let mut fixture = start_mempool();
    fixture
        .submit(draft(1, 1).expires_at(NOW + 1))
        .await
        .unwrap();
    fixture.pull();
    fixture.clock.pass_secs(1);
    fixture.submit(draft(1, 0)).await.unwrap();
    assert_eq!(fixture.batches.recv().await, Some(1));
    assert_eq!(fixture.removals.recv().await.unwrap().0.len(), 1);
}

#[actix::test]
async fn raises_the_gas_estimate_after_a_batch_that_its_byte_limit_ended() {
    let mut fixture = start_mempool();
    let first = fixture.submit(draft(1, 0).price(400)).await.unwrap();
    let second = fixture.submit(draft(2, 0).price(350)).await.unwrap();
    let mut estimates = Vec::new();
    for (height, transaction) in [(1, first), (2, second)] {
        fixture.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: 10,
                bytes_max: 1,
                usecs_max: u64::MAX,
            },
            is_immediate: false,
            reply_to: fixture.batch_recipient.clone(),
        });
        assert_eq!(fixture.batches.recv().await, Some(1));
        let block = block(height, &[transaction], &[]);
        fixture.mempool.send(BlockCommitted {
            block,
            execution_usecs: 0,
            group_end: None,
        });
        let (reply, response) = oneshot::channel();
        fixture.mempool.try_request(GetGasPrice { reply }).unwrap();
        estimates.push(response.await.unwrap());
    }
    assert_eq!(estimates[0].deprioritized_gas_estimate, 500);
    assert_eq!(
        estimates[1].deprioritized_gas_estimate, 100,
        "the batch left no transaction out"
    );
}

/// A client that received no response submits its transaction again. The second copy is validated
/// before the block is durable, and arrives after its [`BlockCommitted`], perhaps when the block is
/// pruned.
#[actix::test]
async fn rejects_a_copy_of_an_orderless_transaction_that_was_executed_meanwhile() {
    for oldest in [0, 1_000_000] {
        let executed = orderless(1, 7).checked();
        let horizon = Horizon {
            version: oldest,
            block_height: oldest,
        };
        let horizon = PruneHorizonPublisher::new(horizon).horizon();
        let mut publisher = HeadPublisher::new(ledger_info(0), horizon);
        let committed = block(1, slice::from_ref(&executed), &[]);
        publisher.publish(&[IndexedBlock::without_updates(committed)]);
        let fixture = start_mempool_with_head(publisher.reader());
        let error = fixture.submit(orderless(1, 7)).await.unwrap_err();
        let used = ValidationStatus::NonceAlreadyUsed;
        assert!(
            matches!(&error, SubmitError::Invalid(discard) if discard.status == used),
            "{error}"
        );
        assert!(matches!(
            fixture.get_pending(executed.hash()).await,
            PendingStatus::Unknown
        ));
        fixture.submit(orderless(1, 8)).await.unwrap();
    }
}

#[actix::test]
async fn returns_all_transactions_on_close_and_ignores_later_requests() {
    let mut fixture = start_mempool();
    fixture.submit(draft(1, 0)).await.unwrap();
    let (reply, contents) = oneshot::channel();
    fixture.mempool.send(Close { reply });
    assert_eq!(contents.await.unwrap().len(), 1);
    fixture.pull();
    let (reply, response) = oneshot::channel();
    let submit = Submit::one(draft(2, 0).checked(), 0, reply);
    fixture.mempool.try_request(submit).unwrap();
    assert!(response.await.is_err(), "the node is stopping");
    assert!(fixture.batches.try_recv().is_err());
}

#[actix::test]
async fn removes_expired_transactions_while_the_mailbox_is_never_empty() {
    let mut fixture = start_mempool();
    let expired = fixture
        .submit(draft(1, 0).expires_at(NOW + 1))
        .await
        .unwrap();
    tokio::time::pause();
    let flood = fixture.mempool.flood();
    fixture.clock.pass_secs(1);
    tokio::time::advance(EXPIRY_INTERVAL + RESOLUTION).await;
    let reason = RemovalReason::Expired { at_secs: NOW + 1 };
    let TransactionsRemoved(removed) = fixture.removals.recv().await.unwrap();
    let expected = Removed {
        hash: expired.hash(),
        reason,
    };
    assert_eq!(removed, [expected]);
    assert!(flood.is_running());
}
