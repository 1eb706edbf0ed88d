//! Single cases: `kill -9` under load, and a graceful stop.

use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    http::NodeClient,
    node::{TestNode, until},
};
use ledger_vm::Chain;
use std::sync::{Arc, Mutex};

/// Number of concurrent clients.
const CLIENTS: u64 = 16;
/// Number of acknowledged commitments per round after which the node is killed.
const ACKNOWLEDGED: usize = 400;

/// Hashes and versions of the commitments that the node acknowledged.
type Acknowledged = Arc<Mutex<Vec<(HashValue, u64)>>>;

/// Transfers until the node stops responding.
async fn transfer(node: NodeClient, chain: Chain, number: u64, acknowledged: Acknowledged) {
    let account = TestAccount::from_seed(number);
    let to = TestAccount::from_seed(number + 1_000).address;
    for sequence_number in node.sequence_number(&account.address).await.. {
        let transaction = account.transfer(&chain, sequence_number, to, 1);
        let Some(response) = node.try_submit(&transaction).await else {
            return;
        };
        if response.status >= 500 {
            return;
        }
        assert_eq!(response.status, 202, "{}", response.text);
        let hash = transaction.hash(chain.vendor());
        let Some(committed) = node.try_wait(&hash).await else {
            return;
        };
        acknowledged
            .lock()
            .unwrap()
            .push((hash, number_of(&committed["version"])));
    }
}

/// Parses a 64-bit number, which JSON of the node holds as decimal text.
fn number_of(value: &serde_json::Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// Checks that the node has every acknowledged commitment.
async fn check_acknowledged(node: &TestNode, acknowledged: &Acknowledged) {
    let acknowledged: Vec<_> = acknowledged.lock().unwrap().clone();
    for (hash, version) in acknowledged {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.status, 200, "{hash} is lost");
        assert_eq!(number_of(&found.json["version"]), version, "{hash}");
    }
}

/// Checks that versions and heights have no gaps.
async fn check_chain(node: &TestNode) {
    let ledger = node.get("/v1").await.json;
    let (height, version) = (
        number_of(&ledger["block_height"]),
        number_of(&ledger["ledger_version"]),
    );
    let mut next_version = 0;
    for height in 0..=height {
        let block = node
            .get(&format!("/v1/blocks/by_height/{height}"))
            .await
            .json;
        assert_eq!(number_of(&block["block_height"]), height);
        assert_eq!(
            number_of(&block["first_version"]),
            next_version,
            "block {height}"
        );
        next_version = number_of(&block["last_version"]) + 1;
    }
    assert_eq!(next_version, version + 1);
    for version in 0..=version {
        let transaction = node
            .get(&format!("/v1/transactions/by_version/{version}"))
            .await;
        assert_eq!(
            number_of(&transaction.json["version"]),
            version,
            "{}",
            transaction.text
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn has_every_acknowledged_commitment_after_kill_9() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    for number in 0..CLIENTS {
        node.fund(&TestAccount::from_seed(number), 1_000_000_000_000)
            .await;
    }
    let acknowledged = Acknowledged::default();
    for round in 1..=3 {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let transfers = transfer(
                    node.client.clone(),
                    chain.clone(),
                    number,
                    Arc::clone(&acknowledged),
                );
                tokio::spawn(transfers)
            })
            .collect();
        until("commitments", || async {
            (acknowledged.lock().unwrap().len() >= ACKNOWLEDGED * round).then_some(())
        })
        .await;
        // All clients are transferring. They end because the node no longer responds.
        node.kill();
        for client in clients {
            client.await.unwrap();
        }
        node = node.restart();
        check_acknowledged(&node, &acknowledged).await;
        check_chain(&node).await;
    }
}

#[tokio::test]
async fn restores_pending_transactions_after_a_graceful_stop() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let to = TestAccount::from_seed(2).address;
    // This transaction waits for its predecessor, which is not submitted yet.
    let second = account.transfer(&chain, 1, to, 20);
    let hash = node.submit(&second).await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());

    let node = node.restart();
    let pending = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    assert_eq!(
        pending.json["type"], "pending_transaction",
        "{}",
        pending.text
    );
    node.submit_and_wait(&account.transfer(&chain, 0, to, 10))
        .await;
    let committed = node.try_wait(&hash).await.unwrap();
    assert_eq!(committed["success"], true);
    assert_eq!(node.balance(&to).await, 30);
}
