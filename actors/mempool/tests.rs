//! Tests of the mempool actor: batches that the sequencer pulls, expiration and gas prices.

use super::*;
use crate::{
    Head, MempoolConfig, RemovalReason, SubmitError,
    protocol::{mempool::BatchLimits, wait::WaiterId},
    runtime::{fatal::FatalErrorReporter, mailbox::Mailbox, timer::RESOLUTION},
    testing::{Draft, HandClock, block, draft, ledger_clock, ledger_info, orderless},
};
use ledger_types::CheckedTransaction;
use std::{slice, sync::Arc};
use tokio::sync::{mpsc, oneshot};

const NOW: u64 = 1_800_000_000;

struct Fixture {
    mempool: Mailbox<Mempool>,
    dropped: mpsc::UnboundedReceiver<TransactionsRemoved>,
    absent: mpsc::UnboundedReceiver<NotPending>,
    batches: mpsc::UnboundedReceiver<usize>,
    batch_port: Recipient<Batch>,
    clock: HandClock,
}

fn fixture() -> Fixture {
    with_head(Head::opened(ledger_info(0)))
}

fn with_head(head: Head) -> Fixture {
    let (tell_dropped, dropped) = mpsc::unbounded_channel();
    let (tell_absent, absent) = mpsc::unbounded_channel();
    let (tell_batch, batches) = mpsc::unbounded_channel();
    let clock = HandClock::at_secs(NOW);
    let actor = Mempool::new(
        Pool::new(MempoolConfig::default()),
        100,
        10,
        ledger_clock(&clock),
        HeadCell::new(head),
        (
            Recipient::new(move |dropped| tell_dropped.send(dropped).unwrap()),
            Recipient::new(move |absent| tell_absent.send(absent).unwrap()),
        ),
        Arc::default(),
    );
    Fixture {
        mempool: Mailbox::start_here("mempool", 100, actor, &FatalErrorReporter::new()),
        dropped,
        absent,
        batches,
        batch_port: Recipient::new(move |batch: Batch| tell_batch.send(batch.0.len()).unwrap()),
        clock,
    }
}

impl Fixture {
    async fn submit(&self, draft: Draft) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let (reply, answer) = oneshot::channel();
        let submit = Submit {
            transaction: draft.checked(),
            sequence_number: 0,
            reply,
        };
        self.mempool.try_request(submit).unwrap();
        answer.await.unwrap()
    }

    fn pull(&self) {
        self.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: 10,
                bytes_max: usize::MAX,
            },
            reply_to: self.batch_port.clone(),
        });
    }

    async fn find(&self, hash: ledger_crypto::HashValue) -> PendingStatus {
        let (reply, answer) = oneshot::channel();
        self.mempool
            .try_request(GetPending { hash, reply })
            .unwrap();
        answer.await.unwrap()
    }
}

#[actix::test]
async fn a_pull_waits_for_the_first_transaction_and_takes_it_once() {
    let mut fixture = fixture();
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
        fixture.find(parked.hash()).await,
        PendingStatus::Pending(_)
    ));
    assert!(
        fixture.batches.try_recv().is_err(),
        "one batch for one pull"
    );
    fixture.pull();
    assert_eq!(fixture.batches.recv().await, Some(1));
}

#[actix::test]
async fn the_committer_is_told_only_of_those_that_are_not_there() {
    let mut fixture = fixture();
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
    let [waiter, other, last] = [1, 2, 3].map(WaiterId);
    for (hash, waiter) in [(pending, waiter), (expired, other), (unknown, last)] {
        fixture.mempool.send(CheckPending { hash, waiter });
    }
    let reason = RemovalReason::Expired { at_secs: NOW + 1 };
    for (hash, waiter, reason) in [(expired, other, Some(reason)), (unknown, last, None)] {
        let told = fixture.absent.recv().await.unwrap();
        assert_eq!(
            (told.hash, told.waiter, told.reason),
            (hash, waiter, reason)
        );
    }
}

#[actix::test]
async fn an_idle_node_expires_by_the_clock() {
    let mut fixture = fixture();
    let transaction = fixture
        .submit(draft(1, 0).expires_at(NOW + 30))
        .await
        .unwrap();
    tokio::time::pause();
    tokio::time::advance(EXPIRY_INTERVAL).await;
    assert!(matches!(
        fixture.find(transaction.hash()).await,
        PendingStatus::Pending(_)
    ));
    fixture.clock.pass_secs(30);
    let reason = RemovalReason::Expired { at_secs: NOW + 30 };
    let told = tokio::time::timeout(2 * EXPIRY_INTERVAL, fixture.dropped.recv()).await;
    let TransactionsRemoved(left) = told.expect("by the timer alone").unwrap();
    assert_eq!(left, [(transaction.hash(), reason.clone())]);
    assert!(
        matches!(fixture.find(transaction.hash()).await, PendingStatus::Removed(told) if told == reason)
    );
}

