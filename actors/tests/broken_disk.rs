//! Tests of a node whose disk fails.
//!
//! A failing disk ends only the writing of the node. Durable data stays readable, the node
//! acknowledges nothing that may be lost, and every wait ends with an error.

use crate::CLIENT;
use ledger_actors::{
    FaultKind, Node, NodeConfig, NodeError, NodeHandle, NotWritable, StopError, SubmitError,
    TransactionStatus, VersionNotReached,
};
use ledger_limits::{Demand, Work, WorkKind};
use ledger_store::{Query, Snapshot, Store, StoreError, StoreOptions};
use ledger_test_support::{Disk, Fault, Wallet, store::initialize_store, test_genesis};
use ledger_types::Parameters;
use ledger_vm::Chain;
use std::{future::pending, path::Path};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Work of the test, whose cost does not matter.
const WORK: Work = Work::of_node(WorkKind::Page, Demand::rows(0));

/// Size of the database cache, in bytes, that is too small for any page, so that reads reach the
/// disk.
const NO_CACHE: u64 = 1;

/// Size of the database cache, in bytes, that has space for all changed pages of a test. Durable
/// blocks are then applied without a write to the database file, so they stay readable after
/// writes have begun to fail.
const LARGE_CACHE: u64 = 1 << 20;

/// A node on a disk that a test can cause to fail.
struct FailingDiskNode {
    disk: Disk,
    chain: Chain,
    node: Node,
    payer: Wallet,
    directory: TempDir,
}

async fn start(disk: &Disk, directory: &Path, cache_bytes: u64) -> (Chain, Node) {
    let options = StoreOptions { cache_bytes };
    let store = Store::open_backend(disk.clone(), disk.log(), &options).unwrap();
    let (chain, store) = initialize_store(store, &test_genesis(Parameters::default()));
    let mut config = NodeConfig::default();
    // Longer than any test, so that only a notification ends a wait.
    config.wait.timeout_ms = 3_600_000;
    // The scrubber reads at any time, and would report an injected fault before the thread that a
    // test names.
    config.storage.scrub_hours = 0;
    let node = Node::start(chain.clone(), store, Some(directory), config);
    (chain, node.await.unwrap())
}

/// Waits until an accepted transaction is committed and returns the newest version then.
///
/// # Panics
///
/// Panics if the transaction is not committed. `after` is the fault that the message names.
async fn check_committed(node: &Node, hash: ledger_crypto::HashValue, after: Fault) -> u64 {
    let (info, lookup) = node.handle().wait_for_commit(hash, CLIENT).await.unwrap();
    assert!(
        matches!(lookup, TransactionStatus::Committed(_)),
        "after {after:?}, an accepted transaction is lost: {lookup:?}"
    );
    info.version
}

impl FailingDiskNode {
    async fn new(cache_bytes: u64) -> Self {
        let disk = Disk::default();
        let directory = tempfile::tempdir().unwrap();
        let (chain, node) = start(&disk, directory.path(), cache_bytes).await;
        Self {
            disk,
            chain,
            node,
            payer: Wallet::development().remove(0),
            directory,
        }
    }

    fn handle(&self) -> NodeHandle {
        self.node.handle()
    }

    /// Submits a transfer and returns its hash.
    async fn transfer(&mut self) -> Result<ledger_crypto::HashValue, SubmitError> {
        let to = Wallet::new(1).address;
        let transaction = self.payer.transfer(&self.chain, to, 1);
        let accepted = self.handle().submit(transaction, CLIENT).await?;
        Ok(accepted.transaction.hash())
    }

    /// Waits until a transaction is committed and applied, and returns its version. Waiters are
    /// notified of a block before the writer applies it.
    async fn committed_version(&self, hash: ledger_crypto::HashValue) -> u64 {
        let version = match self.handle().wait_for_commit(hash, CLIENT).await.unwrap().1 {
            TransactionStatus::Committed(committed) => committed.version,
            other => panic!("not committed: {other:?}"),
        };
        assert!(
            self.handle()
                .read(WORK, ByVersion(version))
                .await
                .unwrap()
                .1
        );
        version
    }
}

/// Starts a wait without a deadline for a version that the test does not reach.
fn spawn_version_wait(handle: NodeHandle) -> JoinHandle<Result<(), VersionNotReached>> {
    let ahead = handle.head().ledger_info().version + 1_000;
    actix::spawn(async move { handle.wait_for_version(ahead, pending(), CLIENT).await })
}

