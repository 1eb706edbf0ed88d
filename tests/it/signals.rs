//! Signals that must not end a node: `SIGHUP`, and `SIGXFSZ` at a limit on the size of files.

use crate::kit::{TestAccount, TestNode, until};
use std::fs;

#[tokio::test]
async fn continues_after_a_hangup() {
    let mut node = TestNode::start(&[]);
    for count in 1..=2 {
        node.signal("HUP");
        until("the signal to be logged", || async {
            (node.log().matches("SIGHUP").count() == count).then_some(())
        })
        .await;
    }
    node.fund(&TestAccount::from_seed(1), 1_000).await;
    assert_eq!(
        node.balance(&TestAccount::from_seed(1).address).await,
        1_000
    );
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

#[tokio::test]
async fn reads_and_saves_the_mempool_at_a_file_size_limit() {
    let mut node = TestNode::start(&[]);
    let [payer, parker] = [1, 2].map(TestAccount::from_seed);
    for account in [&payer, &parker] {
        node.fund(account, 1_000_000_000_000).await;
    }
    node.stop("TERM");
    let size = fs::metadata(node.directory().join("data/ledger.redb"))
        .unwrap()
        .len();
    let mut node = node.restart_with_file_size_limit(size);
    let chain = node.chain().await;
    // They wait for their predecessor, which does not come.
    let mut accepted = Vec::new();
    for sequence_number in 1..=20 {
        let transaction = parker.transfer(&chain, sequence_number, payer.address, 1);
        accepted.push(node.submit(&transaction).await);
    }
    let mut committed = Vec::new();
    let refused = loop {
        let sequence_number = u64::try_from(committed.len()).unwrap();
        let transaction = payer.transfer(&chain, sequence_number, parker.address, 1);
        let answer = node.try_submit(&transaction).await.unwrap();
        if answer.status != 202 {
            break answer;
        }
        let hash = transaction.hash(chain.vendor());
        let wait = node
            .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
            .await;
        match wait.status {
            200 if wait.json["type"] == "user_transaction" => committed.push(hash),
            200 => {}
            // The write failed. Whether the block is durable is not known, so nothing is asserted of it.
            _ => break wait,
        }
    };
    assert_eq!(refused.status, 503, "{}", refused.text);
    let message = refused.json["message"].as_str().unwrap();
    assert!(message.contains("File too large"), "{message}");
    let next = payer.transfer(&chain, u64::MAX, parker.address, 1);
    let refused = node.try_submit(&next).await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert!(
        !committed.is_empty(),
        "the limit leaves no room for a block"
    );
    for hash in &committed {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "user_transaction", "{}", found.text);
    }
    assert_eq!(node.stop("TERM").code(), Some(1), "{}", node.log());

    let node = node.restart();
    for hash in &accepted {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "pending_transaction", "{}", found.text);
    }
    let missing = parker.transfer(&chain, 0, payer.address, 1);
    node.submit_and_wait(&missing).await;
    for hash in &accepted {
        assert_eq!(node.try_wait(hash).await.unwrap()["success"], true);
    }
}
