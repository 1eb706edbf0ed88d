//! The measured size of the content, and pruning by the time of blocks.

use super::{Config, OPTIONS, configured};
use crate::{
    PruneBound, Store, StoreReader, StoreWriter, index::Kind, io::page_count::allocated_pages,
};
use fastrand::Rng;
use ledger_test_support::{
    Disk,
    generated::{BlockGenerator, genesis, transfer},
};
use redb::{StorageBackend, backends::InMemoryBackend};
use std::{collections::BTreeMap, sync::Arc};

/// Number of transfers in a block. With metadata and epilogue, it has two more versions.
const TRANSFERS_PER_BLOCK: u64 = 20;
const VERSIONS_PER_BLOCK: u64 = TRANSFERS_PER_BLOCK + 2;
const ACCOUNTS: u64 = 200;
const PAGE_BYTES: u64 = 4096;

/// A store of generated transfers.
struct Ledger {
    writer: StoreWriter,
    reader: StoreReader,
    generator: BlockGenerator,
    random: Rng,
}

impl Ledger {
    fn new(disk: &Disk) -> Self {
        let mut generator = BlockGenerator::new();
        let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
        let mut store = configured(store, Config::SMALL);
        let first = generator.first_block(BTreeMap::new());
        store.initialize(&genesis(), &first).unwrap();
        let (writer, reader) = store.split();
        Self {
            writer,
            reader,
            generator,
            random: Rng::with_seed(7),
        }
    }

    /// Commits a number of blocks.
    fn extend(&mut self, blocks: u64) {
        for _ in 0..blocks {
            let specs = (0..TRANSFERS_PER_BLOCK).map(|_| {
                let account = |random: &mut Rng| random.u64(..ACCOUNTS);
                let (sender, recipient) = (account(&mut self.random), account(&mut self.random));
                transfer(sender, recipient, &mut self.random)
            });
            let block = Arc::new(self.generator.block(specs.collect()));
            self.writer.commit(&[block]).unwrap();
        }
    }

    fn prune(&mut self, bound: PruneBound) -> u64 {
        loop {
            let pruned = self.writer.prune_with(bound, 100, |_| ()).unwrap();
            if pruned.done {
                assert_eq!(pruned.remaining_versions, 0);
                return pruned.oldest_version;
            }
            assert!(pruned.remaining_versions > 0);
        }
    }

    /// Returns the number of allocated pages as redb counts them.
    fn redb_pages(&self) -> u64 {
        let database = self.writer.applier.database().unwrap();
        let transaction = database.begin_checkpoint().unwrap();
        transaction.stats().unwrap().allocated_pages()
    }
}

#[test]
fn measures_as_many_pages_as_redb_counts() {
    let mut ledger = Ledger::new(&Disk::default());
    let meter = ledger.writer.measure_usage();
    let mut largest = 0;
    for round in 0..30 {
        ledger.extend(10);
        let newest = ledger.reader.chain_tip().unwrap().version;
        if round % 2 == 1 {
            ledger.prune(PruneBound::below(newest.saturating_sub(1_500)));
        }
        let before = meter.usage().sequence;
        // The pages that the first checkpoint releases are free in the second one.
        ledger.writer.write_checkpoint().unwrap();
        ledger.writer.write_checkpoint().unwrap();
        let usage = meter.usage();
        assert_eq!(usage.sequence, before + 2);
        assert_eq!(usage.newest_version, newest);
        let (measured, counted) = (usage.used_bytes / PAGE_BYTES, ledger.redb_pages());
        // redb frees pages of its own tables after the commit, and allocates a few.
        assert!(
            measured.abs_diff(counted) <= 30,
            "{measured} pages are measured, redb counts {counted}"
        );
        largest = largest.max(measured);
    }
    assert!(largest > 300, "{largest} pages");
}

/// Each run of the pruned state may have every key. Merges with older runs keep it in proportion to
/// the newest state, and end before the next ones are due.
#[test]
fn pruned_state_takes_a_few_times_the_newest_state() {
    let mut ledger = Ledger::new(&Disk::default());
    let (mut most_entries, mut newest_state) = (0, 0);
    for _ in 0..300 {
        ledger.extend(2);
        let newest = ledger.reader.chain_tip().unwrap().version;
        ledger.prune(PruneBound::below(newest.saturating_sub(100)));
        let view = ledger.writer.applier.latest_view().unwrap();
        let runs = view.manifest.runs(Kind::PrunedState);
        let of_runs = runs.list.iter().map(|run| run.entries);
        let of_outputs = runs.jobs.iter().map(|job| job.written);
        let entries: u64 = of_runs.clone().chain(of_outputs).sum();
        most_entries = entries.max(most_entries);
        newest_state = of_runs.max().unwrap_or_default().max(newest_state);
        assert!(runs.list.len() <= 16, "{:?}", runs.list);
    }
    assert!(newest_state > ACCOUNTS);
    assert!(
        most_entries <= 4 * newest_state,
        "{most_entries} entries for {newest_state} keys"
    );
}

