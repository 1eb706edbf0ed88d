//! Tests of the limits of the pool and of accounts, and of eviction.

use super::*;
use ledger_test_support::development_chain;
use ledger_types::transaction::{
    MultiEd25519PublicKey, MultiEd25519Signature, TransactionAuthenticator,
};

#[test]
fn evicts_parked_transactions_only_for_ready_ones() {
    let mut pool = pool(|limits| limits.capacity_transactions = 3);
    let parked = [
        submit(&mut pool, draft(1, 5)).unwrap(),
        submit(&mut pool, draft(1, 7)).unwrap(),
    ];
    submit(&mut pool, draft(2, 0)).unwrap();
    let full = submit(&mut pool, draft(3, 1)).unwrap_err();
    assert_eq!(
        full.to_string(),
        "Mempool is full. Mempool size: 3, Capacity: 3"
    );
    submit(&mut pool, draft(3, 0)).unwrap();
    let removed = pool.drain_removed();
    assert_eq!(removed.len(), 1);
    assert_eq!(
        removed[0].hash,
        parked[1].hash(),
        "the highest number is evicted first"
    );
    assert!(matches!(removed[0].reason, RemovalReason::Evicted(_)));
    submit(&mut pool, draft(4, 0)).unwrap();
    assert!(
        matches!(
            submit(&mut pool, draft(5, 0).price(10_000)),
            Err(SubmitError::Full { .. })
        ),
        "ready transactions are never evicted, whatever the price"
    );
    take(&mut pool, 9);
    assert!(matches!(
        submit(&mut pool, draft(5, 0)),
        Err(SubmitError::Full { .. })
    ));
}

#[test]
fn check_capacity_returns_the_errors_of_submit() {
    let check_capacity = |pool: &Pool, draft: Draft| {
        let transaction = draft.checked();
        let outcome = pool.check_capacity(PoolKey::of(transaction.raw()), transaction.size_bytes());
        outcome.map_err(|error| error.to_string())
    };
    let mut pool = pool(|limits| {
        limits.capacity_transactions = 3;
        limits.capacity_per_account = 2;
    });
    for (account, number) in [(1, 0), (1, 1), (2, 1)] {
        submit(&mut pool, draft(account, number)).unwrap();
    }
    assert!(
        check_capacity(&pool, draft(3, 0)).is_ok(),
        "a parked transaction can be evicted"
    );
    let account_full = submit(&mut pool, draft(1, 2)).unwrap_err().to_string();
    assert_eq!(check_capacity(&pool, draft(1, 2)), Err(account_full));
    submit(&mut pool, draft(3, 0)).unwrap();
    let full = submit(&mut pool, draft(4, 0)).unwrap_err().to_string();
    assert_eq!(check_capacity(&pool, draft(4, 0)), Err(full));
    assert!(
        check_capacity(&pool, draft(3, 0).price(10_000)).is_ok(),
        "it may replace the pending transaction of its account"
    );
}

/// A replacement may have more signatures than the pending transaction.
#[test]
fn rejects_a_larger_replacement_above_the_byte_capacity() {
    let mut signed = draft(1, 0).price(200).checked().transaction().clone();
    signed.authenticator = TransactionAuthenticator::MultiEd25519 {
        public_key: MultiEd25519PublicKey(vec![1; 33].into()),
        signature: MultiEd25519Signature(vec![1; 68].into()),
    };
    let larger = Pending {
        transaction: Arc::new(CheckedTransaction::new_unchecked(
            signed,
            development_chain().vendor(),
        )),
        inserted_at_secs: NOW,
    };
    let before = draft(1, 0).checked().size_bytes();
    for (capacity_bytes, is_full) in [
        (larger.transaction.size_bytes() - 1, true),
        (larger.transaction.size_bytes(), false),
    ] {
        assert!(before < capacity_bytes);
        let mut pool = pool(|limits| limits.capacity_bytes = capacity_bytes);
        let first = submit(&mut pool, draft(1, 0)).unwrap();
        let outcome = pool.submit(larger.clone(), 0, NOW);
        assert_eq!(
            matches!(outcome, Err(SubmitError::Full { .. })),
            is_full,
            "{outcome:?}"
        );
        assert_eq!(pool.get(&first.hash()).is_some(), is_full);
        invariants::check_indices(&pool);
    }
}

#[test]
fn enforces_the_byte_capacity_independently() {
    let size = draft(1, 0).checked().size_bytes();
    let mut pool = pool(|limits| limits.capacity_bytes = 2 * size);
    submit(&mut pool, draft(1, 0)).unwrap();
    submit(&mut pool, draft(2, 1)).unwrap();
    let large = draft(3, 0).argument(&vec![0; size]);
    let full = submit(&mut pool, large).unwrap_err();
    assert!(full.to_string().ends_with("bytes"), "{full}");
    assert_eq!(
        (pool.len(), pool.drain_removed().len()),
        (2, 0),
        "a rejection evicts no transaction"
    );
    submit(&mut pool, draft(3, 0)).unwrap();
    assert_eq!((pool.len(), pool.drain_removed().len()), (2, 1));
}

