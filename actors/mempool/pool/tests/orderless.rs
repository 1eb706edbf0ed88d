//! Tests of transactions with nonces.

use super::*;
use ledger_types::{Discard, transaction::TransactionPayload};

fn words<T: std::fmt::Debug>(outcome: Result<T, SubmitError>) -> String {
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
fn each_is_ready_by_itself() {
    let mut pool = pool(|_| ());
    submit(&mut pool, orderless(1, 9)).unwrap();
    submit(&mut pool, draft(1, 3)).unwrap();
    submit(&mut pool, orderless(1, 4).price(300)).unwrap();
    submit(&mut pool, orderless(1, 7)).unwrap();
    assert_eq!(nonces(&pool.take_batch(ALL)), [4, 9, 7]);
    assert!(!pool.has_ready(), "number 3 is parked");
    assert_eq!(pool.len(), 4);
}

#[test]
fn the_rules_of_replacement_are_those_of_sequence_numbers() {
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
        words(submit(&mut pool, other)),
        "Transaction already in mempool with a different payload"
    );
    assert_eq!(
        words(submit(&mut pool, orderless(1, 7).price(199))),
        "Transaction already in mempool with a higher gas price"
    );
    let second = submit(&mut pool, orderless(1, 7).price(201)).unwrap();
    assert_eq!(
        pool.drain_removed(),
        [(first.hash(), RemovalReason::Replaced(second.hash()))]
    );
    submit(&mut pool, draft(1, 7)).expect("a nonce is no sequence number");
    submit(&mut pool, orderless(2, 7)).expect("nor another account's");
    pool.take_batch(ALL);
    assert_eq!(
        words(submit(&mut pool, orderless(1, 7).price(900))),
        Discard::from(ValidationStatus::NonceAlreadyUsed).to_string()
    );
    assert!(
        submit(&mut pool, orderless(1, 7).price(201)).is_ok(),
        "the same"
    );
}

#[test]
fn an_account_has_a_cap_for_them() {
    let mut pool = pool(|limits| {
        limits.capacity_per_account = 1;
        limits.capacity_per_account_orderless = 2;
    });
    submit(&mut pool, orderless(1, 0)).unwrap();
    submit(&mut pool, orderless(1, 1)).unwrap();
    submit(&mut pool, draft(1, 0)).expect("sequence numbers have a cap of their own");
    assert_eq!(
        words(submit(&mut pool, orderless(1, 2).price(900))),
        "Mempool over capacity for account. Number of orderless transactions from account: 2, Capacity: 2"
    );
    assert!(
        submit(&mut pool, orderless(1, 1).price(900)).is_ok(),
        "in its place"
    );
    submit(&mut pool, orderless(2, 2)).unwrap();
    let taken = pool.take_batch(ALL);
    assert!(
        submit(&mut pool, orderless(1, 3)).is_err(),
        "those of blocks count"
    );
    pool.commit(&block(1, &taken, &[]));
    submit(&mut pool, orderless(1, 3)).unwrap();
}

#[test]
fn a_full_pool_evicts_parked_ones_for_them() {
    let mut pool = pool(|limits| limits.capacity_transactions = 2);
    let parked = submit(&mut pool, draft(1, 1)).unwrap();
    submit(&mut pool, orderless(1, 1)).unwrap();
    submit(&mut pool, orderless(2, 1)).unwrap();
    let left = pool.drain_removed();
    assert_eq!(left[0].0, parked.hash());
    assert!(matches!(left[0].1, RemovalReason::Evicted(_)));
    assert_eq!(
        words(submit(&mut pool, orderless(3, 1).price(900))),
        "Mempool is full. Mempool size: 2, Capacity: 2"
    );
    assert!(
        submit(&mut pool, draft(3, 0)).is_err(),
        "they are never evicted"
    );
}

#[test]
fn a_durable_block_removes_by_nonce() {
    let mut pool = pool(|_| ());
    let other = submit(&mut pool, orderless(1, 7).signature(1)).unwrap();
    let own = submit(&mut pool, orderless(1, 8)).unwrap();
    let bystanders = [orderless(2, 7), orderless(1, 9), draft(1, 7)].map(Draft::checked);
    for bystander in &bystanders {
        let pending = Pending {
            transaction: Arc::clone(bystander),
            inserted_at_secs: NOW,
        };
        pool.submit(pending, 0, NOW).unwrap();
    }
    let executed = [orderless(1, 7).signature(2).checked(), Arc::clone(&own)];
    pool.commit(&block(1, &executed, &[]));
    let used = Discard::from(ValidationStatus::NonceAlreadyUsed);
    assert_eq!(
        pool.drain_removed(),
        [(other.hash(), RemovalReason::Rejected(used))]
    );
    assert_eq!(pool.len(), 3);
    assert!(bystanders.iter().all(|one| pool.get(&one.hash()).is_some()));
}

#[test]
fn who_is_refused_leaves_and_who_is_left_out_goes_back() {
    let mut pool = pool(|_| ());
    for nonce in 0..4 {
        submit(&mut pool, orderless(1, nonce).expires_at(NOW + 50 + nonce)).unwrap();
    }
    let taken = pool.take_batch(ALL);
    let refused = [
        (Arc::clone(&taken[1]), ValidationStatus::NonceAlreadyUsed),
        (Arc::clone(&taken[2]), ValidationStatus::TransactionExpired),
    ];
    let full = leaving_out(block(1, &taken[..1], &refused), &taken[3..]);
    pool.commit(&full);
    pool.commit(&full);
    let used = RemovalReason::Rejected(Discard::from(ValidationStatus::NonceAlreadyUsed));
    let expired = |at_secs| RemovalReason::Expired { at_secs };
    let left = [
        (taken[1].hash(), used),
        (taken[2].hash(), expired(NOW + 52)),
    ];
    assert_eq!(pool.drain_removed(), left);
    assert_eq!((pool.len(), pool.has_ready()), (1, true));
    pool.expire(NOW + 53);
    assert_eq!(pool.drain_removed(), [(taken[3].hash(), expired(NOW + 53))]);
    assert_eq!((pool.len(), pool.has_ready()), (0, false));
}

#[test]
fn they_expire_by_their_own_time_and_by_the_pools() {
    let mut pool = pool(|limits| limits.ttl_secs = 30);
    let own = submit(&mut pool, orderless(1, 0).expires_at(NOW + 10)).unwrap();
    let ttl = submit(&mut pool, orderless(1, 1).expires_at(NOW + 90)).unwrap();
    pool.expire(NOW + 29);
    let expired = |at_secs| RemovalReason::Expired { at_secs };
    assert_eq!(pool.drain_removed(), [(own.hash(), expired(NOW + 10))]);
    pool.expire(NOW + 30);
    assert_eq!(pool.drain_removed(), [(ttl.hash(), expired(NOW + 30))]);
    assert!(!pool.has_ready());
}
