//! Tests of a whole node through its handle.

use crate::{CLIENT, start, wait_until};
use ledger_actors::{
    Clock, Node, NodeConfig, NodeError, NodeHandle, RemovalReason, SubmitError, TransactionStatus,
    TuneError,
};
use ledger_test_support::{TransactionBuilder, Wallet, store::open_store};
use ledger_types::{
    CheckedTransaction, ValidationStatus,
    transaction::{Multisig, TransactionPayload},
};
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// Returns a configuration with waits so long that only a commit ends them within the time of a
/// test.
fn long_wait_config() -> NodeConfig {
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 60_000;
    config
}

async fn commit(handle: &NodeHandle, transaction: CheckedTransaction) -> u64 {
    let hash = transaction.hash();
    handle
        .submit(transaction, CLIENT)
        .await
        .expect("it is accepted");
    match handle
        .wait_for_commit(hash, CLIENT)
        .await
        .expect("the node runs")
    {
        (info, TransactionStatus::Committed(committed)) => {
            assert!(info.version >= committed.version && info.oldest_version <= committed.version);
            assert!(committed.content().unwrap().info.v0().status.is_success());
            committed.version
        }
        (_, other) => panic!("{other:?}"),
    }
}

#[actix::test]
async fn finds_a_committed_transfer_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let handle = node.handle();
    let mut wallets = Wallet::development();
    let to = wallets[1].address;
    let transaction = wallets[0].transfer(handle.chain(), to, 7);
    let hash = transaction.hash();
    let version = commit(&handle, transaction.clone()).await;
    assert_eq!(handle.head().ledger_info().block_height, 1);
    let again = handle.submit(transaction, CLIENT).await.unwrap();
    assert_eq!(again.transaction.hash(), hash);
    let other = Wallet::development()[0].transfer(handle.chain(), to, 8);
    let used = format!("; used by transaction {hash})");
    assert!(matches!(
        handle.submit(other, CLIENT).await,
        Err(SubmitError::Invalid(discard))
            if discard.status == ValidationStatus::SequenceNumberTooOld
                && discard.to_string().ends_with(&used)
    ));
    node.stop().await.unwrap();

    let node = start(directory.path(), long_wait_config()).await;
    let handle = node.handle();
    let (info, lookup) = handle.transaction_by_hash(hash, CLIENT).await.unwrap();
    assert!(matches!(lookup, TransactionStatus::Committed(found) if found.version == version));
    assert_eq!(info, *handle.head().ledger_info());
    commit(&handle, wallets[0].transfer(handle.chain(), to, 7)).await;
    node.stop().await.unwrap();
    assert!(matches!(
        handle.transaction_by_hash(unknown_hash(), CLIENT).await,
        Err(NodeError::Stopping)
    ));
}

#[actix::test]
async fn scrubs_the_ledger_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), NodeConfig::default()).await;
    let handle = node.handle();
    wait_until("the end of a pass", || {
        let storage = handle.mailbox("storage").unwrap();
        storage.handled_by_kind.get("scrub_done") == Some(&1)
    })
    .await;
    assert_eq!(handle.meters().scrub.passes, 1);
    node.stop().await.unwrap();
}

/// Returns a hash of no transaction.
fn unknown_hash() -> ledger_crypto::HashValue {
    ledger_crypto::HashValue::sha3_of(&[b"no transaction"])
}

#[actix::test]
async fn does_not_wait_for_an_unknown_transaction() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let hash = unknown_hash();
    let (_, lookup) = node.handle().wait_for_commit(hash, CLIENT).await.unwrap();
    assert!(matches!(lookup, TransactionStatus::Unknown));
    node.stop().await.unwrap();
}

