//! Comparison of the pool with its model over long random histories.
//!
//! A history is determined by its seed. `POOL_MODEL_SEED` sets the first seed, `POOL_MODEL_CASES`
//! the number of histories and `POOL_MODEL_STEPS` their length.

use super::history::{Counts, History};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kinds of events that a run of at least [`CASES`] histories must produce, and no others.
const HAPPENS: &str = "
    batch: all there is
    batch: ends at its bytes
    batch: none
    batch: of the most transactions
    batch: one above the bytes
    commit: goes back
    left: evicted to make room for an earlier transaction of its account
    left: evicted to make room in a full pool for a transaction that could be executed at once
    left: evicted at a restart: Mempool is full. Mempool size: Capacity:
    left: evicted at a restart: Mempool is full. Mempool size: bytes, Capacity: bytes
    left: evicted at a restart: Mempool over capacity for account. Number of orderless transactions from account: Capacity:
    left: evicted at a restart: Mempool over capacity for account. Number of transactions from account: Capacity:
    left: expired at
    left: rejected: INVALID_AUTH_KEY
    left: rejected: NONCE_ALREADY_USED
    left: rejected: SEQUENCE_NUMBER_TOO_OLD
    left: replaced by
    orderless: Mempool is full. Mempool size: Capacity:
    orderless: Mempool is full. Mempool size: bytes, Capacity: bytes
    orderless: Mempool over capacity for account. Number of orderless transactions from account: Capacity:
    orderless: NONCE_ALREADY_USED
    orderless: TRANSACTION_EXPIRED
    orderless: Transaction already in mempool with a different expiration timestamp
    orderless: Transaction already in mempool with a different max gas amount
    orderless: Transaction already in mempool with a different payload
    orderless: Transaction already in mempool with a different signature: wait for the pending transaction
    orderless: Transaction already in mempool with a higher gas price
    orderless: new
    orderless: replaces
    orderless: the same again
    restart
    restart: was executed
    sequence: Mempool is full. Mempool size: Capacity:
    sequence: Mempool is full. Mempool size: bytes, Capacity: bytes
    sequence: Mempool over capacity for account. Number of transactions from account: Capacity:
    sequence: SEQUENCE_NUMBER_TOO_OLD
    sequence: TRANSACTION_EXPIRED
    sequence: Transaction already in mempool with a different expiration timestamp
    sequence: Transaction already in mempool with a different max gas amount
    sequence: Transaction already in mempool with a different payload
    sequence: Transaction already in mempool with a different signature: wait for the pending transaction
    sequence: Transaction already in mempool with a higher gas price
    sequence: new
    sequence: replaces
    sequence: the same again
    sequence: transaction sequence number is current sequence number is
";

/// Number of histories that is enough to produce every kind of event.
const CASES: u64 = 40;

fn number_from(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable);
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn the_pool_does_what_a_plain_list_does() {
    let first = number_from("POOL_MODEL_SEED", 1);
    let cases = number_from("POOL_MODEL_CASES", CASES);
    let steps = number_from("POOL_MODEL_STEPS", 600);
    let mut counts = Counts::new();
    for seed in first..first + cases {
        let mut history = History::new(seed, &mut counts);
        let run = AssertUnwindSafe(|| (0..steps).for_each(|_| history.step()));
        if let Err(panic) = catch_unwind(run) {
            let at = history.height;
            let replay = format!("POOL_MODEL_SEED={seed} POOL_MODEL_CASES=1");
            let words = panic.downcast_ref::<String>().map_or("", String::as_str);
            panic!("{replay} fails the same way, after {at} blocks: {words}");
        }
    }
    let expected: Vec<_> = HAPPENS
        .lines()
        .map(str::trim)
        .filter(|what| !what.is_empty())
        .collect();
    let never = expected.iter().filter(|what| !counts.contains_key(**what));
    let unexpected = counts
        .keys()
        .filter(|what| !expected.contains(&what.as_str()));
    let (never, unexpected): (Vec<_>, Vec<_>) = (never.collect(), unexpected.collect());
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(
        cases < CASES || never.is_empty(),
        "{never:#?} of {counts:#?}"
    );
}
