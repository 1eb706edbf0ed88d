//! Tests of the pool's rules. Submodules test limits, orderless transactions and fairness.

mod fairness;
mod limits;
mod newcomers;
mod orderless;

use super::*;
use crate::SubmitError;
use ledger_test_support::{
    block::{block, leaving_out},
    draft::{Draft, draft, orderless},
};
use ledger_types::ValidationStatus;

const NOW: u64 = 1_000;

fn pool(change: impl FnOnce(&mut MempoolConfig)) -> Pool {
    let mut limits = MempoolConfig::default();
    change(&mut limits);
    Pool::new(limits)
}

fn removed(transaction: &CheckedTransaction, reason: RemovalReason) -> Removed {
    Removed {
        hash: transaction.hash(),
        reason,
    }
}

fn submit(pool: &mut Pool, draft: Draft) -> Result<Arc<CheckedTransaction>, SubmitError> {
    submit_at(pool, draft, 0)
}

fn submit_at(
    pool: &mut Pool,
    draft: Draft,
    sequence_number: u64,
) -> Result<Arc<CheckedTransaction>, SubmitError> {
    let pending = Pending {
        transaction: draft.checked(),
        inserted_at_secs: NOW,
    };
    pool.submit(pending, sequence_number, NOW)
}

fn take(pool: &mut Pool, transactions_max: usize) -> Vec<(u64, u64)> {
    let limits = BatchLimits {
        transactions_max,
        bytes_max: usize::MAX,
        usecs_max: u64::MAX,
    };
    let batch = pool.take_batch(limits);
    batch
        .iter()
        .map(|transaction| sender_and_number(transaction))
        .collect()
}

fn sender_and_number(transaction: &CheckedTransaction) -> (u64, u64) {
    let raw = transaction.raw();
    let (_, low_bytes) = raw.sender.as_bytes().split_last_chunk().unwrap();
    (u64::from_be_bytes(*low_bytes), raw.sequence_number)
}

#[test]
fn takes_the_highest_price_first_and_each_account_in_sequence() {
    let mut pool = pool(|_| ());
    submit(&mut pool, draft(1, 0).price(200)).unwrap();
    submit(&mut pool, draft(1, 1).price(900)).unwrap();
    submit(&mut pool, draft(2, 0).price(300)).unwrap();
    submit(&mut pool, draft(3, 0).price(200)).unwrap();
    assert_eq!(take(&mut pool, 10), [(2, 0), (1, 0), (1, 1), (3, 0)]);
    assert_eq!(
        pool.len(),
        4,
        "taken transactions count until their block is durable"
    );
}

#[test]
fn parks_transactions_above_a_gap_until_it_is_filled() {
    let mut pool = pool(|_| ());
    submit(&mut pool, draft(1, 2)).unwrap();
    submit(&mut pool, draft(1, 1)).unwrap();
    assert!(!pool.has_ready());
    submit(&mut pool, draft(1, 0)).unwrap();
    assert_eq!(take(&mut pool, 10), [(1, 0), (1, 1), (1, 2)]);
}

#[test]
fn accepts_a_pending_transaction_only_with_its_first_signature() {
    for first in [draft(1, 0), orderless(1, 7)] {
        let mut pool = pool(|_| ());
        let pending = submit(&mut pool, first.clone()).unwrap().hash();
        for is_taken in [false, true] {
            if is_taken {
                assert_eq!(pool.take_batch(NO_LIMITS).len(), 1);
            }
            assert_eq!(submit(&mut pool, first.clone()).unwrap().hash(), pending);
            let error = submit(&mut pool, first.clone().signature(9)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "Transaction already in mempool with a different signature: wait for the pending \
                     transaction {pending}"
                )
            );
            assert_eq!(pool.len(), 1);
        }
        assert_eq!(pool.drain_removed(), []);
    }
}

