//! Comparison of the pool with its model over long random histories.
//!
//! A history is determined by its seed. `POOL_MODEL_SEED` sets the first seed, `POOL_MODEL_CASES`
//! the number of histories and `POOL_MODEL_STEPS` their length.

use super::history::{Counts, History};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kinds of events that a run of at least [`CASES`] histories must produce, and no others.
const EXPECTED_EVENTS: &str = "
    batch: all ready transactions
    batch: empty
    batch: ended by one of two limits
    batch: ended by the byte limit
    batch: ended by the time limit
    batch: ended by the transaction limit
    batch: one transaction above the byte limit
    batch: one transaction above the time limit
    batch: returned
    commit: released
    decided elsewhere: not next
    decided elsewhere: taken
    orderless: Mempool is full. Mempool size: Capacity:
    orderless: Mempool is full. Mempool size: bytes, Capacity: bytes
    orderless: Mempool is full. Mempool size: ms of estimated execution, Capacity: ms of estimated execution
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
    orderless: resubmitted
    removed: evicted at a restart: Mempool is full. Mempool size: Capacity:
    removed: evicted at a restart: Mempool is full. Mempool size: bytes, Capacity: bytes
    removed: evicted at a restart: Mempool is full. Mempool size: ms of estimated execution, Capacity: ms of estimated execution
    removed: evicted at a restart: Mempool over capacity for account. Number of orderless transactions from account: Capacity:
    removed: evicted at a restart: Mempool over capacity for account. Number of transactions from account: Capacity:
    removed: evicted to make room for an earlier transaction of its account
    removed: evicted to make room in a full mempool for a ready transaction
    removed: expired at
    removed: rejected: INVALID_AUTH_KEY
    removed: rejected: NONCE_ALREADY_USED
    removed: rejected: SEQUENCE_NUMBER_TOO_OLD
    removed: replaced by
    restart
    restart: was executed
    sequence: Mempool is full. Mempool size: Capacity:
    sequence: Mempool is full. Mempool size: bytes, Capacity: bytes
    sequence: Mempool is full. Mempool size: ms of estimated execution, Capacity: ms of estimated execution
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
    sequence: resubmitted
    sequence: transaction sequence number is current sequence number is used by transaction
";

/// Number of histories that is enough to produce every kind of event.
const CASES: u64 = 40;

fn parse_variable(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable);
    text.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn pool_matches_its_model_over_random_histories() {
    let first = parse_variable("POOL_MODEL_SEED", 1);
    let cases = parse_variable("POOL_MODEL_CASES", CASES);
    let steps = parse_variable("POOL_MODEL_STEPS", 600);
    let mut counts = Counts::new();
    for seed in first..first + cases {
        let mut history = History::new(seed, &mut counts);
        let run = AssertUnwindSafe(|| (0..steps).for_each(|_| history.step()));
        if let Err(panic) = catch_unwind(run) {
            let height = history.height;
            let replay = format!("POOL_MODEL_SEED={seed} POOL_MODEL_CASES=1");
            let message = panic.downcast_ref::<String>().map_or("", String::as_str);
            panic!("{replay} fails the same way, after {height} blocks: {message}");
        }
    }
    let expected: Vec<_> = EXPECTED_EVENTS
        .lines()
        .map(str::trim)
        .filter(|event| !event.is_empty())
        .collect();
    let missing = expected
        .iter()
        .filter(|event| !counts.contains_key(**event));
    let unexpected = counts
        .keys()
        .filter(|event| !expected.contains(&event.as_str()));
    let (missing, unexpected): (Vec<_>, Vec<_>) = (missing.collect(), unexpected.collect());
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(
        cases < CASES || missing.is_empty(),
        "{missing:#?} of {counts:#?}"
    );
}