#[actix::test]
async fn wait_returns_pending_at_the_deadline_or_beyond_the_capacity() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = long_wait_config();
    config.wait.timeout_ms = 50;
    let node = start(directory.path(), config).await;
    let handle = node.handle();
    let mut wallet = Wallet::development().remove(0);
    wallet.sequence_number = 1;
    let parked = wallet.transfer(handle.chain(), wallet.address, 1);
    handle.submit(parked.clone(), CLIENT).await.unwrap();
    let (_, lookup) = handle.wait_for_commit(parked.hash(), CLIENT).await.unwrap();
    assert!(matches!(lookup, TransactionStatus::Pending(_)));
    node.stop().await.unwrap();

    let mut config = long_wait_config();
    config.wait.capacity = 1;
    let node = start(directory.path(), config).await;
    let handle = node.handle();
    {
        let mut within_capacity = pin!(handle.wait_for_commit(parked.hash(), CLIENT));
        let beyond_capacity = tokio::select! {
            biased;
            ended = within_capacity.as_mut() => panic!("it does not wait: {ended:?}"),
            beyond_capacity = handle.wait_for_commit(parked.hash(), CLIENT) => {
                beyond_capacity
            }
        };
        let (_, lookup) = beyond_capacity.unwrap();
        assert!(
            matches!(lookup, TransactionStatus::Pending(_)),
            "immediately, as for a lookup by hash"
        );
        let waits = handle.meters().waits;
        assert_eq!((waits.waiting, waits.refused), (1, 1));
    }
    assert_eq!(
        handle.meters().waits.waiting,
        0,
        "a dropped wait releases its permit"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn restores_the_pool_that_a_stop_saved() {
    let directory = tempfile::tempdir().unwrap();
    let now_secs = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = {
        let now_secs = Arc::clone(&now_secs);
        Clock::new(move || now_secs.load(SeqCst) * 1_000_000)
    };
    let start = async |clock: &Clock| {
        let (chain, store) = open_store(directory.path());
        let node = Node::start_with_clock(
            chain,
            store,
            Some(directory.path()),
            long_wait_config(),
            clock.clone(),
        );
        node.await.unwrap()
    };
    let node = start(&clock).await;
    let handle = node.handle();
    let mut wallets = Wallet::development();
    let chain = handle.chain().clone();
    let to = wallets[4].address;
    let early = wallets[0].transfer(&chain, to, 1);
    let late = wallets[0].transfer(&chain, to, 1);
    wallets[1].sequence_number = 1;
    let expiring = wallets[1].transfer_until(&chain, to, 1, 1_800_000_010);
    for transaction in [&late, &expiring] {
        handle.submit(transaction.clone(), CLIENT).await.unwrap();
    }
    node.stop().await.unwrap();
    assert!(directory.path().join("mempool.bcs").exists());

    now_secs.store(1_800_000_010, SeqCst);
    let mut node = start(&clock).await;
    let handle = node.handle();
    node.discard_saved_pool();
    assert!(!directory.path().join("mempool.bcs").exists());
    let (_, lookup) = handle
        .transaction_by_hash(expiring.hash(), CLIENT)
        .await
        .unwrap();
    assert!(matches!(
        lookup,
        TransactionStatus::Removed(RemovalReason::Expired {
            at_secs: 1_800_000_010
        })
    ));
    let (_, lookup) = handle
        .transaction_by_hash(late.hash(), CLIENT)
        .await
        .unwrap();
    assert!(matches!(lookup, TransactionStatus::Pending(_)));
    commit(&handle, early).await;
    let (_, lookup) = handle.wait_for_commit(late.hash(), CLIENT).await.unwrap();
    assert!(matches!(lookup, TransactionStatus::Committed(_)));
    node.stop().await.unwrap();
    assert!(
        !directory.path().join("mempool.bcs").exists(),
        "nothing was pending"
    );
}

#[actix::test]
async fn keeps_the_saved_pool_until_it_is_discarded() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mempool.bcs");
    let mut wallets = Wallet::development();
    let to = wallets[4].address;
    let node = start(directory.path(), long_wait_config()).await;
    let chain = node.handle().chain().clone();
    let [executed, first] = [0, 0].map(|sender| wallets[sender].transfer(&chain, to, 1));
    wallets[1].sequence_number = 1;
    let parked = wallets[1].transfer(&chain, to, 1);
    let last = wallets[1].transfer(&chain, to, 1);
    for transaction in [&first, &parked, &last] {
        node.handle()
            .submit(transaction.clone(), CLIENT)
            .await
            .unwrap();
    }
    node.stop().await.unwrap();

    // A crash before the start is complete keeps the file, including transactions that have been
    // executed meanwhile.
    let saved = std::fs::read(&file).unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    commit(&node.handle(), executed.clone()).await;
    let (_, lookup) = node
        .handle()
        .wait_for_commit(first.hash(), CLIENT)
        .await
        .unwrap();
    assert!(matches!(lookup, TransactionStatus::Committed(_)));
    assert_eq!(std::fs::read(&file).unwrap(), saved);
    node.stop().await.unwrap();
    std::fs::write(&file, saved).unwrap();

    // A stop before the start is complete also saves the transactions that exceeded the pool's
    // capacity.
    let mut small = long_wait_config();
    small.mempool.capacity_transactions = 1;
    let node = start(directory.path(), small).await;
    let (_, lookup) = node
        .handle()
        .transaction_by_hash(last.hash(), CLIENT)
        .await
        .unwrap();
    assert!(
        matches!(
            lookup,
            TransactionStatus::Removed(RemovalReason::Evicted(_))
        ),
        "{lookup:?}"
    );
    node.stop().await.unwrap();

    // Such a stop also saves the transactions that were accepted meanwhile.
    let node = start(directory.path(), long_wait_config()).await;
    wallets[2].sequence_number = 1;
    let accepted = wallets[2].transfer(&chain, to, 1);
    node.handle()
        .submit(accepted.clone(), CLIENT)
        .await
        .unwrap();
    node.stop().await.unwrap();

    let mut node = start(directory.path(), long_wait_config()).await;
    node.discard_saved_pool();
    assert!(!file.exists());
    for transaction in [&parked, &last, &accepted] {
        let (_, lookup) = node
            .handle()
            .transaction_by_hash(transaction.hash(), CLIENT)
            .await
            .unwrap();
        assert!(
            matches!(lookup, TransactionStatus::Pending(_)),
            "{lookup:?}"
        );
    }
    for transaction in [&executed, &first] {
        let (_, lookup) = node
            .handle()
            .transaction_by_hash(transaction.hash(), CLIENT)
            .await
            .unwrap();
        assert!(
            matches!(lookup, TransactionStatus::Committed(_)),
            "{lookup:?}"
        );
    }
    node.stop().await.unwrap();
}

