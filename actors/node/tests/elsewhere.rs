//! Look-ups of transactions that another node of the chain may have.

use super::*;
use crate::{
    Lane, Overload, TransactionVerdict,
    engine::EngineReport,
    relay::{
        Admission, Find, FoundElsewhere, FoundHere, RelayNode as _, RelayQueues, relay_queues,
    },
};
use ledger_execution::Verdict;
use ledger_test_support::TransactionBuilder;
use ledger_types::SignedTransaction;
use tokio::sync::mpsc::Receiver;

/// A node that orders no blocks, and the questions that it asks the other nodes.
struct Asking {
    node: Node,
    handle: NodeHandle,
    finds: Receiver<Find>,
    wallets: Vec<Wallet>,
    _directory: tempfile::TempDir,
}

impl Asking {
    async fn start() -> Self {
        Self::start_with(NodeConfig::default()).await
    }

    async fn start_with(mut config: NodeConfig) -> Self {
        config.wait.timeout_ms = TIMEOUT_MS;
        let directory = tempfile::tempdir().unwrap();
        let (chain, store) = open_store(directory.path());
        let (relay, RelayQueues { finds, .. }) = relay_queues();
        let node = Node::start_with_relay(chain, store, config, relay).unwrap();
        let handle = node.handle();
        let (done, stopped) = oneshot::channel();
        handle.shared.node.mailboxes.sequencer.send(Stop { done });
        stopped.await.unwrap();
        Self {
            node,
            handle,
            finds,
            wallets: Wallet::development(),
            _directory: directory,
        }
    }

    fn transfer(&mut self) -> CheckedTransaction {
        let to = self.wallets[1].address;
        let chain = self.handle.chain().clone();
        self.wallets[0].transfer(&chain, to, 1)
    }

    /// Returns the status that the node finds if the others answer so.
    async fn status(
        &mut self,
        hash: HashValue,
        found: FoundElsewhere,
    ) -> Result<TransactionStatus, NodeError> {
        let handle = self.handle.clone();
        let asked = handle.transaction_by_hash(hash, ClientKey::NODE);
        let (status, ()) = tokio::join!(asked, answer(&mut self.finds, hash, found));
        status.map(|(_, status)| status)
    }
}

/// Answers one question.
async fn answer(finds: &mut Receiver<Find>, hash: HashValue, found: FoundElsewhere) {
    let find = finds.recv().await.unwrap();
    assert_eq!(find.hash, hash);
    find.reply.send(found).unwrap();
}

fn signed(transaction: &CheckedTransaction) -> SignedTransaction {
    transaction.transaction().clone()
}

