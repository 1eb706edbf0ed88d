//! A pending transaction that is signed again after a restart.

use ledger_test_support::{TestAccount, TransactionBuilder, node::TestNode};

#[tokio::test]
async fn rejects_another_signature_after_a_restart() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, 1_000_000_000).await;
    // This transaction waits for its predecessor.
    let first = alice.transfer(&chain, 1, alice.address, 1);
    let pending = node.submit(&first).await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let node = node.restart();
    // The same signature in another form, which gives the transaction another hash.
    let second =
        TransactionBuilder::from_raw(&chain, first.raw.clone()).sign_as_single_sender(&alice);
    let rejected = node.try_submit(&second).await.unwrap();
    assert_eq!(rejected.status, 400, "{}", rejected.text);
    assert_eq!(rejected.json["error_code"], "invalid_transaction_update");
    let message = rejected.json["message"].as_str().unwrap();
    assert!(message.ends_with(&pending.to_string()), "{message}");
    let unknown = format!("/v1/transactions/by_hash/{}", second.hash(chain.vendor()));
    assert_eq!(node.get(&unknown).await.status, 404);
    assert_eq!(node.submit(&first).await, pending);
    node.submit(&alice.transfer(&chain, 0, alice.address, 1))
        .await;
    assert_eq!(node.try_wait(&pending).await.unwrap()["success"], true);
}
