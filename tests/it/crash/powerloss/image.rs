//! The checks of a directory after a power failure.

use super::{
    super::acknowledged::Bounds,
    disk::{Image, write_image},
    recorder::Step,
    workload::Acknowledgment,
};
use ledger_actors::{Lane, Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_store::{Snapshot, Store, StoreOptions};
use ledger_test_support::TestAccount;
use ledger_types::{Genesis, LedgerInfo, Parameters, Vendor};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The data directory below the recorded root.
const DATA: &str = "new/deep/data";
/// The saved mempool below the recorded root.
const POOL: &str = "new/deep/data/mempool.bcs";
/// Options with a small page cache.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// The data that the nodes had acknowledged up to a position in the record.
#[derive(Clone, Debug, Default)]
struct Acknowledged {
    is_ready: bool,
    committed: Vec<(HashValue, u64)>,
    bounds: Bounds,
    upgrades: usize,
    saved: Vec<HashValue>,
    /// Whether the saved mempool was restored and its file removed.
    is_restored: bool,
}

/// A check of images in the order of the record.
#[derive(Debug)]
pub struct Check {
    /// The later acknowledgments, the last one first.
    upcoming: Vec<(u64, Acknowledgment)>,
    acknowledged: Acknowledged,
    images: u64,
    without_ledger: u64,
    looked_up: u64,
    pools: u64,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} images opened, {} of them before there was a ledger; {} commitments looked up, \
             {} saved mempools found; 0 lost",
            self.images, self.without_ledger, self.looked_up, self.pools
        )
    }
}

impl Check {
    pub fn new(acknowledgments: Vec<(u64, Acknowledgment)>) -> Self {
        Self {
            upcoming: acknowledgments.into_iter().rev().collect(),
            acknowledged: Acknowledged::default(),
            images: 0,
            without_ledger: 0,
            looked_up: 0,
            pools: 0,
        }
    }

    /// Advances past the step that ends at `position` of the record.
    pub fn advance(&mut self, position: u64, step: &Step) {
        match step {
            // A removed pool is in the memory of the running node, and may be lost with it.
            Step::Unlink { path } if path.trim_start_matches('/') == POOL => {
                self.acknowledged.saved.clear();
            }
            Step::Rename { to, .. } if to.trim_start_matches('/') == POOL => {
                self.acknowledged.is_restored = false;
            }
            _ => {}
        }
        while self
            .upcoming
            .last()
            .is_some_and(|(recorded_at, _)| *recorded_at <= position)
        {
            let (_, acknowledgment) = self.upcoming.pop().unwrap();
            let acknowledged = &mut self.acknowledged;
            match acknowledgment {
                Acknowledgment::Ready => acknowledged.is_ready = true,
                Acknowledgment::PoolRemoved => acknowledged.is_restored = true,
                Acknowledgment::Committed { hash, version } => {
                    acknowledged.committed.push((hash, version));
                }
                Acknowledgment::Bounds(bounds) => acknowledged.bounds = bounds,
                Acknowledgment::Upgrades(count) => acknowledged.upgrades = count,
                Acknowledgment::Saved(hashes) => acknowledged.saved = hashes,
            }
        }
    }

    /// Opens an image, checks it against all acknowledgments so far, and runs a node on it.
    pub fn try_image(&mut self, image: &Image) {
        self.images += 1;
        if self.acknowledged.is_restored {
            assert!(
                !image.contains_key(POOL),
                "a saved mempool is restored twice"
            );
        }
        let directory = tempfile::tempdir_in(image_parent()).unwrap();
        write_image(image, directory.path());
        let data = directory.path().join(DATA);
        let names: Vec<_> = image.keys().collect();
        let store = Store::open(&data, &OPTIONS);
        let mut store = store.unwrap_or_else(|error| panic!("{error}: {names:?} of {self:?}"));
        let genesis = match store.genesis().unwrap() {
            Some(genesis) => genesis,
            None => {
                assert!(!self.acknowledged.is_ready, "the ledger is lost: {names:?}");
                self.without_ledger += 1;
                let genesis = development_genesis(4, Vendor::default(), Parameters::default());
                let block = execute_genesis(&genesis, &build_chain(&genesis).unwrap());
                store.initialize(&genesis, &block).unwrap();
                genesis
            }
        };
        let upgrades = genesis.parameters.framework_upgrades.len();
        assert!(upgrades >= self.acknowledged.upgrades, "an upgrade is lost");
        actix_web::rt::System::new().block_on(self.run(store, &genesis, &data));
    }