#[actix::test]
async fn what_no_block_takes_any_more_has_expired_also_where_the_clock_was_set_back() {
    let fixture = fixture();
    let pending = fixture
        .submit(draft(1, 0).expires_at(NOW + 5))
        .await
        .unwrap();
    let mut later = Arc::unwrap_or_clone(block(1, &[], &[]));
    later.header.timestamp_usecs = (NOW + 5) * 1_000_000;
    fixture.mempool.send(BlockCommitted(Arc::new(later)));
    let found = fixture.find(pending.hash()).await;
    assert!(
        matches!(found, PendingStatus::Removed(RemovalReason::Expired { at_secs }) if at_secs == NOW + 5),
        "{found:?}"
    );
}

#[actix::test]
async fn what_has_expired_meanwhile_is_given_to_no_block() {
    let mut fixture = fixture();
    fixture
        .submit(draft(1, 0).expires_at(NOW + 1))
        .await
        .unwrap();
    fixture.submit(draft(2, 0)).await.unwrap();
    fixture.clock.pass_secs(1);
    fixture.pull();
    assert_eq!(fixture.batches.recv().await, Some(1));
    assert_eq!(fixture.dropped.recv().await.unwrap().0.len(), 1);
}

#[actix::test]
async fn who_has_expired_is_not_given_to_a_pull_that_waited() {
    let mut fixture = fixture();
    fixture
        .submit(draft(1, 1).expires_at(NOW + 1))
        .await
        .unwrap();
    fixture.pull();
    fixture.clock.pass_secs(1);
    fixture.submit(draft(1, 0)).await.unwrap();
    assert_eq!(fixture.batches.recv().await, Some(1));
    assert_eq!(fixture.dropped.recv().await.unwrap().0.len(), 1);
}

#[actix::test]
async fn a_block_at_its_bytes_with_others_left_raises_the_price() {
    let mut fixture = fixture();
    let first = fixture.submit(draft(1, 0).price(400)).await.unwrap();
    let second = fixture.submit(draft(2, 0).price(350)).await.unwrap();
    let mut estimates = Vec::new();
    for (height, transaction) in [(1, first), (2, second)] {
        fixture.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: 10,
                bytes_max: 1,
            },
            reply_to: fixture.batch_port.clone(),
        });
        assert_eq!(fixture.batches.recv().await, Some(1));
        let block = block(height, &[transaction], &[]);
        fixture.mempool.send(BlockCommitted(block));
        let (reply, answer) = oneshot::channel();
        fixture.mempool.try_request(GetGasPrice { reply }).unwrap();
        estimates.push(answer.await.unwrap());
    }
    assert_eq!(estimates[0].deprioritized_gas_estimate, 500);
    assert_eq!(
        estimates[1].deprioritized_gas_estimate, 100,
        "nobody was left over"
    );
}

/// A client that received no response submits its transaction again. The second copy is validated
/// before the block is durable, and arrives after its [`BlockCommitted`].
#[actix::test]
async fn what_was_executed_while_it_came_again_is_not_pending() {
    let executed = orderless(1, 7).checked();
    let head = Head::opened(ledger_info(0)).with_block(block(1, slice::from_ref(&executed), &[]));
    let fixture = with_head(head);
    let error = fixture.submit(orderless(1, 7)).await.unwrap_err();
    let used = ValidationStatus::NonceAlreadyUsed;
    assert!(
        matches!(&error, SubmitError::Invalid(discard) if discard.status == used),
        "{error}"
    );
    assert!(matches!(
        fixture.find(executed.hash()).await,
        PendingStatus::Unknown
    ));
    fixture.submit(orderless(1, 8)).await.unwrap();
}

#[actix::test]
async fn a_closed_pool_gives_no_batch_and_everything_else() {
    let mut fixture = fixture();
    fixture.submit(draft(1, 0)).await.unwrap();
    let (reply, contents) = oneshot::channel();
    fixture.mempool.send(Close { reply });
    assert_eq!(contents.await.unwrap().len(), 1);
    fixture.pull();
    let (reply, answer) = oneshot::channel();
    let submit = Submit {
        transaction: draft(2, 0).checked(),
        sequence_number: 0,
        reply,
    };
    fixture.mempool.try_request(submit).unwrap();
    assert!(answer.await.is_err(), "the node is stopping");
    assert!(fixture.batches.try_recv().is_err());
}

#[actix::test]
async fn removes_expired_transactions_while_the_mailbox_is_never_empty() {
    let mut fixture = fixture();
    let expired = fixture
        .submit(draft(1, 0).expires_at(NOW + 1))
        .await
        .unwrap();
    tokio::time::pause();
    let flood = fixture.mempool.flood();
    fixture.clock.pass_secs(1);
    tokio::time::advance(EXPIRY_INTERVAL + RESOLUTION).await;
    let reason = RemovalReason::Expired { at_secs: NOW + 1 };
    let TransactionsRemoved(removed) = fixture.dropped.recv().await.unwrap();
    assert_eq!(removed, [(expired.hash(), reason)]);
    assert!(flood.is_running());
}
