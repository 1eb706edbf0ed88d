//! Tests of transactions with nonces.

use super::*;
use ledger_types::{Discard, transaction::TransactionPayload};

fn error_text<T: std::fmt::Debug>(outcome: Result<T, SubmitError>) -> String {
    outcome.unwrap_err().to_string()
}

/// Returns the nonces of the transactions in a batch.
fn nonces(batch: &[Arc<CheckedTransaction>]) -> Vec<u64> {
    let payloads = batch.iter().map(|transaction| &transaction.raw().payload);
    payloads
        .filter_map(TransactionPayload::replay_protection_nonce)
        .collect()
}

#[test]
fn orderless_transactions_are_ready_independently() {
    let mut pool = pool(|_| ());
    submit(&mut pool, orderless(1, 9)).unwrap();
    submit(&mut pool, draft(1, 3)).unwrap();
    submit(&mut pool, orderless(1, 4).price(300)).unwrap();
    submit(&mut pool, orderless(1, 7)).unwrap();
    assert_eq!(nonces(&pool.take_batch(NO_LIMITS)), [4, 9, 7]);
    assert!(!pool.has_ready(), "number 3 is parked");
    assert_eq!(pool.len(), 4);
}

#[test]
fn replaces_orderless_transactions_by_the_same_rules() {
    let mut pool = pool(|_| ());
    let first = submit(&mut pool, orderless(1, 7).price(200)).unwrap();
    let again = Draft {
        number: 5,
        ..orderless(1, 7).price(200)
    };
    let error = submit(&mut pool, again).expect_err("its sequence number has no meaning");
    assert!(matches!(error, SubmitError::OtherSignature { pending } if pending == first.hash()));
    let other = orderless(1, 7).argument(b"other");
    assert_eq!(
        error_text(submit(&mut pool, other)),
        "Transaction already in mempool with a different payload"
    );
    assert_eq!(
        error_text(submit(&mut pool, orderless(1, 7).price(199))),
        "Transaction already in mempool with a higher gas price"
    );
    let second = submit(&mut pool, orderless(1, 7).price(201)).unwrap();
    assert_eq!(
        pool.drain_removed(),
        [removed(&first, RemovalReason::Replaced(second.hash()))]
    );
    submit(&mut pool, draft(1, 7)).expect("a nonce is no sequence number");
    submit(&mut pool, orderless(2, 7)).expect("accounts have separate nonces");
    pool.take_batch(NO_LIMITS);
    let used = Discard::from(ValidationStatus::NonceAlreadyUsed).used_by(second.hash());
    assert_eq!(
        error_text(submit(&mut pool, orderless(1, 7).price(900))),
        used.to_string()
    );
    assert!(
        submit(&mut pool, orderless(1, 7).price(201)).is_ok(),
        "the pending transaction again"
    );
}

#[test]
fn enforces_the_orderless_capacity_of_an_account() {
    let mut pool = pool(|limits| {
        limits.capacity_per_account = 1;
        limits.capacity_per_account_orderless = 2;
    });
    submit(&mut pool, orderless(1, 0)).unwrap();
    submit(&mut pool, orderless(1, 1)).unwrap();
    submit(&mut pool, draft(1, 0)).expect("sequence numbers have a separate capacity");
    assert_eq!(
        error_text(submit(&mut pool, orderless(1, 2).price(900))),
        "Mempool over capacity for account. Number of orderless transactions from account: 2, Capacity: 2"
    );
    assert!(
        submit(&mut pool, orderless(1, 1).price(900)).is_ok(),
        "it replaces the pending transaction"
    );
    submit(&mut pool, orderless(2, 2)).unwrap();
    let taken = pool.take_batch(NO_LIMITS);
    assert!(
        submit(&mut pool, orderless(1, 3)).is_err(),
        "taken transactions count"
    );
    pool.commit(&block(1, &taken, &[]));
    submit(&mut pool, orderless(1, 3)).unwrap();
}

