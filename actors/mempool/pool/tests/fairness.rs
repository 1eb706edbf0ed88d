//! Tests of the order of transactions with the same price.

use super::*;
use crate::testing::orderless;

fn batch(pool: &mut Pool, transactions_max: usize) -> Vec<Arc<CheckedTransaction>> {
    pool.take_batch(BatchLimits {
        transactions_max,
        ..ALL
    })
}

/// Returns the number of transactions per sender.
fn senders(batch: &[Arc<CheckedTransaction>]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for transaction in batch {
        *counts.entry(name(transaction).0).or_default() += 1;
    }
    counts
}

/// Returns a pool in which account 1 has reached all its limits at one price.
fn flooded() -> Pool {
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
fn a_newcomer_is_in_the_next_small_batch_whatever_another_has_waiting() {
    let mut pool = flooded();
    batch(&mut pool, 1_000);
    let newcomers = [draft(2, 0), draft(2, 1), orderless(3, 0)];
    for newcomer in newcomers {
        submit(&mut pool, newcomer).unwrap();
    }
    let next = batch(&mut pool, 10);
    assert_eq!(senders(&next), BTreeMap::from([(1, 7), (2, 2), (3, 1)]));
}

#[test]
fn accounts_with_much_alternate() {
    let mut pool = flooded();
    for nonce in 0..1_000 {
        submit(&mut pool, orderless(2, nonce)).unwrap();
    }
    for number in 0..100 {
        submit(&mut pool, draft(3, number)).unwrap();
    }
    for _ in 0..10 {
        let counts = senders(&batch(&mut pool, 30));
        assert_eq!(counts, BTreeMap::from([(1, 10), (2, 10), (3, 10)]));
    }
}

#[test]
fn a_higher_price_goes_first_and_moves_no_turn_of_a_lower_one() {
    let mut pool = flooded();
    for nonce in 0..3_000 {
        submit(&mut pool, orderless(2, nonce).price(300)).unwrap();
    }
    let best = batch(&mut pool, 2_900);
    assert_eq!(senders(&best), BTreeMap::from([(2, 2_900)]));
    submit(&mut pool, draft(3, 0)).unwrap();
    let next = batch(&mut pool, 102);
    assert_eq!(senders(&next), BTreeMap::from([(1, 1), (2, 100), (3, 1)]));
}

#[test]
fn what_an_account_has_at_another_price_costs_it_no_turn() {
    let mut pool = flooded();
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
    let counts = senders(&batch(&mut pool, 4));
    assert_eq!(counts, BTreeMap::from([(1, 1), (2, 1), (3, 1), (4, 1)]));
}

#[test]
fn turns_keep_to_the_sequence() {
    let mut pool = flooded();
    for number in (0..50).rev() {
        submit(&mut pool, draft(2, number)).unwrap();
    }
    let all = batch(&mut pool, usize::MAX);
    for (sender, count) in [(1, 100), (2, 50)] {
        let of_sender = all.iter().map(|transaction| name(transaction));
        let numbers = of_sender.filter(|&(from, number)| from == sender && number != u64::MAX);
        assert!(numbers.map(|(_, number)| number).eq(0..count));
    }
}

#[test]
fn who_was_left_out_does_not_queue_again() {
    let mut pool = flooded();
    submit(&mut pool, draft(2, 0)).unwrap();
    let taken = batch(&mut pool, 2);
    batch(&mut pool, 500);
    pool.commit(&leaving_out(block(1, &[], &[]), &taken));
    assert_eq!(batch(&mut pool, 2), taken);
}

#[test]
fn a_sequence_that_was_left_out_keeps_its_turns() {
    let mut pool = flooded();
    for number in 0..5 {
        submit(&mut pool, draft(2, number)).unwrap();
    }
    let taken = batch(&mut pool, 10);
    assert_eq!(senders(&taken), BTreeMap::from([(1, 5), (2, 5)]));
    batch(&mut pool, 500);
    pool.commit(&leaving_out(block(1, &[], &[]), &taken));
    submit(&mut pool, draft(3, 0)).unwrap();
    assert_eq!(batch(&mut pool, 10), taken);
}

#[test]
fn quiet_times_give_no_account_an_advantage() {
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
        senders(&batch(&mut pool, 20)),
        BTreeMap::from([(1, 10), (2, 10)])
    );
}

#[test]
fn what_was_parked_saves_no_turns() {
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
        let counts = senders(&batch(&mut pool, 29));
        assert_eq!(counts, BTreeMap::from([(1, 10), (2, 9), (3, 10)]));
    }
}
