//! Tests of the order of transactions with the same price.

use super::*;
use crate::testing::orderless;

fn batch(pool: &mut Pool, transactions_max: usize) -> Vec<Arc<CheckedTransaction>> {
    pool.take_batch(BatchLimits {
        transactions_max,
        ..NO_LIMITS
    })
}

/// Returns the number of transactions per sender.
fn count_by_sender(batch: &[Arc<CheckedTransaction>]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for transaction in batch {
        *counts.entry(sender_and_number(transaction).0).or_default() += 1;
    }
    counts
}

/// Returns a pool in which account 1 has reached all its limits at one price.
fn pool_flooded_by_account_1() -> Pool {
    let mut pool = pool(|_| ());
    for nonce in 0..5_000 {
        submit(&mut pool, orderless(1, nonce)).unwrap();
    }
    for number in 0..100 {
        submit(&mut pool, draft(1, number)).unwrap();
    }
    pool
}

#[test]
fn serves_a_new_account_in_the_next_batch_despite_a_flood() {
    let mut pool = pool_flooded_by_account_1();
    batch(&mut pool, 1_000);
    let newcomers = [draft(2, 0), draft(2, 1), orderless(3, 0)];
    for newcomer in newcomers {
        submit(&mut pool, newcomer).unwrap();
    }
    let next = batch(&mut pool, 10);
    assert_eq!(
        count_by_sender(&next),
        BTreeMap::from([(1, 7), (2, 2), (3, 1)])
    );
}

#[test]
fn alternates_accounts_with_many_transactions() {
    let mut pool = pool_flooded_by_account_1();
    for nonce in 0..1_000 {
        submit(&mut pool, orderless(2, nonce)).unwrap();
    }
    for number in 0..100 {
        submit(&mut pool, draft(3, number)).unwrap();
    }
    for _ in 0..10 {
        let counts = count_by_sender(&batch(&mut pool, 30));
        assert_eq!(counts, BTreeMap::from([(1, 10), (2, 10), (3, 10)]));
    }
}

#[test]
fn takes_higher_prices_first_without_advancing_tags_of_lower_ones() {
    let mut pool = pool_flooded_by_account_1();
    for nonce in 0..3_000 {
        submit(&mut pool, orderless(2, nonce).price(300)).unwrap();
    }
    let best = batch(&mut pool, 2_900);
    assert_eq!(count_by_sender(&best), BTreeMap::from([(2, 2_900)]));
    submit(&mut pool, draft(3, 0)).unwrap();
    let next = batch(&mut pool, 102);
    assert_eq!(
        count_by_sender(&next),
        BTreeMap::from([(1, 1), (2, 100), (3, 1)])
    );
}

#[test]
fn tags_at_one_price_do_not_delay_the_account_at_another() {
    let mut pool = pool_flooded_by_account_1();
    for sender in 2..5 {
        submit(&mut pool, draft(sender, 0).price(300)).unwrap();
    }
    submit(&mut pool, orderless(1, 9_999).price(300)).unwrap_err();
    batch(&mut pool, 3);
    let taken = batch(&mut pool, 1);
    pool.commit(&block(1, &taken, &[]));
    for sender in 2..5 {
        submit(&mut pool, orderless(sender, 0).price(300)).unwrap();
    }
    submit(&mut pool, orderless(1, 9_999).price(300)).unwrap();
    submit(&mut pool, orderless(2, 1).price(300)).unwrap();
    let counts = count_by_sender(&batch(&mut pool, 4));
    assert_eq!(counts, BTreeMap::from([(1, 1), (2, 1), (3, 1), (4, 1)]));
}

#[test]
fn takes_each_account_in_order_of_sequence_numbers() {
    let mut pool = pool_flooded_by_account_1();
    for number in (0..50).rev() {
        submit(&mut pool, draft(2, number)).unwrap();
    }
    let all = batch(&mut pool, usize::MAX);
    for (sender, count) in [(1, 100), (2, 50)] {
        let of_sender = all.iter().map(|transaction| sender_and_number(transaction));
        let numbers = of_sender.filter(|&(from, number)| from == sender && number != u64::MAX);
        assert!(numbers.map(|(_, number)| number).eq(0..count));
    }
}

#[test]
fn left_out_transactions_retain_their_start_tags() {
    let mut pool = pool_flooded_by_account_1();
    submit(&mut pool, draft(2, 0)).unwrap();
    let taken = batch(&mut pool, 2);
    batch(&mut pool, 500);
    pool.commit(&leaving_out(block(1, &[], &[]), &taken));
    assert_eq!(batch(&mut pool, 2), taken);
}

#[test]
fn left_out_sequence_retains_its_start_tags() {
    let mut pool = pool_flooded_by_account_1();
    for number in 0..5 {
        submit(&mut pool, draft(2, number)).unwrap();
    }
    let taken = batch(&mut pool, 10);
    assert_eq!(count_by_sender(&taken), BTreeMap::from([(1, 5), (2, 5)]));
    batch(&mut pool, 500);
    pool.commit(&leaving_out(block(1, &[], &[]), &taken));
    submit(&mut pool, draft(3, 0)).unwrap();
    assert_eq!(batch(&mut pool, 10), taken);
}

#[test]
fn serves_accounts_equally_after_one_was_alone() {
    let mut pool = pool(|_| ());
    let mut height = 0;
    // For a long time only account 1 submits transactions.
    for nonce in 0..300 {
        submit(&mut pool, orderless(1, nonce)).unwrap();
        submit(&mut pool, orderless(1, 1_000 + nonce)).unwrap();
        let taken = batch(&mut pool, 9);
        height += 1;
        pool.commit(&block(height, &taken, &[]));
    }
    for nonce in 0..100 {
        submit(&mut pool, orderless(2, nonce)).unwrap();
    }
    for nonce in 0..100 {
        submit(&mut pool, orderless(1, 5_000 + nonce)).unwrap();
    }
    assert_eq!(
        count_by_sender(&batch(&mut pool, 20)),
        BTreeMap::from([(1, 10), (2, 10)])
    );
}

#[test]
fn parked_transactions_accumulate_no_turns() {
    for is_behind_a_low_price in [false, true] {
        let mut pool = pool(|_| ());
        for number in 1..20 {
            submit(&mut pool, draft(1, number)).unwrap();
        }
        if is_behind_a_low_price {
            submit(&mut pool, draft(1, 0).price(50)).unwrap();
        }
        for nonce in 0..100 {
            submit(&mut pool, orderless(2, nonce)).unwrap();
        }
        batch(&mut pool, 50);
        submit(&mut pool, draft(1, 0).price(300)).unwrap();
        for nonce in 0..20 {
            submit(&mut pool, orderless(3, nonce)).unwrap();
        }
        batch(&mut pool, 1);
        // The price has reached start tag 49, and account 2 has used it.
        let counts = count_by_sender(&batch(&mut pool, 29));
        assert_eq!(counts, BTreeMap::from([(1, 10), (2, 9), (3, 10)]));
    }
}
