//! Tests of the order in which accounts get their first turn.

use super::{
    fairness::{Accounts, batch, cost, cost_by_sender, large},
    *,
};

/// Size of the argument of a long transaction, in bytes.
const LONG_BYTES: usize = 60_000;

/// Number of accounts with a long transaction.
const LONG_ACCOUNTS: u64 = 1_000;

/// Takes transactions until that of the new account is taken, and returns those before it.
fn taken_before(pool: &mut Pool, newcomer: u64) -> Vec<Arc<CheckedTransaction>> {
    let mut before = Vec::new();
    loop {
        let next = batch(pool, 1).pop().expect("the new account waits");
        if sender_and_number(&next).0 == newcomer {
            return before;
        }
        before.push(next);
    }
}

/// A transaction that is longer than those of the others waits while each of them has as much time.
#[test]
fn takes_a_new_account_after_one_transaction_of_each_other_and_the_time_of_its_own() {
    for seed in 1..=20 {
        let mut accounts = Accounts::new(seed);
        let mut pool = pool(|limits| limits.capacity_per_account = 5_000);
        let senders: Vec<_> = accounts.senders().collect();
        for _ in 0..20 {
            for &sender in &senders {
                for _ in 0..accounts.random.usize(20..40) {
                    accounts.submit(&mut pool, sender);
                }
            }
            batch(&mut pool, accounts.random.usize(1..100));
            let newcomer = 100 + accounts.next_nonce;
            accounts.next_nonce += 1;
            let bytes = accounts.random.usize(..60_000);
            let newest = submit(&mut pool, large(newcomer, 0, bytes)).unwrap();
            let own_usecs = cost(&pool, &newest);
            let before = taken_before(&mut pool, newcomer);
            for &sender in &senders {
                let of_sender = |one: &&Arc<_>| sender_and_number(one).0 == sender;
                let after_first: Vec<_> =
                    before.iter().filter(of_sender).skip(1).cloned().collect();
                let usecs = cost_by_sender(&pool, &after_first);
                let usecs = usecs.get(&sender).copied().unwrap_or(0);
                assert!(
                    usecs <= own_usecs,
                    "seed {seed}: account {sender} has {usecs} us after its first transaction, \
                     before one of {own_usecs} us of a new account"
                );
            }
        }
    }
}

/// Returns a pool with accounts that have one long transaction each, and the cost of one.
fn pool_of_long_transactions() -> (Pool, u64) {
    let mut pool = pool(|_| ());
    let mut longest = 0;
    for sender in 1..=LONG_ACCOUNTS {
        let next = submit(&mut pool, large(sender, 0, LONG_BYTES)).unwrap();
        longest = cost(&pool, &next);
    }
    (pool, longest)
}

/// The wait is that of an equal part of the time, and a long transaction that is due.
#[test]
fn takes_a_short_transaction_of_a_new_account_before_the_long_ones_of_many() {
    let (mut pool, longest) = pool_of_long_transactions();
    let mut newcomer = LONG_ACCOUNTS;
    while pool.has_ready() {
        newcomer += 1;
        let short = submit(&mut pool, orderless(newcomer, 0)).unwrap();
        let bound_usecs = (LONG_ACCOUNTS + 1) * cost(&pool, &short) + 2 * longest;
        let before = taken_before(&mut pool, newcomer);
        let before_usecs: u64 = cost_by_sender(&pool, &before).values().sum();
        assert!(
            before_usecs <= bound_usecs,
            "account {newcomer} waits for {before_usecs} us, {bound_usecs} are allowed"
        );
        batch(&mut pool, 7);
    }
}

/// An account with several transactions is not behind the first ones of all others either.
#[test]
fn takes_further_short_transactions_of_an_account_beside_the_long_ones_of_many() {
    const SHORT: u64 = 10;
    let (mut pool, longest) = pool_of_long_transactions();
    let account = LONG_ACCOUNTS + 1;
    let mut short_usecs = 0;
    for nonce in 0..SHORT {
        let short = submit(&mut pool, orderless(account, nonce)).unwrap();
        short_usecs = cost(&pool, &short);
    }
    for number in 1..=SHORT {
        let before = taken_before(&mut pool, account);
        let before_usecs: u64 = cost_by_sender(&pool, &before).values().sum();
        let bound_usecs = (LONG_ACCOUNTS + 1) * short_usecs + 2 * longest;
        assert!(
            before_usecs <= bound_usecs,
            "transaction {number} waits for {before_usecs} us, {bound_usecs} are allowed"
        );
    }
}

/// Each block is followed by new accounts with a short transaction, so that one is always ready.
#[test]
fn takes_long_transactions_beside_an_endless_stream_of_new_accounts() {
    const LONG: u64 = 20;
    let mut pool = pool(|_| ());
    let mut longest = 0;
    for sender in 1..=LONG {
        let next = submit(&mut pool, large(sender, 0, LONG_BYTES)).unwrap();
        longest = cost(&pool, &next);
    }
    let (mut newcomer, mut short_usecs, mut long_taken) = (LONG, 0, 0);
    while long_taken < LONG {
        for _ in 0..2 {
            newcomer += 1;
            submit(&mut pool, orderless(newcomer, 0)).unwrap();
        }
        for taken in batch(&mut pool, 2) {
            if sender_and_number(&taken).0 <= LONG {
                long_taken += 1;
            } else {
                short_usecs += cost(&pool, &taken);
            }
        }
        // The new accounts have one part each: those of a block, and those that a long transaction
        // has delayed.
        let bound_usecs = 2 * LONG * longest;
        assert!(
            short_usecs <= bound_usecs,
            "{short_usecs} us of new accounts before {long_taken} long transactions"
        );
    }
}