    /// Runs a node on the image.
    async fn run(&mut self, store: Store, genesis: &Genesis, data: &Path) {
        let chain = build_chain(genesis).unwrap();
        let node = Node::start(chain, store, Some(data), NodeConfig::default())
            .await
            .unwrap();
        let handle = node.handle();
        let acknowledged = self.acknowledged.clone();
        let check = move |snapshot: &Snapshot| {
            check_ledger(snapshot, &acknowledged);
            Ok(())
        };
        let work = Work::of_node(WorkKind::Page, Demand::default());
        handle.read(work, check).await.unwrap();
        self.looked_up += self.acknowledged.committed.len() as u64;
        for hash in &self.acknowledged.saved {
            let (_, found) = handle
                .transaction_by_hash(*hash, ClientKey::NODE)
                .await
                .unwrap();
            assert!(
                matches!(found, TransactionStatus::Pending(_)),
                "{hash} was saved and is {found:?}"
            );
        }
        self.pools += u64::from(!self.acknowledged.saved.is_empty());
        commit_transfer(&handle).await;
        node.stop().await.unwrap();
    }
}

/// Returns the directory that images are opened in: in memory if there is one, as they need not be
/// durable.
fn image_parent() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

/// Checks that the bounds are not before the acknowledged ones, that everything between them
/// exists, and that acknowledged commitments do.
fn check_ledger(snapshot: &Snapshot, acknowledged: &Acknowledged) {
    let &LedgerInfo {
        version,
        oldest_version,
        block_height,
        oldest_block_height,
        ..
    } = snapshot.ledger_info();
    let bounds = Bounds {
        version,
        height: block_height,
        oldest_version,
        oldest_height: oldest_block_height,
    };
    bounds.check_not_before(&acknowledged.bounds);
    let mut next = oldest_version;
    for height in oldest_block_height..=block_height {
        let block = snapshot.block(height).unwrap();
        let block = block.unwrap_or_else(|| panic!("block {height} of {bounds:?} is lost"));
        assert_eq!(block.first_version, next, "block {height}");
        next = block.last_version + 1;
    }
    assert_eq!(next, version + 1, "the newest block is incomplete");
    for version in oldest_version..=version {
        let found = snapshot.transaction(version).unwrap();
        assert!(
            found.is_some(),
            "transaction {version} of {bounds:?} is lost"
        );
    }
    for (hash, version) in &acknowledged.committed {
        let found = snapshot.version_by_hash(hash).unwrap();
        if *version >= oldest_version {
            assert_eq!(found, Some(*version), "{hash} is lost: {bounds:?}");
        }
    }
}

/// Checks that a transfer is committed.
async fn commit_transfer(handle: &NodeHandle) {
    let account = TestAccount::development().remove(0);
    let next = handle
        .account_snapshot(account.address, ClientKey::NODE)
        .await
        .unwrap()
        .sequence_number;
    let transaction = account.transfer(handle.chain(), next, account.address, 1);
    let hash = transaction.hash(handle.chain().vendor());
    let checked = handle
        .check_signatures(transaction, Lane::Trusted, ClientKey::NODE)
        .await
        .unwrap();
    handle.submit(checked, ClientKey::NODE).await.unwrap();
    let (_, found) = handle.wait_for_commit(hash, ClientKey::NODE).await.unwrap();
    assert!(
        matches!(found, TransactionStatus::Committed(_)),
        "{found:?}"
    );
}
