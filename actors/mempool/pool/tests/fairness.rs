//! Tests of the order of transactions with the same price.

use super::*;
use fastrand::Rng;
use ledger_test_support::draft::orderless;
use std::collections::VecDeque;

pub(super) fn batch(pool: &mut Pool, transactions_max: usize) -> Vec<Arc<CheckedTransaction>> {
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
    // The argument replaces the bytes of a nonce, so that all transactions have the same cost.
    let size_bytes = |draft: Draft| draft.checked().size_bytes();
    let nonce_bytes = size_bytes(orderless(3, 0)) - size_bytes(draft(3, 0));
    for number in 0..100 {
        let transaction = draft(3, number).argument(&vec![0; nonce_bytes]);
        submit(&mut pool, transaction).unwrap();
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
        // The price has reached the end tag of account 2, and the transactions of account 3 are the
        // newest.
        let counts = count_by_sender(&batch(&mut pool, 29));
        assert_eq!(counts, BTreeMap::from([(1, 10), (2, 10), (3, 9)]));
    }
}

/// Returns the sum of the estimates with which the pool admitted the transactions of each sender.
pub(super) fn cost_by_sender(pool: &Pool, batch: &[Arc<CheckedTransaction>]) -> BTreeMap<u64, u64> {
    let mut costs = BTreeMap::new();
    for transaction in batch {
        *costs.entry(sender_and_number(transaction).0).or_default() += cost(pool, transaction);
    }
    costs
}

/// Returns the estimate with which the pool admitted a transaction that it holds.
pub(super) fn cost(pool: &Pool, transaction: &CheckedTransaction) -> u64 {
    let PoolKey { sender, protector } = PoolKey::of(transaction.raw());
    pool.accounts[&sender].get(protector).unwrap().cost_usecs
}

/// Returns an orderless transaction with an argument of this size.
pub(super) fn large(sender: u64, nonce: u64, argument_bytes: usize) -> Draft {
    orderless(sender, nonce).argument(&vec![1; argument_bytes])
}

#[test]
fn gives_equal_time_to_large_and_small_transactions() {
    let mut pool = pool(|_| ());
    for nonce in 0..100 {
        submit(&mut pool, large(1, nonce, 40_000)).unwrap();
    }
    for nonce in 0..5_000 {
        submit(&mut pool, orderless(2, nonce)).unwrap();
    }
    let largest = cost(&pool, &large(1, 0, 40_000).checked());
    for _ in 0..5 {
        let batch = pool.take_batch(BatchLimits {
            usecs_max: 10 * largest,
            ..NO_LIMITS
        });
        let costs = cost_by_sender(&pool, &batch);
        let difference = costs[&1].abs_diff(costs[&2]);
        assert!(difference <= 2 * largest, "{costs:?}, largest {largest}");
        let counts = count_by_sender(&batch);
        assert!(counts[&2] > 10 * counts[&1], "{counts:?}");
    }
}

#[test]
fn a_batch_ends_before_a_long_transaction_and_may_begin_with_it() {
    let mut pool = pool(|_| ());
    let first = submit(&mut pool, orderless(1, 0)).unwrap();
    let long = submit(&mut pool, large(2, 0, 60_000)).unwrap();
    let last = submit(&mut pool, orderless(3, 0)).unwrap();
    let limits = |usecs_max| BatchLimits {
        usecs_max,
        ..NO_LIMITS
    };
    let usecs_max = LONG_SHARE * cost(&pool, &long);
    assert_eq!(pool.take_batch(limits(usecs_max - 1)), [first, last]);
    let behind = submit(&mut pool, large(3, 1, 60_000)).unwrap();
    assert_eq!(pool.take_batch(limits(usecs_max - 1)), [long]);
    assert_eq!(pool.take_batch(limits(usecs_max - 1)), [behind]);

    let first = submit(&mut pool, orderless(4, 0)).unwrap();
    let shorter = submit(&mut pool, large(5, 0, 60_000)).unwrap();
    assert_eq!(pool.take_batch(limits(usecs_max)), [first, shorter]);
}

/// The pool holds none of the account's transactions while the next one is submitted.
#[test]
fn charges_an_account_that_sends_one_large_transaction_at_a_time() {
    let mut pool = pool(|_| ());
    for sender in 2..5 {
        for nonce in 0..5_000 {
            submit(&mut pool, orderless(sender, nonce)).unwrap();
        }
    }
    let mut costs = BTreeMap::<u64, u64>::new();
    let mut largest = 0;
    for height in 1..=40 {
        if pool.accounts.len() == 3 {
            let next = submit(&mut pool, large(1, height, 60_000)).unwrap();
            largest = cost(&pool, &next);
        }
        let batch = pool.take_batch(BatchLimits {
            usecs_max: 2 * largest,
            ..NO_LIMITS
        });
        for (sender, cost) in cost_by_sender(&pool, &batch) {
            *costs.entry(sender).or_default() += cost;
        }
        pool.commit(&block(height, &batch, &[]));
    }
    assert!(largest > 2 * DEBT_MIN_USECS, "{largest}");
    assert!(
        costs[&1] <= costs[&2] + 2 * largest,
        "{costs:?}, largest {largest}"
    );
}

