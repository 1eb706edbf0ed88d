//! A test of the reader threads' queue through the handle of a whole node.

#[path = "../testing/wallet.rs"]
#[allow(dead_code)]
mod wallet;

use ledger_actors::{Node, NodeConfig, NodeError};
use ledger_store::{Snapshot, StoreError};
use std::sync::mpsc;
use wallet::development;

#[actix::test]
async fn rejects_reads_beyond_the_queue_capacity() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = NodeConfig::default();
    config.storage.readers = 1;
    config.storage.read_queue_capacity = 1;
    let (chain, store) = development(directory.path());
    let node = Node::start(chain, store, None, config).await.unwrap();
    let handle = node.handle();
    let (started_sender, started) = mpsc::channel();
    let (release_sender, released) = mpsc::channel::<()>();
    let slow = actix::spawn({
        let handle = handle.clone();
        async move {
            let query = move |_: &Snapshot| {
                started_sender.send(()).unwrap();
                // An error means that the test has dropped the sender, which also ends the query.
                let _ = released.recv();
                Ok::<_, StoreError>(())
            };
            handle.read(query).await
        }
    });
    while started.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
    let version = |snapshot: &Snapshot| Ok::<_, StoreError>(snapshot.ledger_info().version);
    let queued = handle.read(version);
    let rejected = handle.read(version);
    let release = async { release_sender.send(()).unwrap() };
    let (queued, (rejected, ())) =
        futures::join!(queued, async { (rejected.await, release.await) });
    assert!(matches!(
        rejected,
        Err(NodeError::Overloaded { actor: "storage" })
    ));
    assert_eq!(queued.unwrap().1, 0);
    slow.await.unwrap().unwrap();
    node.stop().await.unwrap();
}
