//! Waits for a version of the ledger, through the handle of a node.

use crate::{CLIENT, start};
use futures::poll;
use ledger_actors::{NodeConfig, NodeError, VERSIONS_AHEAD_MAX, VersionWaitError};
use ledger_test_support::Wallet;
use std::{future::pending, pin::pin};

#[actix::test]
async fn waits_for_a_version_until_the_head_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path(), NodeConfig::default()).await;
    let (on_thread, notifier) = node.handle().for_thread();
    actix::spawn(notifier);
    let mut wallet = Wallet::development().remove(0);
    for handle in [node.handle(), on_thread] {
        let newest = handle.head().ledger_info().version;
        assert!(handle.has_version(newest) && !handle.has_version(newest + 1));
        handle
            .wait_for_version(newest, pending(), CLIENT)
            .await
            .unwrap();
        let mut waiting = pin!(handle.wait_for_version(newest + 1, pending(), CLIENT));
        assert!(poll!(&mut waiting).is_pending());
        let transaction = wallet.transfer(handle.chain(), wallet.address, 1);
        handle.submit(transaction, CLIENT).await.unwrap();
        waiting.await.unwrap();
        assert!(handle.has_version(newest + 1));
    }
    let waits = node.handle().meters().waits;
    assert_eq!((waits.waiting, waits.reached), (0, 2));
    node.stop().await.unwrap();
}

#[actix::test]
async fn wait_for_a_version_ends_early_or_does_not_begin() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = NodeConfig::default();
    config.wait.capacity = 1;
    let node = start(directory.path(), config).await;
    let handle = node.handle();
    let newest = *handle.head().ledger_info();
    let next = newest.version + 1;
    let wait = async |version, is_over: bool| {
        let end = async {
            if !is_over {
                pending::<()>().await;
            }
        };
        let waited = handle.wait_for_version(version, end, CLIENT).await;
        let error = waited.unwrap_err();
        assert_eq!(error.ledger_info, newest);
        error.cause
    };
    let timed_out = wait(next, true).await;
    assert!(matches!(timed_out, VersionWaitError::TimedOut));
    let far = wait(next + VERSIONS_AHEAD_MAX, false).await;
    assert!(matches!(far, VersionWaitError::TooFarAhead));
    {
        let mut holder = pin!(handle.wait_for_version(next, pending(), CLIENT));
        assert!(poll!(&mut holder).is_pending());
        let refused = wait(next, false).await;
        let full = "overloaded: wait.capacity = 1";
        assert_eq!(refused.to_string(), full, "{refused:?}");
        assert_eq!(handle.meters().waits.waiting, 1);
    }
    assert_eq!(
        handle.meters().waits.waiting,
        0,
        "a dropped wait releases its permit"
    );
    let stopped = async {
        let mut waiting = pin!(handle.wait_for_version(next, pending(), CLIENT));
        assert!(poll!(&mut waiting).is_pending());
        node.stop().await.unwrap();
        waiting.await.unwrap_err().cause
    };
    let stopped = stopped.await;
    assert!(
        matches!(stopped, VersionWaitError::Node(NodeError::Stopping)),
        "{stopped:?}"
    );
}
