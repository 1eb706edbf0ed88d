//! A disk that fails ends the work of a node, with a message and without a false answer.

#[path = "../testing/wallet.rs"]
#[allow(dead_code)]
mod wallet;

use ledger_actors::{Lookup, Node, NodeConfig};
use ledger_store::{Store, StoreOptions};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};
use wallet::{funded, initialized};

#[actix::test]
async fn a_store_that_cannot_write_ends_the_work_with_a_message() {
    let broken = Arc::new(AtomicBool::new(false));
    let backend = Breakable {
        memory: redb::backends::InMemoryBackend::new(),
        broken: Arc::clone(&broken),
    };
    let store = Store::open_backend(backend, &StoreOptions { cache_bytes: 1 << 20 }).unwrap();
    let (chain, store) = initialized(store);
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 10;
    let node = Node::start(chain.clone(), store, None, config).await.unwrap();
    let handle = node.handle();
    let mut wallets = funded();
    let to = wallets[1].address;
    broken.store(true, SeqCst);
    let transaction = wallets[0].transfer(&chain, to, 1);
    handle.submit(transaction.clone()).await.unwrap();
    let error = node.failed().await;
    assert_eq!(error.thread, "store-writer");
    let (info, lookup) = handle.wait_for_commit(transaction.hash()).await.unwrap();
    assert!(
        matches!(lookup, Lookup::Pending(_)),
        "what is not durable is not shown"
    );
    assert_eq!(info.version, 0);
    assert!(node.stop().await.is_err());
}

#[derive(Debug)]
struct Breakable {
    memory: redb::backends::InMemoryBackend,
    broken: Arc<AtomicBool>,
}

impl Breakable {
    fn check(&self) -> io::Result<()> {
        if self.broken.load(SeqCst) {
            return Err(io::Error::other("the disk is gone"));
        }
        Ok(())
    }
}

impl redb::StorageBackend for Breakable {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.memory.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.memory.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check()?;
        self.memory.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        self.memory.write(offset, data)
    }
}