/// A block can return a transaction to the pool after a later block took the account's last one.
#[test]
fn an_account_with_a_returned_transaction_retains_its_debt() {
    let mut pool = pool(|_| ());
    for nonce in 0..5_000 {
        submit(&mut pool, orderless(2, nonce)).unwrap();
    }
    let [first, second] = [0, 1].map(|nonce| submit(&mut pool, large(1, nonce, 60_000)).unwrap());
    let largest = cost(&pool, &second);
    while !batch(&mut pool, 1).contains(&second) {}
    pool.commit(&leaving_out(block(1, &[], &[]), &[Arc::clone(&first)]));
    submit(&mut pool, large(1, 2, 60_000)).unwrap();
    assert_eq!(batch(&mut pool, 1), [first]);
    let small = cost(&pool, &orderless(2, 4_999).checked());
    let next = batch(&mut pool, usize::try_from(largest / 2 / small).unwrap());
    assert_eq!(
        cost_by_sender(&pool, &next).get(&1),
        None,
        "the other account has not had the time of the second transaction yet"
    );
}

/// Accounts of a random run, each with transactions of its own size.
pub(super) struct Accounts {
    pub(super) random: Rng,
    /// Largest argument of each account's transactions, in bytes.
    argument_bytes_max: Vec<usize>,
    pub(super) next_nonce: u64,
    next_numbers: Vec<u64>,
    /// Sequence numbers of the ledger.
    ledger_numbers: Vec<u64>,
}

impl Accounts {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let count = random.usize(2..6);
        let sizes = [50, 500, 5_000, 50_000];
        Self {
            argument_bytes_max: (0..count).map(|_| random.choice(sizes).unwrap()).collect(),
            next_nonce: 0,
            next_numbers: vec![0; count],
            ledger_numbers: vec![0; count],
            random,
        }
    }

    /// Returns the senders of the accounts.
    pub(super) fn senders(&self) -> impl Iterator<Item = u64> + use<> {
        0..self.argument_bytes_max.len() as u64
    }

    /// Submits a random transaction of the account, with a nonce or the next sequence number.
    pub(super) fn submit(&mut self, pool: &mut Pool, sender: u64) -> Arc<CheckedTransaction> {
        let bytes = self
            .random
            .usize(..self.argument_bytes_max[sender as usize]);
        let draft = if self.random.bool() {
            self.next_nonce += 1;
            orderless(sender, self.next_nonce)
        } else {
            let number = &mut self.next_numbers[sender as usize];
            *number += 1;
            draft(sender, *number - 1)
        };
        let ledger_number = self.ledger_numbers[sender as usize];
        submit_at(pool, draft.argument(&vec![1; bytes]), ledger_number).unwrap()
    }

    /// Commits a block with all transactions of a batch.
    fn commit(&mut self, pool: &mut Pool, height: u64, batch: &[Arc<CheckedTransaction>]) {
        for (sender, number) in batch.iter().map(|one| sender_and_number(one)) {
            if number != u64::MAX {
                self.ledger_numbers[sender as usize] = number + 1;
            }
        }
        pool.commit(&block(height, batch, &[]));
    }
}

/// Each run ends a batch by a random limit, commits blocks late, and lets accounts pause.
#[test]
fn no_account_exceeds_its_share_while_others_wait() {
    for seed in 1..=20 {
        let mut accounts = Accounts::new(seed);
        let mut pool = pool(|limits| limits.capacity_per_account = 5_000);
        // Time that each account was given, and for each pair of accounts what it was when both
        // began to wait.
        let mut given = BTreeMap::<u64, u64>::new();
        let mut since = BTreeMap::<(u64, u64), (u64, u64)>::new();
        let mut in_flight = VecDeque::new();
        let mut largest = BTreeMap::<u64, u64>::new();
        for height in 1..=60 {
            for sender in accounts.senders() {
                let count = accounts.random.usize(..30);
                if accounts.random.u8(..3) > 0 {
                    for _ in 0..count {
                        let next = accounts.submit(&mut pool, sender);
                        let most = largest.entry(sender).or_default();
                        *most = (*most).max(cost(&pool, &next));
                    }
                }
            }
            let is_waiting = |pool: &Pool, sender| {
                let account = pool.accounts.get(&AccountAddress::from_low_u64(sender));
                account.is_some_and(|account| account.entries().any(|entry| !entry.is_taken))
            };
            let waiting: Vec<_> = accounts
                .senders()
                .filter(|&sender| is_waiting(&pool, sender))
                .collect();
            since.retain(|(one, other), _| waiting.contains(one) && waiting.contains(other));
            for &one in &waiting {
                for &other in waiting.iter().filter(|&&other| other > one) {
                    let time = |of| given.get(&of).copied().unwrap_or(0);
                    since
                        .entry((one, other))
                        .or_insert_with(|| (time(one), time(other)));
                }
            }
            let batch = pool.take_batch(BatchLimits {
                transactions_max: accounts.random.usize(1..200),
                usecs_max: accounts.random.u64(1..100_000),
                ..NO_LIMITS
            });
            for (sender, cost) in cost_by_sender(&pool, &batch) {
                *given.entry(sender).or_default() += cost;
            }
            since.retain(|&(one, other), _| is_waiting(&pool, one) && is_waiting(&pool, other));
            for (&(one, other), &(one_before, other_before)) in &since {
                let time = |of, before| given.get(&of).copied().unwrap_or(0) - before;
                let difference = time(one, one_before).abs_diff(time(other, other_before));
                // Each is at most its largest transaction ahead of its even part, or behind it.
                let bound = 2 * (largest[&one] + largest[&other]);
                assert!(
                    difference <= bound,
                    "seed {seed}, block {height}: accounts {one} and {other} differ by \
                     {difference} us, the bound is {bound}"
                );
            }
            in_flight.push_back(batch);
            if in_flight.len() > accounts.random.usize(..4) {
                let oldest = in_flight.pop_front().unwrap();
                accounts.commit(&mut pool, height, &oldest);
            }
        }
    }
}
