//! Deposits of an account as an event stream, on chains with and without event handles of coins.

use ledger_test_support::{
    TestAccount,
    http::number,
    node::{TestNode, binary},
};
use serde_json::Value;

/// Type of the native coin.
const COIN: &str = "0x1::node_coin::NodeCoin";

/// Returns the path of the deposits to an account.
fn deposits(account: &TestAccount) -> String {
    let address = account.address;
    format!("/v1/accounts/{address}/events/0x1::coin::CoinStore<{COIN}>/deposit_events")
}

/// A client that reads a stream from its begin, and remembers the number of the next event.
#[derive(Default)]
struct Reader {
    next: u64,
}

impl Reader {
    /// Returns the amounts of the events since the last call.
    async fn read(&mut self, node: &TestNode, path: &str) -> Vec<u64> {
        let start = self.next;
        let page = node.get(&format!("{path}?start={start}")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let amount = |event: &Value| {
            assert_eq!(number(&event["sequence_number"]), self.next, "{event}");
            self.next += 1;
            number(&event["data"]["amount"])
        };
        page.json.as_array().unwrap().iter().map(amount).collect()
    }
}

#[tokio::test]
async fn a_reader_follows_the_deposits_of_an_account_across_a_restart() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let [alice, bob] = [1, 2].map(TestAccount::from_seed);
    node.fund(&alice, 1_000_000_000).await;
    let path = deposits(&bob);
    assert_eq!(
        node.get(&path).await.status,
        404,
        "before the first deposit"
    );

    node.fund(&bob, 100).await;
    let mut reader = Reader::default();
    assert_eq!(reader.read(&node, &path).await, [100]);
    for (sequence_number, amount) in [(0, 5), (1, 6)] {
        let transfer = alice.transfer(&chain, sequence_number, bob.address, amount);
        let committed = node.submit_and_wait(&transfer).await;
        assert_eq!(committed["success"], true, "{committed}");
    }
    assert_eq!(reader.read(&node, &path).await, [5, 6]);
    node.stop("TERM");
    let node = node.restart();
    assert_eq!(reader.read(&node, &path).await, [0; 0]);
    node.fund(&bob, 7).await;
    assert_eq!(reader.read(&node, &path).await, [7]);
}

#[tokio::test]
async fn a_chain_keeps_the_choice_of_event_handles_of_its_genesis() {
    let without = "chain.coin_event_handles=false";
    let mut node = TestNode::start(&[without]);
    let bob = TestAccount::from_seed(2);
    node.fund(&bob, 100).await;
    let missing = node.get(&deposits(&bob)).await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    assert_eq!(missing.json["error_code"], "resource_not_found");
    assert_eq!(node.balance(&bob.address).await, 100);
    node.stop("TERM");

    let output = TestNode::command(node.directory(), &[]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    let difference = "coin_event_handles false, configured is true";
    assert!(message.contains(difference), "{message}");
    let node = node.restart();
    assert_eq!(node.get(&deposits(&bob)).await.status, 404);
}

#[tokio::test]
async fn the_parameter_of_a_genesis_file_applies() {
    let directory = tempfile::tempdir().unwrap();
    let rich = TestAccount::from_seed(1);
    let account = format!("{}=1_000", rich.address);
    for (handles, status) in [("true", 200), ("false", 404)] {
        let file = directory.path().join(format!("{handles}.toml"));
        let new = binary()
            .args(["genesis", "new", "--chain-id", "77", "--account", &account])
            .args(["--coin-event-handles", handles, "--out"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(new.status.success(), "{new:?}");
        let node = TestNode::start(&[&format!("chain.genesis={}", file.display())]);
        let deposits = node.get(&deposits(&rich)).await;
        assert_eq!(deposits.status, status, "{handles}: {}", deposits.text);
    }
}