/// A query that returns whether storage has a transaction with this version.
struct ByVersion(u64);

impl Query for ByVersion {
    type Output = bool;

    fn run(self, snapshot: &Snapshot) -> Result<bool, StoreError> {
        Ok(snapshot.transaction(self.0)?.is_some())
    }
}

#[actix::test]
async fn failed_write_ends_only_writing() {
    // The disk fails at the first operation of the next commit, or later during the commit.
    for fault in [
        Fault::Gone { after: 0 },
        Fault::Gone { after: 5 },
        Fault::Write { after: 0 },
        Fault::Write { after: 3 },
        Fault::Sync { after: 0, keeps: 0 },
        Fault::Sync { after: 1, keeps: 0 },
    ] {
        let mut fixture = FailingDiskNode::new(LARGE_CACHE).await;
        let acknowledged = fixture.transfer().await.unwrap();
        let version = fixture.committed_version(acknowledged).await;
        let version_wait = spawn_version_wait(fixture.handle());
        fixture.disk.inject(fault);

        // A full disk still accepts writes to the free space inside its files. If it fails while
        // a block is in the write-ahead log but not in the database, that block is committed and
        // the next one is rejected.
        let mut last_acknowledged = acknowledged;
        let (pending, error) = loop {
            let hash = match fixture.transfer().await {
                Ok(hash) => hash,
                Err(SubmitError::Node(rejected)) => break (None, rejected),
                Err(other) => panic!("{fault:?}: {other:?}"),
            };
            match fixture.handle().wait_for_commit(hash, CLIENT).await {
                Ok((_, TransactionStatus::Committed(_))) => last_acknowledged = hash,
                Err(error) => break (Some(hash), error),
                Ok(other) => panic!("{fault:?}: {other:?}"),
            }
        };
        assert!(
            matches!(error, NodeError::NotWritable(NotWritable::WriteFailed(_))),
            "{fault:?}: {error}"
        );
        assert!(error.to_string().contains("the disk"), "the cause: {error}");
        assert!(fixture.disk.failures() > 0, "{fault:?}");
        // A wait for a version ends as that for a transaction, and a later one does not begin. The
        // mailbox is first in, first out: the committer has handled all blocks that were durable at
        // the failure when it replies to the later one.
        for wait in [version_wait, spawn_version_wait(fixture.handle())] {
            let ended = wait.await.unwrap().unwrap_err();
            assert_eq!(ended.cause.to_string(), error.to_string(), "{fault:?}");
        }

        let rejected = fixture.transfer().await.unwrap_err();
        assert!(
            matches!(rejected, SubmitError::Node(NodeError::NotWritable(_))),
            "{fault:?}: {rejected}"
        );
        let handle = fixture.handle();
        let durable = *handle.head().ledger_info();
        let mut is_pending = false;
        if let Some(pending) = pending {
            let (info, lookup) = handle.transaction_by_hash(pending, CLIENT).await.unwrap();
            assert_eq!(info, durable);
            is_pending = match lookup {
                TransactionStatus::Pending(_) => {
                    let later_error = handle.wait_for_commit(pending, CLIENT).await.unwrap_err();
                    assert_eq!(
                        later_error.to_string(),
                        error.to_string(),
                        "a later wait ends with the same error"
                    );
                    true
                }
                // The write-ahead log contained the block when the database failed.
                TransactionStatus::Committed(committed) => {
                    assert!(
                        committed.version <= durable.version,
                        "a committed transaction is durable"
                    );
                    false
                }
                other => panic!("{fault:?}: {other:?}"),
            };
        }
        for version in 0..=durable.version {
            let (info, is_found) = handle.read(WORK, ByVersion(version)).await.unwrap();
            assert_eq!(
                (info, is_found),
                (durable, true),
                "{fault:?}: version {version}"
            );
        }
        assert!(
            !handle
                .read(WORK, ByVersion(durable.version + 1))
                .await
                .unwrap()
                .1
        );
        assert_eq!(fixture.committed_version(acknowledged).await, version);
        drop(handle);

        let FailingDiskNode {
            disk,
            node,
            directory,
            ..
        } = fixture;
        let Err(StopError::Storage(error)) = node.stop().await else {
            panic!("{fault:?}: the stop reports no failure");
        };
        assert_eq!(error.kind, FaultKind::Write);
        // The applier may be the first to write after the fault.
        assert!(
            ["store-writer", "store-applier"].contains(&error.thread),
            "{}",
            error.thread
        );
        let saved = directory.path().join("mempool.bcs");
        assert_eq!(
            saved.exists(),
            is_pending,
            "{fault:?}: the stop saves a pending transaction"
        );

        let (_, node) = start(&Disk::new(disk.written()), directory.path(), NO_CACHE).await;
        assert!(check_committed(&node, acknowledged, fault).await >= durable.version);
        for accepted in std::iter::once(last_acknowledged).chain(pending) {
            check_committed(&node, accepted, fault).await;
        }
        node.stop().await.unwrap();
    }
}