#[test]
fn reports_a_taken_number_as_too_old_after_its_predecessor_was_left_out() {
    let mut pool = pool(|_| ());
    for number in [0, 1] {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let one = BatchLimits {
        transactions_max: 1,
        ..NO_LIMITS
    };
    let first = pool.take_batch(one);
    let second = pool.take_batch(one);
    assert_eq!(second.len(), 1);
    pool.commit(&leaving_out(block(1, &[], &[]), &first));
    let error = submit(&mut pool, draft(1, 1).price(200)).unwrap_err();
    let expected = SubmitError::SequenceNumberTooOld {
        given: 1,
        current: 2,
        used_by: second[0].hash(),
    };
    assert_eq!(error.to_string(), expected.to_string());
}

#[test]
fn accepts_another_signature_after_the_first_transaction_was_rejected() {
    let mut pool = pool(|_| ());
    let first = submit(&mut pool, draft(1, 0)).unwrap();
    let taken = pool.take_batch(NO_LIMITS);
    let rejected = (Arc::clone(&taken[0]), ValidationStatus::InvalidAuthKey);
    pool.commit(&block(1, &[], &[rejected]));
    let second = submit(&mut pool, draft(1, 0).signature(9)).unwrap();
    assert!(pool.get(&second.hash()).is_some());
    assert!(matches!(
        pool.removal_reason(&first.hash()),
        Some(RemovalReason::Rejected(_))
    ));
}

#[test]
fn replaces_a_transaction_only_at_a_higher_price() {
    let mut pool = pool(|_| ());
    let first = submit(&mut pool, draft(1, 0).price(200)).unwrap();
    let error_text =
        |outcome: Result<_, SubmitError>| outcome.map(|_: Arc<_>| ()).unwrap_err().to_string();
    assert_eq!(
        error_text(submit(&mut pool, draft(1, 0).argument(b"other"))),
        "Transaction already in mempool with a different payload"
    );
    let expiration = draft(1, 0).expires_at(5_000);
    assert_eq!(
        error_text(submit(&mut pool, expiration)),
        "Transaction already in mempool with a different expiration timestamp"
    );
    let max_gas = Draft {
        max_gas: 1,
        ..draft(1, 0)
    };
    assert_eq!(
        error_text(submit(&mut pool, max_gas)),
        "Transaction already in mempool with a different max gas amount"
    );
    assert_eq!(
        error_text(submit(&mut pool, draft(1, 0).price(199))),
        "Transaction already in mempool with a higher gas price"
    );
    let second = submit(&mut pool, draft(1, 0).price(201)).unwrap();
    assert_eq!(
        pool.drain_removed(),
        [removed(&first, RemovalReason::Replaced(second.hash()))]
    );
    assert!(pool.get(&first.hash()).is_none());
    assert_eq!(
        pool.removal_reason(&first.hash()).unwrap().to_string(),
        format!("replaced by {}", second.hash())
    );
    assert_eq!(pool.take_batch(NO_LIMITS)[0].hash(), second.hash());
}

const NO_LIMITS: BatchLimits = BatchLimits {
    transactions_max: usize::MAX,
    bytes_max: usize::MAX,
    usecs_max: u64::MAX,
};

#[test]
fn rejects_a_replacement_of_a_taken_transaction() {
    let mut pool = pool(|_| ());
    let taken = submit(&mut pool, draft(1, 0)).unwrap().hash();
    submit(&mut pool, draft(1, 1)).unwrap();
    take(&mut pool, 2);
    let error = submit(&mut pool, draft(1, 0).price(900)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "transaction sequence number is 0, current sequence number is 2; used by transaction \
             {taken}"
        )
    );
}

#[test]
fn rejects_sequence_numbers_that_the_ledger_has_passed() {
    let mut pool = pool(|_| ());
    let too_old = |error| matches!(error, SubmitError::Invalid(discard) if discard.status == ValidationStatus::SequenceNumberTooOld);
    assert!(too_old(submit_at(&mut pool, draft(1, 4), 5).unwrap_err()));
    submit_at(&mut pool, draft(1, 5), 5).unwrap();
    submit_at(&mut pool, draft(1, 6), 5).unwrap();
    let taken = pool.take_batch(BatchLimits {
        transactions_max: 1,
        ..NO_LIMITS
    });
    pool.commit(&block(1, &taken, &[]));
    // The caller read the account before that block was durable.
    assert!(too_old(submit_at(&mut pool, draft(1, 5), 5).unwrap_err()));
}

