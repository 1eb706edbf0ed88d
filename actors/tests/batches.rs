//! Batches of submissions through the handle of a whole node.

use crate::CLIENT;
use futures::future::poll_fn;
use ledger_actors::{Candidate, Node, NodeConfig, SubmitError, TransactionStatus};
use ledger_test_support::{Wallet, store::open_store};
use ledger_types::{CheckedTransaction, ValidationStatus};
use std::pin::pin;

/// Number of transactions that are validated between two polls.
const SLICE: usize = 32;

async fn start(directory: &std::path::Path) -> Node {
    let (chain, store) = open_store(directory);
    let mut config = NodeConfig::default();
    config.mempool.capacity_per_account = 1_000;
    Node::start(chain, store, None, config).await.unwrap()
}

/// Returns `count` transfers of the first wallet, in the order of their sequence numbers.
fn transfers(node: &Node, count: usize) -> Vec<CheckedTransaction> {
    let (mut wallet, chain) = (
        Wallet::development().remove(0),
        node.handle().chain().clone(),
    );
    let to = wallet.address;
    (0..count).map(|_| wallet.transfer(&chain, to, 1)).collect()
}

#[actix::test]
async fn yields_to_other_tasks_between_the_slices_of_a_batch() {
    const COUNT: usize = 10 * SLICE;
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path()).await;
    let handle = node.handle();
    let batch = transfers(&node, COUNT);
    let last = batch[COUNT - 1].hash();
    let mut polls = 0;
    let mut submitted = pin!(handle.submit_all(batch.clone(), CLIENT));
    let outcomes = poll_fn(|context| {
        polls += 1;
        submitted.as_mut().poll(context)
    });
    let outcomes = outcomes.await;
    assert!(polls >= COUNT / SLICE, "{polls} polls");
    let accepted = outcomes.iter().map(|outcome| outcome.as_ref().unwrap());
    let accepted: Vec<_> = accepted
        .map(|accepted| accepted.transaction.hash())
        .collect();
    let expected: Vec<_> = batch.iter().map(CheckedTransaction::hash).collect();
    assert_eq!(accepted, expected);
    let (_, status) = handle.wait_for_commit(last, CLIENT).await.unwrap();
    assert!(matches!(status, TransactionStatus::Committed(_)));

    // All of them are found again, as slices too.
    let candidates: Vec<_> = batch
        .iter()
        .map(|transaction| Candidate {
            transaction: transaction.transaction(),
            hash: Some(transaction.hash()),
        })
        .collect();
    let mut polls = 0;
    let mut found = pin!(handle.find_all_committed(&candidates, CLIENT));
    let found = poll_fn(|context| {
        polls += 1;
        found.as_mut().poll(context)
    });
    let found = found.await;
    assert!(polls >= COUNT / SLICE, "{polls} polls");
    assert_eq!(found.len(), COUNT);
    assert!(found.iter().all(|found| matches!(found, Ok(true))));
    node.stop().await.unwrap();
}

#[actix::test]
async fn transactions_of_a_batch_have_the_outcomes_of_single_ones() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path()).await;
    let handle = node.handle();
    let chain = handle.chain().clone();
    let mut wallets = Wallet::development();
    let to = wallets[1].address;
    let first = wallets[0].transfer(&chain, to, 1);
    let expired = wallets[1].transfer_until(&chain, to, 1, 1);
    // Parked, because the expired one is missing.
    let parked = wallets[1].transfer(&chain, to, 1);
    let second = wallets[0].transfer(&chain, to, 1);
    wallets[2].sequence_number = 0;
    let other = wallets[2].transfer(&chain, to, 1);
    wallets[2].sequence_number = 0;
    let conflicting = wallets[2].transfer(&chain, to, 2);
    let batch = vec![
        first.clone(),
        expired,
        parked.clone(),
        second.clone(),
        first.clone(),
        other,
        conflicting,
    ];
    let outcomes = handle.submit_all(batch, CLIENT).await;
    let is_accepted: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(is_accepted, [true, false, true, true, true, true, false]);
    let Err(SubmitError::Invalid(discard)) = &outcomes[1] else {
        panic!("{:?}", outcomes[1]);
    };
    assert_eq!(discard.status, ValidationStatus::TransactionExpired);
    assert!(
        matches!(
            &outcomes[6],
            Err(SubmitError::InvalidUpdate(_) | SubmitError::SequenceNumberTooOld { .. })
        ),
        "{:?}",
        outcomes[6]
    );
    let (_, status) = handle.wait_for_commit(second.hash(), CLIENT).await.unwrap();
    assert!(matches!(status, TransactionStatus::Committed(_)));
    let (_, status) = handle
        .transaction_by_hash(parked.hash(), CLIENT)
        .await
        .unwrap();
    assert!(
        matches!(status, TransactionStatus::Pending(_)),
        "{status:?}"
    );
    assert!(handle.submit_all(Vec::new(), CLIENT).await.is_empty());
    node.stop().await.unwrap();
}
