//! A test of many concurrent clients, each of which waits for one transfer at a time.

use crate::CLIENT;
use ledger_actors::{Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_test_support::{Wallet, store::open_store};
use ledger_types::{AccountAddress, LedgerInfo};
use std::sync::mpsc;

/// Each of 256 clients submits 40 transfers and waits for the commit of each.
#[actix::test]
async fn notifies_every_client_of_every_commit() {
    const CLIENTS: u64 = 256;
    const TRANSFERS: usize = 40;
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 60_000;
    let node = Node::start(chain, store, Some(directory.path()), config)
        .await
        .expect("the node starts");
    let handle = node.handle();
    let chain = handle.chain().clone();
    let mut bank = Wallet::development().remove(0);
    let mut clients: Vec<Wallet> = (0..CLIENTS).map(Wallet::new).collect();
    for client in &clients {
        let funding = bank.transfer(&chain, client.address, 1_000_000_000);
        let hash = funding.hash();
        handle
            .submit(funding, CLIENT)
            .await
            .expect("it is accepted");
        let (_, status) = handle
            .wait_for_commit(hash, CLIENT)
            .await
            .expect("the node runs");
        assert!(matches!(status, TransactionStatus::Committed(_)));
    }
    let (result_sender, results) = mpsc::channel();
    for client in clients.drain(..) {
        let (handle, result_sender) = (handle.clone(), result_sender.clone());
        actix::spawn(async move {
            let _ = result_sender.send(transfer_and_wait(&handle, client, TRANSFERS).await);
        });
    }
    drop(result_sender);
    let mut done = 0;
    while done < CLIENTS {
        match results.try_recv() {
            Ok(info) => {
                done += 1;
                assert!(info.version <= handle.head().ledger_info().version);
            }
            Err(mpsc::TryRecvError::Empty) => tokio::task::yield_now().await,
            Err(mpsc::TryRecvError::Disconnected) => panic!("a client has failed"),
        }
    }
    node.stop().await.unwrap();
}

async fn transfer_and_wait(
    handle: &NodeHandle,
    mut client: Wallet,
    transfers: usize,
) -> LedgerInfo {
    let mut newest = *handle.head().ledger_info();
    for round in 0..transfers {
        let to = AccountAddress::from_low_u64(1_000_000 + round as u64);
        let transaction = client.transfer(handle.chain(), to, 1);
        let hash = transaction.hash();
        handle
            .submit(transaction, CLIENT)
            .await
            .expect("it is accepted");
        let (info, lookup) = handle
            .wait_for_commit(hash, CLIENT)
            .await
            .expect("the node runs");
        assert!(
            matches!(lookup, TransactionStatus::Committed(_)),
            "{lookup:?}"
        );
        assert!(
            info.version >= newest.version,
            "the version never decreases"
        );
        newest = info;
        let (info, lookup) = handle
            .transaction_by_hash(hash, CLIENT)
            .await
            .expect("the node runs");
        assert!(
            matches!(lookup, TransactionStatus::Committed(_)),
            "{lookup:?}"
        );
        assert!(info.version >= newest.version);
    }
    newest
}