#[test]
fn removes_committed_transactions_and_promotes_later_ones() {
    let mut pool = pool(|_| ());
    for number in [0, 1, 3] {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let taken = pool.take_batch(NO_LIMITS);
    assert_eq!(taken.len(), 2);
    pool.commit(&block(1, &taken, &[]));
    assert_eq!((pool.len(), pool.has_ready()), (1, false));
    submit_at(&mut pool, draft(1, 2), 2).unwrap();
    assert_eq!(take(&mut pool, 9), [(1, 2), (1, 3)]);
    assert_eq!(pool.drain_removed(), []);
}

#[test]
fn removes_rejected_transactions_and_returns_premature_ones_to_the_pool() {
    let mut pool = pool(|_| ());
    for number in 0..3 {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let taken = pool.take_batch(NO_LIMITS);
    let rejected = [
        (
            Arc::clone(&taken[0]),
            ValidationStatus::InsufficientBalanceForTransactionFee,
        ),
        (
            Arc::clone(&taken[1]),
            ValidationStatus::SequenceNumberTooNew,
        ),
        (
            Arc::clone(&taken[2]),
            ValidationStatus::SequenceNumberTooNew,
        ),
    ];
    pool.commit(&block(1, &[], &rejected));
    let removed = pool.drain_removed();
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0].hash, taken[0].hash());
    assert_eq!(
        removed[0].reason.to_string(),
        "rejected: INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE"
    );
    assert_eq!((pool.len(), pool.has_ready()), (2, false));
    submit(&mut pool, draft(1, 0).signature(3)).unwrap();
    assert_eq!(take(&mut pool, 9), [(1, 0), (1, 1), (1, 2)]);
}

#[test]
fn returns_left_out_transactions_to_the_pool_in_order() {
    let mut pool = pool(|_| ());
    for number in 0..4 {
        submit(&mut pool, draft(1, number).price(300)).unwrap();
    }
    submit(&mut pool, draft(2, 0).price(200).expires_at(NOW + 50)).unwrap();
    let taken = pool.take_batch(NO_LIMITS);
    submit(&mut pool, draft(3, 0).price(250)).unwrap();
    submit(&mut pool, draft(1, 5)).unwrap();
    let full = leaving_out(block(1, &taken[..1], &[]), &taken[1..]);
    pool.commit(&full);
    assert_eq!(pool.contents().len(), 6, "a stop would save all of them");
    pool.commit(&full);
    assert_eq!((pool.len(), pool.drain_removed()), (6, Vec::new()));
    assert!(
        taken
            .iter()
            .all(|one| pool.removal_reason(&one.hash()).is_none())
    );
    submit_at(&mut pool, draft(1, 4), 1).unwrap();
    // In the order of prices: account 1 until its price falls, then 3, 2 and the rest of 1.
    let order = [(1, 1), (1, 2), (1, 3), (3, 0), (2, 0), (1, 4), (1, 5)];
    assert_eq!(take(&mut pool, 9), order);
}

#[test]
fn expires_transactions_that_a_block_left_out() {
    let mut pool = pool(|_| ());
    let first = submit(&mut pool, draft(1, 0).expires_at(NOW + 50)).unwrap();
    submit(&mut pool, draft(1, 1).expires_at(NOW + 60)).unwrap();
    let taken = pool.take_batch(NO_LIMITS);
    pool.expire(NOW + 50);
    pool.commit(&leaving_out(block(1, &[], &[]), &taken));
    pool.expire(NOW + 50);
    let expired = RemovalReason::Expired { at_secs: NOW + 50 };
    assert_eq!(pool.drain_removed(), [removed(&first, expired)]);
    assert_eq!((pool.len(), pool.has_ready()), (1, false));
}