#[actix::test]
async fn stop_reports_a_moved_file_by_its_own_kind() {
    let directory = tempfile::tempdir().unwrap();
    let node = crate::start(directory.path(), NodeConfig::default()).await;
    std::fs::remove_file(directory.path().join("ledger.log")).unwrap();
    assert!(!node.handle().check_files("test"));
    let Err(StopError::Storage(fault)) = node.stop().await else {
        panic!("the stop reports no fault");
    };
    assert_eq!((fault.kind, fault.thread), (FaultKind::FileMoved, "test"));
}

#[actix::test]
async fn resumes_without_a_restart_after_the_log_had_no_disk_space() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    let first = fixture.transfer().await.unwrap();
    fixture.committed_version(first).await;
    fixture.disk.inject(Fault::FullWrites { count: usize::MAX });
    let waiting = fixture.transfer().await.unwrap();
    let handle = fixture.handle();
    while handle.not_writable().is_none() {
        tokio::task::yield_now().await;
    }
    // The monitor reports sufficient space, which does not end the shortage of the writer.
    handle.report_disk_space(None);
    let rejected = fixture.transfer().await.unwrap_err();
    assert!(
        matches!(
            rejected,
            SubmitError::Node(NodeError::NotWritable(NotWritable::LowDiskSpace(_)))
        ),
        "{rejected:?}"
    );
    // The wallet has counted the rejected transfer.
    fixture.payer.sequence_number -= 1;
    let (_, status) = handle.transaction_by_hash(waiting, CLIENT).await.unwrap();
    assert!(
        matches!(status, TransactionStatus::Pending(_)),
        "{status:?}"
    );
    fixture.disk.free_space();
    fixture.committed_version(waiting).await;
    while handle.not_writable().is_some() {
        tokio::task::yield_now().await;
    }
    let last = fixture.transfer().await.unwrap();
    fixture.committed_version(last).await;
    drop(handle);
    fixture.node.stop().await.unwrap();
    let (_, node) = start(
        &Disk::new(fixture.disk.synced()),
        fixture.directory.path(),
        NO_CACHE,
    )
    .await;
    for hash in [first, waiting, last] {
        check_committed(&node, hash, Fault::Reads { after: 0 }).await;
    }
    node.stop().await.unwrap();
}

#[actix::test]
async fn failed_write_ends_earlier_waits() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    // The transaction waits for its predecessor, which is never submitted.
    fixture.payer.sequence_number += 1;
    let waiting = fixture.transfer().await.unwrap();
    let handle = fixture.handle();
    let wait =
        tokio::task::spawn_local(async move { handle.wait_for_commit(waiting, CLIENT).await });
    fixture.disk.inject(Fault::Gone { after: 0 });
    fixture.payer.sequence_number = 0;
    fixture.transfer().await.unwrap();
    let outcome = wait.await.unwrap();
    assert!(
        matches!(outcome, Err(NodeError::NotWritable(_))),
        "{outcome:?}"
    );
    assert!(fixture.node.stop().await.is_err());
}

#[actix::test]
async fn failed_reads_return_an_error() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    let acknowledged = fixture.transfer().await.unwrap();
    let version = fixture.committed_version(acknowledged).await;
    let handle = fixture.handle();
    // A single failed read has no effect that a client can observe.
    fixture.disk.inject(Fault::Read { after: 0 });
    assert!(handle.read(WORK, ByVersion(version)).await.unwrap().1);
    assert_eq!((fixture.disk.failures(), handle.not_writable()), (1, None));

    fixture.disk.inject(Fault::Reads { after: 0 });
    let failures = fixture.disk.failures();
    // The first error comes from the disk. From then on the database rejects every read.
    for _ in 0..3 {
        let error = handle.read(WORK, ByVersion(version)).await.unwrap_err();
        let unavailable = error.not_writable();
        assert!(
            matches!(unavailable, Some(NotWritable::ReadFailed(_))),
            "{error:?}"
        );
    }
    assert!(fixture.disk.failures() > failures);
    // A failed read means that the node cannot write either, and the node reports this without a
    // failed write.
    let unavailable = handle.not_writable().unwrap();
    assert!(
        matches!(unavailable, NotWritable::ReadFailed(_)),
        "{unavailable}"
    );
    assert!(
        unavailable.to_string().contains("neither read nor written"),
        "{unavailable}"
    );
    assert!(fixture.transfer().await.is_err());
    let FailingDiskNode { disk, node, .. } = fixture;
    assert!(node.stop().await.is_err());
    let repaired = Disk::new(disk.synced());
    let directory = tempfile::tempdir().unwrap();
    let (_, node) = start(&repaired, directory.path(), NO_CACHE).await;
    assert!(
        node.handle()
            .read(WORK, ByVersion(version))
            .await
            .unwrap()
            .1
    );
    node.stop().await.unwrap();
}

