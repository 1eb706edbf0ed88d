//! A pending transaction that is signed again, over a restart.

use crate::kit::{Account, TestNode};
use ledger_types::{
    SignedTransaction,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};

/// The same transaction with its signature in the other form, which gives it another hash.
pub(crate) fn in_other_form(signed: &SignedTransaction) -> SignedTransaction {
    let TransactionAuthenticator::Ed25519 {
        public_key,
        signature,
    } = &signed.authenticator
    else {
        panic!("signed with one key");
    };
    let sender = AccountAuthenticator::Ed25519 {
        public_key: public_key.clone(),
        signature: signature.clone(),
    };
    SignedTransaction {
        raw: signed.raw.clone(),
        authenticator: TransactionAuthenticator::SingleSender {
            sender: Box::new(sender),
        },
    }
}

#[tokio::test]
async fn rejects_another_signature_after_a_restart() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let alice = Account::from_seed(1);
    node.fund(&alice, 1_000_000_000).await;
    // It waits for its predecessor.
    let first = alice.transfer(&chain, 1, alice.address, 1);
    let pending = node.submit(&first).await;
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let node = node.restart();
    let second = in_other_form(&first);
    let rejected = node.try_submit(&second).await.unwrap();
    assert_eq!(rejected.status, 400, "{}", rejected.text);
    assert_eq!(rejected.json["error_code"], "invalid_transaction_update");
    let message = rejected.json["message"].as_str().unwrap();
    assert!(message.ends_with(&pending.to_string()), "{message}");
    let unknown = format!("/v1/transactions/by_hash/{}", second.hash(&chain.vendor));
    assert_eq!(node.get(&unknown).await.status, 404);
    assert_eq!(node.submit(&first).await, pending);
    node.submit(&alice.transfer(&chain, 0, alice.address, 1))
        .await;
    assert_eq!(node.try_wait(&pending).await.unwrap()["success"], true);
}
