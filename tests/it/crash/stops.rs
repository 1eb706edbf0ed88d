//! Ends that are looked at one by one: `kill -9` under load, and a graceful stop.

use crate::kit::{NodeClient, TestAccount, TestNode, until};
use ledger_crypto::HashValue;
use ledger_vm::Chain;
use std::sync::{Arc, Mutex};

/// How many clients transfer at once.
const CLIENTS: u64 = 16;
/// After how many acknowledged commitments the node is killed.
const ACKNOWLEDGED: usize = 400;

/// What clients were told is committed: the hash and the version.
type Told = Arc<Mutex<Vec<(HashValue, u64)>>>;

/// Transfers until the node answers no more.
async fn transfer(node: NodeClient, chain: Chain, number: u64, told: Told) {
    let account = TestAccount::from_seed(number);
    let to = TestAccount::from_seed(number + 1_000).address;
    for sequence_number in node.sequence_number(&account.address).await.. {
        let transaction = account.transfer(&chain, sequence_number, to, 1);
        let Some(answer) = node.try_submit(&transaction).await else {
            return;
        };
        if answer.status >= 500 {
            return;
        }
        assert_eq!(answer.status, 202, "{}", answer.text);
        let hash = transaction.hash(chain.vendor());
        let Some(committed) = node.try_wait(&hash).await else {
            return;
        };
        told.lock()
            .unwrap()
            .push((hash, number_of(&committed["version"])));
    }
}

fn number_of(value: &serde_json::Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// Checks that all that clients were told is there.
async fn check_told(node: &TestNode, told: &Told) {
    let told: Vec<_> = told.lock().unwrap().clone();
    for (hash, version) in told {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.status, 200, "{hash} is gone");
        assert_eq!(number_of(&found.json["version"]), version, "{hash}");
    }
}

/// Checks that versions and heights are without a hole.
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
async fn what_was_told_as_committed_survives_kill_9() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    for number in 0..CLIENTS {
        node.fund(&TestAccount::from_seed(number), 1_000_000_000_000)
            .await;
    }
    let told = Told::default();
    for round in 1..=3 {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let transfers = transfer(
                    node.client.clone(),
                    chain.clone(),
                    number,
                    Arc::clone(&told),
                );
                tokio::spawn(transfers)
            })
            .collect();
        until("commitments", || async {
            (told.lock().unwrap().len() >= ACKNOWLEDGED * round).then_some(())
        })
        .await;
        // While all of them are under way; they end because nobody answers any more.
        node.kill();
        for client in clients {
            client.await.unwrap();
        }
        node = node.restart();
        check_told(&node, &told).await;
        check_chain(&node).await;
    }
}

#[tokio::test]
async fn a_graceful_stop_keeps_what_is_pending() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let to = TestAccount::from_seed(2).address;
    // Waits for its predecessor, which is not there yet.
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
