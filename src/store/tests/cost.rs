//! Cost of a transfer, in pages and bytes that are read and written instead of time.
//!
//! A ledger grows to a number of transfers, and then the next ones are measured. Commits with
//! pruning, and the reads that a transfer causes, are counted separately. `--nocapture` prints the
//! counts.

#![expect(clippy::print_stdout, reason = "the counts are the figures of a run")]

use super::{Config, configured};
use crate::{
    Snapshot, Store, StoreOptions, StoreReader, StoreWriter, index::compaction::CompactionConfig,
    wal::WalConfig,
};
use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_test_support::{
    Disk, Traffic,
    generated::{
        BlockGenerator, TransactionSpec, address, genesis, resource_key, stream, transfer,
    },
};
use ledger_types::ExecutedBlock;
use std::{collections::BTreeMap, iter::zip, sync::Arc};

/// Options with so little memory that pages are read from the disk unless they were read just
/// before. The counts are accesses, not misses of a cache that holds the whole ledger.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 256 * 1024,
};
/// A configuration with runs of a few hundred entries, and a checkpoint after a few hundred
/// transfers, so that a ledger of tens of thousands has several levels of runs.
const CONFIG: Config = Config {
    wal: WalConfig {
        bytes_max: 1024 * 1024,
        checkpoint_after_bytes: 256 * 1024,
        ..WalConfig::SMALL
    },
    compaction: CompactionConfig {
        flush_after: 256,
        step_entries_min: 64,
        pruned_state_fan_in: 6,
        ..CompactionConfig::SMALL
    },
};

/// Number of transfers in a block, which is one commit.
const TRANSFERS_PER_BLOCK: u64 = 50;
/// Number of versions of such a block, with its metadata and its epilogue.
const VERSIONS_PER_BLOCK: u64 = TRANSFERS_PER_BLOCK + 2;
/// Number of transfers after which costs are measured first.
const EARLY_TRANSFERS: u64 = 2_000;
/// Number of transfers after which costs are measured again.
const LATE_TRANSFERS: u64 = 40_000;
/// Number of versions that pruning retains.
const WINDOW_VERSIONS: u64 = 1_000;
/// Number of transfers that a measurement covers. It includes several merges of the lower levels.
const MEASURED_TRANSFERS: u64 = 2_000;
/// Number of accounts in ledgers that differ only in their length. Each has sent twenty transfers
/// when costs are measured first.
const ACCOUNTS: u64 = 100;
/// Number of entries in a page of a listing, so small that early pages are full too.
const LISTING_ENTRIES: usize = 10;

/// Maximum growth of a cost while the ledger grows twentyfold and nothing is pruned.
///
/// An entry is copied once per level of runs. [`CONFIG`] has two or three levels at the first
/// measurement and two more at the last. A listing reads a block or two of each run, and the cache
/// holds a smaller part of a longer ledger. A cost in proportion to the length grows twenty times.
const GROWTH_MAX: f64 = 4.0;
/// Maximum growth with a window of constant size. Measurements cover different parts of the merges
/// of the pruned state.
const PRUNED_GROWTH_MAX: f64 = 1.5;
/// Maximum growth with a hundred times as many accounts, whose state has two more levels.
const ACCOUNTS_GROWTH_MAX: f64 = 3.0;

/// The reads and writes of one part of the work, per transfer.
#[derive(Clone, Copy, Debug)]
struct Cost {
    part: &'static str,
    read_pages: f64,
    read_bytes: f64,
    written_pages: f64,
    written_bytes: f64,
}

impl Cost {
    fn per_transfer(part: &'static str, all: Traffic) -> Self {
        let per_transfer = |count: u64| count as f64 / MEASURED_TRANSFERS as f64;
        Self {
            part,
            read_pages: per_transfer(all.read_pages),
            read_bytes: per_transfer(all.read_bytes),
            written_pages: per_transfer(all.written_pages),
            written_bytes: per_transfer(all.written_bytes),
        }
    }