#[test]
fn expires_at_the_earlier_of_own_expiration_and_time_to_live() {
    let mut pool = pool(|limits| limits.ttl_secs = 600);
    let by_own_expiration = submit(&mut pool, draft(1, 0).expires_at(NOW + 10)).unwrap();
    let by_ttl = submit(&mut pool, draft(1, 1)).unwrap();
    pool.expire(NOW + 9);
    assert_eq!(pool.drain_removed(), []);
    pool.expire(NOW + 10);
    assert_eq!(
        pool.drain_removed(),
        [removed(
            &by_own_expiration,
            RemovalReason::Expired { at_secs: NOW + 10 }
        )]
    );
    assert!(!pool.has_ready(), "the next transaction is parked");
    pool.expire(NOW + 600);
    assert_eq!(
        pool.drain_removed(),
        [removed(
            &by_ttl,
            RemovalReason::Expired { at_secs: NOW + 600 }
        )]
    );
    assert_eq!(pool.len(), 0);
    assert!(
        submit(&mut pool, draft(1, 0).expires_at(NOW)).is_err(),
        "the pool rejects an expired transaction"
    );
}

#[test]
fn expires_taken_transactions_only_after_they_wait_again() {
    let mut pool = pool(|_| ());
    submit(&mut pool, draft(1, 0).expires_at(NOW + 1)).unwrap();
    let taken = pool.take_batch(NO_LIMITS);
    pool.expire(NOW + 100);
    assert_eq!(pool.len(), 1);
    let premature = [(
        Arc::clone(&taken[0]),
        ValidationStatus::SequenceNumberTooNew,
    )];
    pool.commit(&block(1, &[], &premature));
    pool.expire(NOW + 100);
    assert_eq!(pool.len(), 0, "a released transaction expires");
}

#[test]
fn ends_a_batch_at_its_byte_limit_but_never_before_one_transaction() {
    let size = draft(1, 0).checked().size_bytes();
    let mut pool = pool(|_| ());
    for number in 0..3 {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let limits = |bytes_max| BatchLimits {
        bytes_max,
        ..NO_LIMITS
    };
    assert_eq!(pool.take_batch(limits(2 * size)).len(), 2);
    assert_eq!(pool.take_batch(limits(1)).len(), 1);
}

#[test]
fn ends_a_batch_at_its_time_limit_but_never_before_one_transaction() {
    let mut pool = pool(|_| ());
    for number in 0..40 {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let cost_usecs = pool.total.usecs / 40;
    let limits = |usecs_max| BatchLimits {
        usecs_max,
        ..NO_LIMITS
    };
    assert_eq!(pool.take_batch(limits(20 * cost_usecs)).len(), 20);
    assert_eq!(pool.take_batch(limits(1)).len(), 1);
}

#[test]
fn returns_contents_in_the_order_of_insertion() {
    let mut pool = pool(|_| ());
    for (sender, number) in [(3, 0), (1, 1), (2, 0), (1, 0)] {
        submit(&mut pool, draft(sender, number)).unwrap();
    }
    take(&mut pool, 1);
    let order: Vec<_> = pool
        .contents()
        .iter()
        .map(|pending| sender_and_number(&pending.transaction))
        .collect();
    assert_eq!(order, [(3, 0), (1, 1), (2, 0), (1, 0)]);
}

#[test]
fn records_as_expired_a_transaction_that_a_block_rejects_as_expired() {
    let mut pool = pool(|_| ());
    let expiring = submit(&mut pool, draft(1, 0).expires_at(NOW + 5)).unwrap();
    take(&mut pool, 1);
    let rejected = [(Arc::clone(&expiring), ValidationStatus::TransactionExpired)];
    pool.commit(&block(1, &[], &rejected));
    let expired = RemovalReason::Expired { at_secs: NOW + 5 };
    assert_eq!(pool.drain_removed(), [removed(&expiring, expired)]);
    assert_eq!(pool.len(), 0);
}