#[test]
fn enforces_the_time_capacity_independently() {
    let large = |sender, number| draft(sender, number).argument(&[0; 60_000]);
    let cost_usecs = pool(|_| ()).costs.estimate_usecs(&large(1, 0).checked());
    let capacity_time_ms = 2 * cost_usecs / 1_000 + 1;
    let mut pool = pool(|limits| limits.capacity_time_ms = capacity_time_ms);
    submit(&mut pool, large(1, 0)).unwrap();
    submit(&mut pool, large(2, 1)).unwrap();
    let full = submit(&mut pool, large(3, 1)).unwrap_err();
    let size_ms = 2 * cost_usecs / 1_000;
    assert_eq!(
        full.to_string(),
        format!(
            "Mempool is full. Mempool size: {size_ms} ms of estimated execution, Capacity: \
             {capacity_time_ms} ms of estimated execution"
        )
    );
    assert_eq!(pool.drain_removed(), []);
    submit(&mut pool, large(3, 0)).unwrap();
    assert_eq!(
        (pool.len(), pool.drain_removed().len()),
        (2, 1),
        "a parked transaction is evicted for a ready one"
    );
    assert!(submit(&mut pool, large(4, 0)).is_err());
    let size_bytes = large(4, 0).checked().size_bytes();
    let key = PoolKey::of(large(4, 0).checked().raw());
    assert!(
        pool.check_capacity(key, 100).is_ok(),
        "a small transaction fits, as far as the check can know"
    );
    assert!(pool.check_capacity(key, 40 * size_bytes).is_err());
    take(&mut pool, 9);
    invariants::check_indices(&pool);
}

#[test]
fn lets_an_account_at_its_capacity_fill_its_gap() {
    let mut pool = pool(|limits| limits.capacity_per_account = 2);
    submit(&mut pool, draft(1, 1)).unwrap();
    let highest = submit(&mut pool, draft(1, 3)).unwrap();
    assert!(matches!(
        submit(&mut pool, draft(1, 2)),
        Err(SubmitError::AccountFull { .. })
    ));
    submit(&mut pool, draft(1, 0)).unwrap();
    assert_eq!(pool.drain_removed()[0].hash, highest.hash());
    assert_eq!(take(&mut pool, 9), [(1, 0), (1, 1)]);
    let full = submit(&mut pool, draft(1, 2)).unwrap_err();
    assert_eq!(
        full.to_string(),
        "Mempool over capacity for account. Number of transactions from account: 2, Capacity: 2"
    );
}

#[test]
fn fills_the_gap_of_an_account_with_capacity_for_one() {
    let mut pool = pool(|limits| limits.capacity_per_account = 1);
    submit(&mut pool, draft(1, 1)).unwrap();
    submit(&mut pool, draft(1, 0)).unwrap();
    assert_eq!(take(&mut pool, 9), [(1, 0)]);
}

#[test]
fn does_not_park_transactions_behind_taken_ones() {
    let mut pool = pool(|limits| limits.capacity_transactions = 10);
    for number in 0..9 {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    let first = pool.take_batch(BatchLimits {
        transactions_max: 5,
        ..NO_LIMITS
    });
    assert_eq!(take(&mut pool, 1), [(1, 5)]);
    pool.commit(&leaving_out(block(1, &first[..3], &[]), &first[3..]));
    let parked = [(2, 1), (2, 2), (2, 3), (2, 4)].map(|(sender, number)| {
        let parked = submit(&mut pool, draft(sender, number)).unwrap();
        parked.hash()
    });
    submit_at(&mut pool, draft(1, 9), 3).expect("9 is the first missing number");
    assert_eq!(pool.drain_removed()[0].hash, parked[3]);
    for sender in 3..6 {
        submit(&mut pool, draft(sender, 0)).unwrap();
    }
    assert_eq!(pool.drain_removed().len(), 3, "all parked transactions");
    let head = submit(&mut pool, draft(6, 0));
    assert!(matches!(head, Err(SubmitError::Full { .. })), "{head:?}");
    assert_eq!(pool.drain_removed(), []);
}

#[test]
fn filling_a_gap_promotes_all_transactions_behind_it() {
    let mut pool = pool(|limits| limits.capacity_transactions = 6);
    for number in [1, 2, 4, 5] {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    submit(&mut pool, draft(2, 1)).unwrap();
    submit(&mut pool, draft(1, 0)).unwrap();
    assert_eq!(take(&mut pool, 9), [(1, 0), (1, 1), (1, 2)]);
    // The pool is full and evicts a parked transaction of the next account in address order.
    submit(&mut pool, draft(1, 3)).unwrap();
    assert_eq!(pool.drain_removed().len(), 1);
    assert!(pool.get(&draft(2, 1).checked().hash()).is_none());
    assert_eq!(take(&mut pool, 9), [(1, 3), (1, 4), (1, 5)]);
}