    /// Asserts that each count is at most `growth_max` times the one of `early`.
    fn assert_at_most(&self, growth_max: f64, early: &Self) {
        assert_eq!(self.part, early.part);
        let counts = |cost: &Self| {
            [
                cost.read_pages,
                cost.read_bytes,
                cost.written_pages,
                cost.written_bytes,
            ]
        };
        assert!(
            zip(counts(self), counts(early)).all(|(late, early)| late <= early * growth_max),
            "more than {growth_max} times\n{early:?}\n{self:?}"
        );
    }
}

/// A store that grows by generated transfers between random accounts.
struct Ledger {
    disk: Disk,
    writer: StoreWriter,
    reader: StoreReader,
    generator: BlockGenerator,
    random: Rng,
    accounts: u64,
    /// Number of versions that pruning retains. Without it, nothing is pruned.
    window_versions: Option<u64>,
    transfers: u64,
}

impl Ledger {
    fn new(accounts: u64, window_versions: Option<u64>) -> Self {
        let disk = Disk::default();
        let mut generator = BlockGenerator::new();
        let store =
            Store::open_backend_with_secret(disk.clone(), disk.log(), &OPTIONS, [7; 16]).unwrap();
        let mut store = configured(store, CONFIG);
        store
            .initialize(&genesis(), &generator.first_block(BTreeMap::new()))
            .unwrap();
        let (writer, reader) = store.split();
        Self {
            disk,
            writer,
            reader,
            generator,
            random: Rng::with_seed(42),
            accounts,
            window_versions,
            transfers: 0,
        }
    }

    fn next_block(&mut self) -> (Vec<TransactionSpec>, Arc<ExecutedBlock>) {
        let random = &mut self.random;
        let specs: Vec<TransactionSpec> = (0..TRANSFERS_PER_BLOCK)
            .map(|_| {
                let sender = random.u64(..self.accounts);
                let recipient = random.u64(..self.accounts);
                transfer(sender, recipient, random)
            })
            .collect();
        self.transfers += TRANSFERS_PER_BLOCK;
        (specs.clone(), Arc::new(self.generator.block(specs)))
    }

    fn prune(&mut self) {
        let Some(window_versions) = self.window_versions else {
            return;
        };
        let newest = self.reader.snapshot().unwrap().ledger_info().version;
        let below = newest.saturating_sub(window_versions);
        while !self.writer.prune(below, VERSIONS_PER_BLOCK).unwrap().done {}
    }

    fn grow_to(&mut self, transfers: u64) {
        while self.transfers < transfers {
            let (_, block) = self.next_block();
            self.writer.commit(&[block]).unwrap();
            self.prune();
        }
    }

    /// Runs the next transfers, and returns the costs of their writes and of the reads around them.
    fn measure(&mut self) -> [Cost; 3] {
        let [mut writing, mut look_ups, mut listings] = [Traffic::default(); 3];
        for _ in 0..MEASURED_TRANSFERS / TRANSFERS_PER_BLOCK {
            let (specs, block) = self.next_block();
            let begin = self.disk.traffic();
            read_state(&self.reader.snapshot().unwrap(), &specs);
            let executed = self.disk.traffic();
            self.writer.commit(std::slice::from_ref(&block)).unwrap();
            self.prune();
            let committed = self.disk.traffic();
            look_up(&self.reader.snapshot().unwrap(), &specs, &block);
            let looked_up = self.disk.traffic();
            list(&self.reader.snapshot().unwrap(), specs[0].sender);
            add_difference(&mut look_ups, begin, executed);
            add_difference(&mut writing, executed, committed);
            add_difference(&mut look_ups, committed, looked_up);
            add_difference(&mut listings, looked_up, self.disk.traffic());
        }
        // A read may evict pages of an earlier commit from the cache, which writes them.
        for reads in [&mut look_ups, &mut listings] {
            writing.written_pages += std::mem::take(&mut reads.written_pages);
            writing.written_bytes += std::mem::take(&mut reads.written_bytes);
        }
        [
            Cost::per_transfer("commits and pruning", writing),
            Cost::per_transfer("look-ups", look_ups),
            Cost::per_transfer("listings", listings),
        ]
    }
}