#[test]
fn evicts_parked_transactions_for_orderless_ones() {
    let mut pool = pool(|limits| limits.capacity_transactions = 2);
    let parked = submit(&mut pool, draft(1, 1)).unwrap();
    submit(&mut pool, orderless(1, 1)).unwrap();
    submit(&mut pool, orderless(2, 1)).unwrap();
    let removed = pool.drain_removed();
    assert_eq!(removed[0].hash, parked.hash());
    assert!(matches!(removed[0].reason, RemovalReason::Evicted(_)));
    assert_eq!(
        error_text(submit(&mut pool, orderless(3, 1).price(900))),
        "Mempool is full. Mempool size: 2, Capacity: 2"
    );
    assert!(
        submit(&mut pool, draft(3, 0)).is_err(),
        "orderless transactions are never evicted"
    );
}

#[test]
fn removes_transactions_by_nonce_after_a_durable_block() {
    let mut pool = pool(|_| ());
    let superseded = submit(&mut pool, orderless(1, 7).signature(1)).unwrap();
    let same = submit(&mut pool, orderless(1, 8)).unwrap();
    let unaffected = [orderless(2, 7), orderless(1, 9), draft(1, 7)].map(Draft::checked);
    for transaction in &unaffected {
        let pending = Pending {
            transaction: Arc::clone(transaction),
            inserted_at_secs: NOW,
        };
        pool.submit(pending, 0, NOW).unwrap();
    }
    let executed = [orderless(1, 7).signature(2).checked(), Arc::clone(&same)];
    pool.commit(&block(1, &executed, &[]));
    let used = Discard::from(ValidationStatus::NonceAlreadyUsed);
    assert_eq!(
        pool.drain_removed(),
        [removed(&superseded, RemovalReason::Rejected(used))]
    );
    assert_eq!(pool.len(), 3);
    assert!(unaffected.iter().all(|one| pool.get(&one.hash()).is_some()));
}

#[test]
fn removes_rejected_and_returns_left_out_orderless_transactions() {
    let mut pool = pool(|_| ());
    for nonce in 0..4 {
        submit(&mut pool, orderless(1, nonce).expires_at(NOW + 50 + nonce)).unwrap();
    }
    let taken = pool.take_batch(NO_LIMITS);
    let rejected = [
        (Arc::clone(&taken[1]), ValidationStatus::NonceAlreadyUsed),
        (Arc::clone(&taken[2]), ValidationStatus::TransactionExpired),
    ];
    let full = leaving_out(block(1, &taken[..1], &rejected), &taken[3..]);
    pool.commit(&full);
    pool.commit(&full);
    let used = RemovalReason::Rejected(Discard::from(ValidationStatus::NonceAlreadyUsed));
    let expired = |at_secs| RemovalReason::Expired { at_secs };
    assert_eq!(
        pool.drain_removed(),
        [
            removed(&taken[1], used),
            removed(&taken[2], expired(NOW + 52)),
        ]
    );
    assert_eq!((pool.len(), pool.has_ready()), (1, true));
    pool.expire(NOW + 53);
    assert_eq!(
        pool.drain_removed(),
        [removed(&taken[3], expired(NOW + 53))]
    );
    assert_eq!((pool.len(), pool.has_ready()), (0, false));
}

#[test]
fn expires_orderless_transactions_by_own_expiration_and_time_to_live() {
    let mut pool = pool(|limits| limits.ttl_secs = 30);
    let by_own_expiration = submit(&mut pool, orderless(1, 0).expires_at(NOW + 10)).unwrap();
    let by_ttl = submit(&mut pool, orderless(1, 1).expires_at(NOW + 90)).unwrap();
    pool.expire(NOW + 29);
    let expired = |at_secs| RemovalReason::Expired { at_secs };
    assert_eq!(
        pool.drain_removed(),
        [removed(&by_own_expiration, expired(NOW + 10))]
    );
    pool.expire(NOW + 30);
    assert_eq!(pool.drain_removed(), [removed(&by_ttl, expired(NOW + 30))]);
    assert!(!pool.has_ready());
}