#[actix::test]
async fn start_fails_if_the_saved_pool_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    start(directory.path(), long_wait_config())
        .await
        .stop()
        .await
        .unwrap();
    let file = directory.path().join("mempool.bcs");
    // Reading a directory is an error of the operating system, like a lack of file descriptors.
    std::fs::create_dir(&file).unwrap();
    let (chain, store) = open_store(directory.path());
    let error = Node::start(chain, store, Some(directory.path()), long_wait_config())
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("mempool.bcs") && text.contains("move it away"),
        "{text}"
    );
    assert!(file.is_dir());
}

#[actix::test]
async fn starts_despite_a_damaged_saved_pool() {
    let directory = tempfile::tempdir().unwrap();
    start(directory.path(), long_wait_config())
        .await
        .stop()
        .await
        .unwrap();
    let saved = directory.path().join("mempool.bcs");
    std::fs::write(&saved, b"MEMPOOL1 and then rubbish").unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let mut wallets = Wallet::development();
    let to = wallets[1].address;
    let transaction = wallets[0].transfer(node.handle().chain(), to, 1);
    commit(&node.handle(), transaction).await;
    node.stop().await.unwrap();
    assert!(!saved.exists());
    let unused_file = directory.path().join("mempool.bcs.unused");
    assert_eq!(
        std::fs::read(unused_file).unwrap(),
        b"MEMPOOL1 and then rubbish",
        "the damaged file is preserved"
    );
    start(directory.path(), long_wait_config())
        .await
        .stop()
        .await
        .unwrap();
}

#[actix::test]
async fn wait_ends_when_its_transaction_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let handle = node.handle();
    let mut wallet = Wallet::development().remove(0);
    wallet.sequence_number = 1;
    let parked = wallet.transfer(handle.chain(), wallet.address, 1);
    handle.submit(parked.clone(), CLIENT).await.unwrap();
    let waiting = handle.wait_for_commit(parked.hash(), CLIENT);
    let replace = async {
        let newer = TransactionBuilder::from_raw(handle.chain(), parked.raw().clone())
            .gas_unit_price(parked.raw().gas_unit_price + 1)
            .sign_checked(handle.chain(), &wallet.account);
        handle.submit(newer.clone(), CLIENT).await.unwrap();
        newer.hash()
    };
    let (outcome, replacement) = futures::join!(waiting, replace);
    assert!(
        matches!(outcome.unwrap().1, TransactionStatus::Removed(RemovalReason::Replaced(hash)) if hash == replacement)
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn rejects_a_multisig_payload_for_an_ordinary_account() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let handle = node.handle();
    let mut wallets = Wallet::development();
    let payload = TransactionPayload::Multisig(Multisig {
        multisig_address: wallets[1].address,
        payload: None,
    });
    let builder = TransactionBuilder::new(handle.chain(), wallets[0].address, payload);
    let transaction = wallets[0].sign(handle.chain(), builder);
    let hash = transaction.hash();
    match handle.submit(transaction, CLIENT).await {
        Err(SubmitError::Invalid(discard)) => {
            assert_eq!(discard.status, ValidationStatus::AccountNotMultisig);
        }
        other => panic!("{other:?}"),
    }
    let (_, lookup) = handle.transaction_by_hash(hash, CLIENT).await.unwrap();
    assert!(matches!(lookup, TransactionStatus::Unknown), "{lookup:?}");
    node.stop().await.unwrap();
}

#[actix::test]
async fn reports_mailboxes_and_changes_their_capacity() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), long_wait_config()).await;
    let handle = node.handle();
    let mut wallets = Wallet::development();
    let to = wallets[1].address;
    commit(&handle, wallets[0].transfer(handle.chain(), to, 1)).await;
    let names: Vec<_> = handle
        .mailboxes()
        .iter()
        .map(|status| status.actor)
        .collect();
    assert_eq!(
        names,
        ["mempool", "sequencer", "committer", "storage", "pruner"]
    );
    for status in handle.mailboxes() {
        assert_eq!((status.depth, status.refused), (0, 0));
        // Storage receives only prune steps: the executor sends blocks directly to the writer.
        assert!(
            status.protocol > 0 || status.actor == "storage",
            "{status:?}"
        );
    }
    assert_eq!(
        handle.set_mailbox_capacity("storage", 7).unwrap().capacity,
        7
    );
    assert_eq!(handle.mailbox("storage").unwrap().capacity, 7);
    assert_eq!(
        handle.set_mailbox_capacity("storage", 0),
        Err(TuneError::CapacityZero)
    );
    assert!(matches!(
        handle.set_mailbox_capacity("nobody", 1),
        Err(TuneError::UnknownActor { .. })
    ));
    node.stop().await.unwrap();
}