/// Adds the reads and writes from `before` to `after`.
fn add_difference(sum: &mut Traffic, before: Traffic, after: Traffic) {
    sum.read_pages += after.read_pages - before.read_pages;
    sum.read_bytes += after.read_bytes - before.read_bytes;
    sum.written_pages += after.written_pages - before.written_pages;
    sum.written_bytes += after.written_bytes - before.written_bytes;
}

/// Reads the state that the execution of each transfer reads.
fn read_state(snapshot: &Snapshot, specs: &[TransactionSpec]) {
    for key in specs.iter().flat_map(|spec| spec.writes.keys()) {
        snapshot
            .state_value(key, snapshot.ledger_info().version)
            .unwrap();
    }
}

/// Looks up each transfer of a block by its hash, and as many unknown hashes.
fn look_up(snapshot: &Snapshot, specs: &[TransactionSpec], block: &ExecutedBlock) {
    let version = snapshot.ledger_info().version;
    let transactions = &block.transactions[1..=specs.len()];
    for (number, transaction) in (0u64..).zip(transactions) {
        assert!(
            snapshot
                .transaction_by_hash(&transaction.hash)
                .unwrap()
                .is_some()
        );
        let unknown = HashValue::sha3_of(&[&version.to_le_bytes(), &number.to_le_bytes()]);
        assert!(snapshot.transaction_by_hash(&unknown).unwrap().is_none());
    }
}

/// Lists all resources of an account, and its newest transactions and events.
///
/// Unlike a look-up, a listing of resources reads every run of the index.
fn list(snapshot: &Snapshot, account: u64) {
    let key = resource_key(account, 0);
    let version = snapshot.ledger_info().version;
    let entries = snapshot
        .state_keys(&address(account), version, None)
        .unwrap();
    let listed: Vec<_> = entries
        .filter_map(|entry| entry.unwrap().key_value)
        .collect();
    assert!(
        listed.iter().any(|(listed_key, _)| *listed_key == key),
        "{listed:?}"
    );
    let listed = snapshot.account_transactions(&address(account), None, LISTING_ENTRIES);
    assert!(!listed.unwrap().is_empty());
    let listed = snapshot.events(&stream(account, 3), None, LISTING_ENTRIES);
    assert!(!listed.unwrap().is_empty());
}

/// Grows a ledger, and asserts that its late cost is at most `growth_max` times the early one.
fn assert_growth_at_most(growth_max: f64, window_versions: Option<u64>) {
    let mut ledger = Ledger::new(ACCOUNTS, window_versions);
    ledger.grow_to(EARLY_TRANSFERS);
    let early = ledger.measure();
    ledger.grow_to(LATE_TRANSFERS);
    let late = ledger.measure();
    for (late, early) in zip(late, early) {
        println!("{early:?}\n{late:?}");
        late.assert_at_most(growth_max, &early);
    }
}

#[test]
fn cost_of_a_transfer_does_not_grow_with_an_unpruned_ledger() {
    assert_growth_at_most(GROWTH_MAX, None);
}

#[test]
fn cost_of_a_transfer_does_not_grow_with_the_length_of_a_pruned_ledger() {
    assert_growth_at_most(PRUNED_GROWTH_MAX, Some(WINDOW_VERSIONS));
}

#[test]
fn cost_of_a_transfer_grows_slowly_with_the_number_of_accounts() {
    let [few, many] = [ACCOUNTS, 100 * ACCOUNTS].map(|accounts| {
        let mut ledger = Ledger::new(accounts, Some(WINDOW_VERSIONS));
        // Every account has been written, so that the pruned state contains all of them.
        ledger.grow_to(LATE_TRANSFERS);
        ledger.measure()
    });
    for (many, few) in zip(many, few) {
        println!("{few:?}\n{many:?}");
        many.assert_at_most(ACCOUNTS_GROWTH_MAX, &few);
    }
}
