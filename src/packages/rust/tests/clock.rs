//! Payments under a clock of the test.

use crate::sender::Sender;
use ledger_test_chain::{Options, TestChain};
use serde_json::Value;

const START_SECS: u64 = 1_600_000_000;
const DAY_SECS: u64 = 86_400;

#[tokio::test]
async fn pays_at_the_time_of_the_test() {
    let chain = TestChain::with(Options {
        start_secs: START_SECS,
        ..Options::default()
    });
    let sender = Sender::new(&chain);
    let first = sender.pay(0, 1_000).await;
    assert_eq!(first["success"], true, "{first}");
    assert_eq!(secs(&first), START_SECS);
    chain.clock().pass_secs(DAY_SECS);
    let second = sender.pay(1, 2_000).await;
    assert_eq!(secs(&second), START_SECS + DAY_SECS);
    let to = &chain.accounts()[1].address;
    let balance = sender.get(&format!("accounts/{to}/balance/0xa")).await;
    assert_eq!(balance, 1_000_000_003_000_u64);
}

/// Returns the time of a committed transaction, in seconds since the Unix epoch.
fn secs(transaction: &Value) -> u64 {
    let usecs = transaction["timestamp"].as_str().unwrap();
    usecs.parse::<u64>().unwrap() / 1_000_000
}
