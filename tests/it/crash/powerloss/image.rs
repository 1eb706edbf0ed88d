//! What must hold of a directory after a power failure.

use super::{
    super::told::Ends,
    disk::{Image, write_image},
    recorder::Step,
    workload::Promise,
};
use crate::kit::TestAccount;
use ledger_actors::{Lane, Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_store::{Snapshot, Store, StoreOptions};
use ledger_types::{Genesis, LedgerInfo, Parameters, Vendor};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The data directory below the recorded root.
const DATA: &str = "new/deep/data";
/// The saved pool below the recorded root.
const POOL: &str = "new/deep/data/mempool.bcs";
/// Little memory for pages.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// What was promised up to a moment.
#[derive(Clone, Debug, Default)]
struct Promised {
    is_ready: bool,
    committed: Vec<(HashValue, u64)>,
    ends: Ends,
    upgrades: usize,
    saved: Vec<HashValue>,
    /// There is no saved pool.
    is_taken_in: bool,
}

/// Tries images in the order of the record.
#[derive(Debug)]
pub struct Check {
    /// The last one first.
    to_come: Vec<(u64, Promise)>,
    promised: Promised,
    images: u64,
    without_ledger: u64,
    looked_up: u64,
    pools: u64,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} images opened, {} of them before there was a ledger; {} commitments looked up, {} saved pools \
             found; 0 lost",
            self.images, self.without_ledger, self.looked_up, self.pools
        )
    }
}

impl Check {
    pub fn new(promises: Vec<(u64, Promise)>) -> Self {
        Self {
            to_come: promises.into_iter().rev().collect(),
            promised: Promised::default(),
            images: 0,
            without_ledger: 0,
            looked_up: 0,
            pools: 0,
        }
    }

    /// The step that ends at this position of the record has been.
    pub fn pass(&mut self, position: u64, step: &Step) {
        match step {
            // What is in it is in the memory of a running node, and may be lost with it.
            Step::Unlink { path } if path.trim_start_matches('/') == POOL => {
                self.promised.saved.clear();
            }
            Step::Rename { to, .. } if to.trim_start_matches('/') == POOL => {
                self.promised.is_taken_in = false;
            }
            _ => {}
        }
        while self
            .to_come
            .last()
            .is_some_and(|(heard_at, _)| *heard_at <= position)
        {
            let (_, promise) = self.to_come.pop().unwrap();
            let promised = &mut self.promised;
            match promise {
                Promise::Ready => promised.is_ready = true,
                Promise::PoolRemoved => promised.is_taken_in = true,
                Promise::Committed { hash, version } => promised.committed.push((hash, version)),
                Promise::Ends(ends) => promised.ends = ends,
                Promise::Upgrades(count) => promised.upgrades = count,
                Promise::Saved(hashes) => promised.saved = hashes,
            }
        }
    }

    /// Opens an image, holds it against all that is promised by now, and goes on with it.
    pub fn try_image(&mut self, image: &Image) {
        self.images += 1;
        if self.promised.is_taken_in {
            assert!(!image.contains_key(POOL), "a saved pool is taken in twice");
        }
        let directory = tempfile::tempdir_in(memory()).unwrap();
        write_image(image, directory.path());
        let data = directory.path().join(DATA);
        let names: Vec<_> = image.keys().collect();
        let store = Store::open(&data, &OPTIONS);
        let mut store = store.unwrap_or_else(|error| panic!("{error}: {names:?} of {self:?}"));
        let genesis = match store.genesis().unwrap() {
            Some(genesis) => genesis,
            None => {
                assert!(!self.promised.is_ready, "the ledger is gone: {names:?}");
                self.without_ledger += 1;
                let genesis = development_genesis(4, Vendor::default(), Parameters::default());
                let block = execute_genesis(&genesis, &build_chain(&genesis).unwrap());
                store.initialize(&genesis, &block).unwrap();
                genesis
            }
        };
        let upgrades = genesis.parameters.framework_upgrades.len();
        assert!(upgrades >= self.promised.upgrades, "an upgrade is gone");
        actix_web::rt::System::new().block_on(self.run(store, &genesis, &data));
    }

    /// Runs a node on the image.
    async fn run(&mut self, store: Store, genesis: &Genesis, data: &Path) {
        let chain = build_chain(genesis).unwrap();
        let node = Node::start(chain, store, Some(data), NodeConfig::default())
            .await
            .unwrap();
        let handle = node.handle();
        let promised = self.promised.clone();
        let check = move |snapshot: &Snapshot| {
            check_ledger(snapshot, &promised);
            Ok(())
        };
        handle.read(check).await.unwrap();
        self.looked_up += self.promised.committed.len() as u64;
        for hash in &self.promised.saved {
            let (_, found) = handle.transaction_by_hash(*hash).await.unwrap();
            assert!(
                matches!(found, TransactionStatus::Pending(_)),
                "{hash} was saved and is {found:?}"
            );
        }
        self.pools += u64::from(!self.promised.saved.is_empty());
        go_on(&handle).await;
        node.stop().await.unwrap();
    }
}

/// Where images are opened: in memory where that can be had, as nothing hangs on their being durable.
fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

/// The ends are not before those that were told, all between them is there, and so is what was promised.
fn check_ledger(snapshot: &Snapshot, promised: &Promised) {
    let &LedgerInfo {
        version,
        oldest_version,
        block_height,
        oldest_block_height,
        ..
    } = snapshot.ledger_info();
    let ends = Ends {
        version,
        height: block_height,
        oldest_version,
        oldest_height: oldest_block_height,
    };
    ends.check_not_before(&promised.ends);
    let mut next = oldest_version;
    for height in oldest_block_height..=block_height {
        let block = snapshot.block(height).unwrap();
        let block = block.unwrap_or_else(|| panic!("block {height} of {ends:?} is gone"));
        assert_eq!(block.first_version, next, "block {height}");
        next = block.last_version + 1;
    }
    assert_eq!(next, version + 1, "the newest block is short");
    for version in oldest_version..=version {
        let found = snapshot.transaction(version).unwrap();
        assert!(found.is_some(), "transaction {version} of {ends:?} is gone");
    }
    for (hash, version) in &promised.committed {
        let found = snapshot.version_by_hash(hash).unwrap();
        if *version >= oldest_version {
            assert_eq!(found, Some(*version), "{hash} is gone: {ends:?}");
        }
    }
}

/// A transfer is committed.
async fn go_on(handle: &NodeHandle) {
    let account = TestAccount::development().remove(0);
    let next = handle
        .account_snapshot(account.address)
        .await
        .unwrap()
        .sequence_number;
    let transaction = account.transfer(handle.chain(), next, account.address, 1);
    let hash = transaction.hash(handle.chain().vendor());
    let checked = handle
        .check_signatures(transaction, Lane::Trusted)
        .await
        .unwrap();
    handle.submit(checked).await.unwrap();
    let (_, found) = handle.wait_for_commit(hash).await.unwrap();
    assert!(
        matches!(found, TransactionStatus::Committed(_)),
        "{found:?}"
    );
}