#[actix::test]
async fn a_hash_is_unknown_if_no_node_knows_it() {
    let mut asking = Asking::start().await;
    let hash = asking.transfer().hash();
    let status = asking.status(hash, FoundElsewhere::Unknown).await.unwrap();
    assert!(matches!(status, TransactionStatus::Unknown));
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn what_is_pending_elsewhere_becomes_pending_here() {
    let mut asking = Asking::start().await;
    let transfer = asking.transfer();
    let found = FoundElsewhere::Pending(signed(&transfer).into());
    let status = asking.status(transfer.hash(), found).await.unwrap();
    assert!(matches!(status, TransactionStatus::Pending(_)));
    // The mempool has it, so no node is asked again.
    let asked = asking
        .handle
        .transaction_by_hash(transfer.hash(), ClientKey::NODE);
    let (_, status) = asked.await.unwrap();
    assert!(matches!(status, TransactionStatus::Pending(_)));
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn what_is_pending_elsewhere_is_pending_although_this_mempool_is_full() {
    let mut config = NodeConfig::default();
    config.mempool.capacity_transactions = 1;
    let mut asking = Asking::start_with(config).await;
    let (first, second) = (asking.transfer(), asking.transfer());
    asking.handle.submit(first, ClientKey::NODE).await.unwrap();
    for _ in 0..2 {
        let found = FoundElsewhere::Pending(signed(&second).into());
        let status = asking.status(second.hash(), found).await.unwrap();
        assert!(matches!(status, TransactionStatus::Pending(_)));
    }
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn what_this_mempool_removed_is_pending_while_another_node_holds_it() {
    let mut asking = Asking::start().await;
    let chain = asking.handle.chain().clone();
    let to = asking.wallets[1].address;
    let mut at_price = |price| {
        let wallet = &mut asking.wallets[0];
        wallet.sequence_number = 0;
        let transfer = TransactionBuilder::transfer(&chain, wallet.address, to, 1);
        wallet.sign(&chain, transfer.gas_unit_price(price))
    };
    let (replaced, higher) = (at_price(100), at_price(200));
    // The pull of the stopped sequencer takes it, and not the one that is replaced.
    let taken = asking.wallets[2].transfer(&chain, to, 1);
    for transfer in [taken, replaced.clone(), higher] {
        let submitted = asking.handle.submit(transfer, ClientKey::NODE);
        submitted.await.unwrap();
    }
    let hash = replaced.hash();
    let status = asking.status(hash, FoundElsewhere::Unknown).await.unwrap();
    assert!(
        matches!(status, TransactionStatus::Removed(_)),
        "{status:?}"
    );
    let found = FoundElsewhere::Pending(signed(&replaced).into());
    let status = asking.status(hash, found).await.unwrap();
    assert!(
        matches!(status, TransactionStatus::Pending(_)),
        "{status:?}"
    );
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_forged_transaction_is_not_pending() {
    let mut asking = Asking::start().await;
    let (one, other) = (asking.transfer(), asking.transfer());
    let forged = SignedTransaction {
        authenticator: other.transaction().authenticator.clone(),
        ..signed(&one)
    };
    let hash = forged.hash(asking.handle.chain().vendor());
    let status = asking
        .status(hash, FoundElsewhere::Pending(forged.into()))
        .await;
    assert!(matches!(status, Ok(TransactionStatus::Unknown)));
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_node_that_does_not_answer_or_is_ahead_leaves_the_hash_unresolved() {
    let mut asking = Asking::start().await;
    let hash = asking.transfer().hash();
    let ahead = FoundElsewhere::Committed { version: u64::MAX };
    for found in [FoundElsewhere::Unreachable, ahead] {
        let status = asking.status(hash, found).await;
        assert!(matches!(status, Err(NodeError::Unresolved)), "{status:?}");
    }
    // A relay that has stopped answers nothing.
    asking.finds.close();
    let status = asking.handle.transaction_by_hash(hash, ClientKey::NODE);
    assert!(matches!(status.await, Err(NodeError::Unresolved)));
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_node_that_is_cut_off_leaves_the_hash_unresolved() {
    let mut asking = Asking::start().await;
    let hash = asking.transfer().hash();
    let cut_off = EngineReport {
        quorum: 3,
        ..EngineReport::default()
    };
    asking.handle.observe_engine(move || cut_off.clone());
    let status = asking.status(hash, FoundElsewhere::Unknown).await;
    assert!(matches!(status, Err(NodeError::Unresolved)), "{status:?}");
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_wait_begins_again_with_what_another_node_has() {
    let mut asking = Asking::start().await;
    let transfer = asking.transfer();
    let hash = transfer.hash();
    let handle = asking.handle.clone();
    let wait = tokio::task::spawn_local(async move {
        let waited = handle.wait_for_commit(hash, ClientKey::NODE).await;
        waited.unwrap().1
    });
    let found = FoundElsewhere::Pending(signed(&transfer).into());
    answer(&mut asking.finds, hash, found).await;
    let fixture = Fixture {
        node: asking.node,
        handle: asking.handle,
        transaction: Arc::new(transfer),
        reads_before: 0,
        _directory: asking._directory,
    };
    // The pool has it before the block, which the wait must not miss.
    loop {
        let here = fixture.handle.find_here(hash, ClientKey::NODE).await;
        if matches!(here, Ok(FoundHere::Pending(_))) {
            break;
        }
        tokio::task::yield_now().await;
    }
    fixture.commit().await;
    assert!(matches!(
        wait.await.unwrap(),
        TransactionStatus::Committed(_)
    ));
    let here = fixture.handle.find_here(hash, ClientKey::NODE).await;
    assert!(matches!(here, Ok(FoundHere::Committed { version: 1.. })));
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn a_wait_for_many_reports_what_is_elsewhere_as_pending() {
    let mut config = NodeConfig::default();
    config.mempool.capacity_transactions = 1;
    let mut asking = Asking::start_with(config).await;
    let (first, second, third) = (asking.transfer(), asking.transfer(), asking.transfer());
    let hashes = vec![first.hash(), second.hash(), third.hash()];
    asking.handle.submit(first, ClientKey::NODE).await.unwrap();
    let elsewhere = Box::new(signed(&second));
    let mut finds = asking.finds;
    tokio::task::spawn_local(async move {
        while let Some(Find { hash, reply }) = finds.recv().await {
            let found = match hash == second.hash() {
                true => FoundElsewhere::Pending(elsewhere.clone()),
                false => FoundElsewhere::Unknown,
            };
            reply.send(found).unwrap();
        }
    });
    let mut wait = asking
        .handle
        .wait_for_many(hashes.clone(), ClientKey::NODE)
        .await
        .unwrap();
    let mut outcomes = BTreeMap::new();
    while wait.wait(async {}).await.unwrap().is_none() {
        outcomes.extend(std::iter::from_fn(|| wait.next_known()));
    }
    let outcome = |index: usize| format!("{:?}", outcomes[&hashes[index]]);
    assert_eq!(
        [outcome(0), outcome(1), outcome(2)],
        ["Pending", "Pending", "Unknown"]
    );
    drop(wait);
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_verdict_says_pending_if_another_node_holds_the_transaction() {
    let mut asking = Asking::start().await;
    let transfer = asking.transfer();
    let hash = transfer.hash();
    let handle = asking.handle.clone();
    let mut verdicts = Vec::new();
    for found in [
        FoundElsewhere::Unknown,
        FoundElsewhere::Unreachable,
        FoundElsewhere::Pending(signed(&transfer).into()),
    ] {
        let verdict = handle.verdict(signed(&transfer), None, Lane::Trusted, ClientKey::NODE);
        let (verdict, ()) = tokio::join!(verdict, answer(&mut asking.finds, hash, found));
        verdicts.push(verdict.unwrap().1);
    }
    for verdict in &verdicts[..2] {
        assert!(matches!(
            verdict,
            TransactionVerdict::Uncommitted(Verdict::CanCommit(_))
        ));
    }
    assert!(matches!(verdicts[2], TransactionVerdict::Pending));
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn a_client_has_half_of_the_lookups_at_other_nodes() {
    let mut asking = Asking::start().await;
    let handle = asking.handle.clone();
    let unknown = |number: u8| HashValue::new([number; 32]);
    let mut asked = Vec::new();
    for number in 0..128 {
        let (handle, hash) = (handle.clone(), unknown(number));
        asked.push(tokio::task::spawn_local(async move {
            handle.transaction_by_hash(hash, ClientKey::NODE).await
        }));
    }
    let mut questions = Vec::new();
    while questions.len() < asked.len() {
        questions.push(asking.finds.recv().await.unwrap());
    }
    let beyond = handle.transaction_by_hash(unknown(255), ClientKey::NODE);
    let Err(NodeError::Overloaded(Overload { limit, .. })) = beyond.await else {
        panic!("a client has more than half");
    };
    assert_eq!(limit, "look-ups at other nodes");
    for question in questions {
        question.reply.send(FoundElsewhere::Unknown).unwrap();
    }
    for asked in asked {
        assert!(matches!(
            asked.await.unwrap(),
            Ok((_, TransactionStatus::Unknown))
        ));
    }
    asking.node.stop().await.unwrap();
}

#[actix::test]
async fn admits_what_other_nodes_send_once() {
    let mut asking = Asking::start().await;
    let (one, other) = (asking.transfer(), asking.transfer());
    let forged = SignedTransaction {
        authenticator: other.transaction().authenticator.clone(),
        ..signed(&one)
    };
    let sent = vec![signed(&one), forged, signed(&other)];
    let first = asking.handle.admit(sent.clone(), ClientKey::NODE).await;
    let expected = Admission {
        added: 2,
        rejected: 1,
        ..Admission::default()
    };
    assert_eq!(first, expected);
    let again = asking.handle.admit(sent, ClientKey::NODE).await;
    let expected = Admission {
        known: 2,
        rejected: 1,
        ..Admission::default()
    };
    assert_eq!(again, expected);
    asking.node.stop().await.unwrap();
}