/// The account of a submission's sender is read through the state, which has no errors of the
/// store.
#[actix::test]
async fn failed_read_of_an_account_is_a_disk_failure() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    let acknowledged = fixture.transfer().await.unwrap();
    fixture.committed_version(acknowledged).await;
    fixture.disk.inject(Fault::Reads { after: 0 });
    let handle = fixture.handle();
    // No block has changed the account, so it is read from a row of genesis.
    let mut sender = Wallet::development().remove(1);
    let error = handle
        .account_snapshot(sender.address, CLIENT)
        .await
        .unwrap_err();
    assert!(
        matches!(error.not_writable(), Some(NotWritable::ReadFailed(_))),
        "{error:?}"
    );
    let unavailable = handle.not_writable();
    assert!(
        matches!(unavailable, Some(NotWritable::ReadFailed(_))),
        "{unavailable:?}"
    );
    let transaction = sender.transfer(&fixture.chain, Wallet::new(1).address, 1);
    let rejected = handle.submit(transaction, CLIENT).await.unwrap_err();
    assert!(
        matches!(
            rejected,
            SubmitError::Node(NodeError::NotWritable(NotWritable::ReadFailed(_)))
        ),
        "{rejected:?}"
    );
    drop(handle);
    let Err(StopError::Storage(error)) = fixture.node.stop().await else {
        panic!("the stop reports no failure");
    };
    assert_eq!((error.kind, error.thread), (FaultKind::Read, "storage"));
}

#[actix::test]
async fn failed_read_during_execution_is_a_disk_failure() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    let acknowledged = fixture.transfer().await.unwrap();
    fixture.committed_version(acknowledged).await;
    fixture.disk.inject(Fault::Reads { after: 0 });
    // The previous block has put the account of the payer into memory. The account of the
    // recipient must be read from a row of genesis.
    let genesis_account = Wallet::development().remove(1).address;
    let transaction = fixture.payer.transfer(&fixture.chain, genesis_account, 1);
    let accepted = fixture.handle().submit(transaction, CLIENT).await.unwrap();
    let pending = accepted.transaction.hash();
    let outcome = fixture.handle().wait_for_commit(pending, CLIENT).await;
    assert!(
        matches!(outcome, Err(NodeError::NotWritable(_))),
        "{outcome:?}"
    );

    let FailingDiskNode {
        disk,
        node,
        directory,
        ..
    } = fixture;
    let Err(StopError::Storage(error)) = node.stop().await else {
        panic!("the stop reports no failure");
    };
    assert_eq!((error.kind, error.thread), (FaultKind::Read, "executor"));
    let (_, node) = start(&Disk::new(disk.synced()), directory.path(), NO_CACHE).await;
    check_committed(&node, pending, Fault::Reads { after: 0 }).await;
    node.stop().await.unwrap();
}

/// A directory replaces the file that a stop writes, so the pool cannot be saved.
#[actix::test]
async fn stop_reports_both_the_failed_disk_and_the_unsaved_pool() {
    let mut fixture = FailingDiskNode::new(NO_CACHE).await;
    fixture.disk.inject(Fault::Gone { after: 0 });
    let pending = fixture.transfer().await.unwrap();
    assert!(
        fixture
            .handle()
            .wait_for_commit(pending, CLIENT)
            .await
            .is_err()
    );
    std::fs::create_dir(fixture.directory.path().join("mempool.bcs")).unwrap();
    let message = fixture.node.stop().await.unwrap_err().to_string();
    for part in [
        "store-writer",
        "the disk",
        "1 pending transactions could not be saved",
        "mempool.bcs",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