#[test]
fn pruning_reduces_the_measured_size_and_not_the_file() {
    let database = Disk::default();
    let mut ledger = Ledger::new(&database);
    ledger.extend(300);
    let meter = ledger.writer.measure_usage();
    ledger.writer.write_checkpoint().unwrap();
    let (before, file_bytes) = (meter.usage(), database.len().unwrap());
    ledger.prune(PruneBound::below(before.newest_version - 500));
    ledger.writer.write_checkpoint().unwrap();
    let after = meter.usage();
    assert!(
        after.used_bytes < before.used_bytes / 2,
        "{after:?} after {before:?}"
    );
    assert_eq!(after.newest_version, before.newest_version);
    assert!(after.versions() < 500 + 2 * VERSIONS_PER_BLOCK);
    assert!(database.len().unwrap() >= file_bytes / 2);
}

/// A pass of the scrubber holds the pages of the versions that are pruned meanwhile. The pages
/// count, so the versions do too.
#[test]
fn versions_that_a_scrub_retains_count_with_their_pages() {
    let mut ledger = Ledger::new(&Disk::default());
    ledger.extend(100);
    let meter = ledger.writer.measure_usage();
    let view = ledger.writer.applier.latest_view().unwrap();
    let retained = meter.retain(&view);
    ledger.prune(PruneBound::below(1_000));
    ledger.writer.write_checkpoint().unwrap();
    assert_eq!(meter.usage().oldest_version, 0);
    drop((retained, view));
    ledger.writer.write_checkpoint().unwrap();
    let usage = meter.usage();
    assert!(
        usage.oldest_version > 1_000 - 2 * VERSIONS_PER_BLOCK,
        "{usage:?}"
    );
}

#[test]
fn damaged_allocator_state_is_an_error_and_no_panic() {
    let database = Disk::default();
    let mut ledger = Ledger::new(&database);
    ledger.extend(50);
    ledger.writer.write_checkpoint().unwrap();
    let intact = allocated_pages(&database).unwrap().unwrap();
    let mut image = vec![0; usize::try_from(database.len().unwrap()).unwrap()];
    database.read(0, &mut image).unwrap();
    drop(ledger);
    let mut random = Rng::with_seed(3);
    let mut errors = 0;
    for _ in 0..2_000 {
        let mut damaged = image.clone();
        // The first pages have the header, and redb's own tables are written last.
        for _ in 0..200 {
            let at = match random.bool() {
                true => random.usize(..320),
                false => random.usize(..damaged.len()),
            };
            damaged[at] = random.u8(..);
        }
        let disk = InMemoryBackend::new();
        disk.set_len(damaged.len() as u64).unwrap();
        disk.write(0, &damaged).unwrap();
        errors += u32::from(!matches!(allocated_pages(&disk), Ok(Some(pages)) if pages == intact));
    }
    assert!(errors > 1_000, "{errors} of 2,000 are noticed");
}

/// Block `height` of the generator has the time `height` ms.
#[test]
fn prunes_only_blocks_that_neither_minimum_retains() {
    let blocks = 60;
    let first_version = |height: u64| 1 + (height - 1) * VERSIONS_PER_BLOCK;
    let bound = |version_height, time_height: Option<u64>, always_height| PruneBound {
        below_version: first_version(version_height),
        before_usecs: time_height.map(|height| height * 1_000),
        always_below_version: first_version(always_height),
    };
    let cases = [
        (bound(30, Some(20), 1), 20),
        (bound(20, Some(30), 1), 20),
        (bound(30, None, 1), 30),
        (bound(20, Some(30), 40), 40),
        (bound(30, Some(20), 25), 25),
        (bound(50, Some(1), 1), 1),
        (bound(50, Some(u64::MAX / 1_000), 1), 50),
    ];
    for (bound, oldest_height) in cases {
        let mut ledger = Ledger::new(&Disk::default());
        ledger.extend(blocks);
        assert_eq!(ledger.prune(PruneBound::below(first_version(1))), 1);
        assert_eq!(
            ledger.prune(bound),
            first_version(oldest_height),
            "{bound:?}"
        );
    }
}

#[test]
fn time_of_a_version_is_that_of_its_block() {
    let mut ledger = Ledger::new(&Disk::default());
    ledger.extend(5);
    let time = |ledger: &Ledger, version| ledger.writer.block_time_usecs(version).unwrap();
    assert_eq!(time(&ledger, 0), Some(0));
    assert_eq!(time(&ledger, 1 + 2 * VERSIONS_PER_BLOCK), Some(3_000));
    assert_eq!(time(&ledger, 3 * VERSIONS_PER_BLOCK), Some(3_000));
    assert_eq!(time(&ledger, 1 + 5 * VERSIONS_PER_BLOCK), None);
    ledger.prune(PruneBound::below(1 + 2 * VERSIONS_PER_BLOCK));
    assert_eq!(time(&ledger, 1), None);
}
