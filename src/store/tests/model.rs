//! The store against the model: random chains, groups, prunes, restarts, and snapshots.

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{
    Store, StoreReader, StoreWriter,
    index::{
        BloomFilters, Kind, bloom::bloom_id, compaction::CompactionConfig, key::number,
        manifest::Run,
    },
    tables::{codec::encode, schema::RUNS},
};
use ledger_test_support::generated::genesis;
use proptest::prelude::*;
use redb::ReadableTable;
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

fn open(directory: &Path) -> (StoreWriter, StoreReader) {
    configured(Store::open(directory, &OPTIONS).unwrap(), Config::SMALL).split()
}

fn open_initialized(directory: &Path, workload: &Workload) -> (StoreWriter, StoreReader) {
    let mut store = configured(Store::open(directory, &OPTIONS).unwrap(), Config::SMALL);
    assert_eq!(store.genesis().unwrap(), None);
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    assert_eq!(store.genesis().unwrap(), Some(genesis()));
    store.split()
}

/// A step of a random history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Commit(u64),
    Prune {
        window_versions: u64,
        versions_max: u64,
    },
    Reopen,
    CheckOlder,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..4u64).prop_map(Step::Commit),
        2 => (0..30u64, 1..12u64).prop_map(|(window_versions, versions_max)| Step::Prune { window_versions, versions_max }),
        1 => Just(Step::Reopen),
        2 => Just(Step::CheckOlder),
    ];
    prop::collection::vec(step, 1..40)
}

/// Runs the steps, and compares every answer with the model after each of them.
fn run(seed: u64, steps: &[Step]) {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(seed);
    let (mut writer, mut reader) = open_initialized(directory.path(), &workload);
    let mut oldest = 0;
    let mut older_snapshot = None;
    for step in steps {
        let newest = workload.blocks.len() as u64 - 1;
        match *step {
            Step::Commit(count) => writer.commit(&workload.grow(count)).unwrap(),
            Step::Prune {
                window_versions,
                versions_max,
            } => {
                let head = reader.snapshot().unwrap().ledger_info().version;
                let bound = head.saturating_sub(window_versions);
                let pruned = writer.prune(bound, versions_max).unwrap();
                let block = &workload.blocks[pruned.oldest_block_height as usize];
                assert_eq!(pruned.oldest_version, block.first_version);
                let before = workload.info(newest, oldest).oldest_version;
                assert!(
                    pruned.oldest_version >= before && pruned.oldest_version <= bound.max(before)
                );
                let is_last = block.last_version() >= bound;
                assert_eq!(pruned.done, is_last, "{pruned:?} for {bound}");
                oldest = pruned.oldest_block_height;
            }
            Step::Reopen => {
                // The directory is unlocked only when every snapshot of it is dropped.
                older_snapshot = None;
                drop((writer, reader));
                (writer, reader) = open(directory.path());
            }
            Step::CheckOlder => {
                let height = workload.random.u64(oldest..=newest);
                let head = workload.info(height, 0);
                let snapshot = reader.snapshot_at(&head).unwrap();
                workload
                    .check(&snapshot, &workload.info(height, oldest))
                    .unwrap();
                older_snapshot = Some((reader.snapshot().unwrap(), workload.info(newest, oldest)));
            }
        }
        let newest = workload.blocks.len() as u64 - 1;
        let tip = &workload.blocks[newest as usize].tip;
        assert_eq!(&reader.chain_tip().unwrap(), tip);
        let info = workload.info(newest, oldest);
        workload.check(&reader.snapshot().unwrap(), &info).unwrap();
    }
    if let Some((snapshot, info)) = older_snapshot {
        workload.check(&snapshot, &info).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn gives_the_answers_of_the_model(seed: u64, steps in steps()) {
        run(seed, &steps);
    }
}

#[test]
fn prunes_up_to_the_newest_block() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(7);
    let (mut writer, reader) = open_initialized(directory.path(), &workload);
    writer.commit(&workload.grow(40)).unwrap();
    let mut steps = 0;
    while !writer.prune(u64::MAX, 1).unwrap().done {
        steps += 1;
    }
    assert_eq!(
        steps, 39,
        "a step prunes one block if versions_max is smaller than a block"
    );
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(40, 40))
        .unwrap();
}

#[test]
fn a_prune_step_is_limited_by_the_size_of_writes() {
    const BYTES_MAX: usize = 700;
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(23);
    let config = Config::with_compaction(CompactionConfig {
        prune_bytes_max: BYTES_MAX,
        ..CompactionConfig::SMALL
    });
    let mut store = configured(Store::open(directory.path(), &OPTIONS).unwrap(), config);
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    writer.commit(&workload.grow(60)).unwrap();
    let bytes = |height: u64| -> usize {
        let transactions = &workload.blocks[height as usize].transactions;
        let writes = transactions
            .iter()
            .flat_map(|executed| executed.writes.iter());
        writes.map(|write| encode(&write).unwrap().len()).sum()
    };
    let (mut oldest, mut single, mut several) = (0, 0, 0);
    while oldest < 60 {
        let pruned = writer.prune(u64::MAX, u64::MAX).unwrap();
        let pruned_heights = oldest..pruned.oldest_block_height;
        let within: usize = pruned_heights.clone().map(bytes).sum();
        let with_next = within + bytes(pruned_heights.end);
        let count = pruned_heights.end - pruned_heights.start;
        assert!(
            count == 1 || within <= BYTES_MAX,
            "{within} bytes of {pruned_heights:?}"
        );
        assert!(
            pruned_heights.end == 60 || with_next > BYTES_MAX,
            "only {pruned_heights:?}"
        );
        *(if within > BYTES_MAX {
            &mut single
        } else {
            &mut several
        }) += 1;
        oldest = pruned_heights.end;
        assert_eq!(pruned.done, oldest == 60);
    }
    assert!(
        single > 0 && several > 0,
        "{single} blocks above the bound, {several} steps below"
    );
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(60, 60))
        .unwrap();
}

/// A step of pruning with hardly any keys adds a run as well. Merges limit the number of runs.
#[test]
fn merges_the_runs_of_small_prune_steps() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(29);
    let config = Config::with_compaction(CompactionConfig {
        step_entries_min: 90,
        ..CompactionConfig::SMALL
    });
    let mut store = configured(Store::open(directory.path(), &OPTIONS).unwrap(), config);
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    writer.commit(&workload.grow_idle(60)).unwrap();
    while !writer.prune(u64::MAX, 1).unwrap().done {
        let view = writer.applier.latest_view().unwrap();
        let runs = view.manifest.runs(Kind::PrunedState).list.len();
        assert!(runs < 16, "{runs} runs");
    }
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(60, 60))
        .unwrap();
}

/// Runs have several blocks on several levels, and values of the pruned state merge many times.
/// Random cases do not reach these sizes.
#[test]
fn answers_correctly_with_runs_on_all_levels() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(11);
    let (mut writer, reader) = open_initialized(directory.path(), &workload);
    let mut levels = 0;
    for _ in 0..300 {
        writer.commit(&workload.grow(1)).unwrap();
        let head = reader.snapshot().unwrap().ledger_info().version;
        writer.prune(head.saturating_sub(500), 4).unwrap();
        let view = writer.applier.latest_view().unwrap();
        for kind in Kind::ALL {
            let runs = &view.manifest.runs(kind).list;
            levels = levels.max(runs.iter().map(|run| run.level).max().unwrap_or(0));
            assert!(runs.len() < 24, "{kind:?} has {} runs", runs.len());
        }
        // A merge of the pruned state discards up to 15 runs with their filters, and two may end in
        // a step.
        assert!(view.manifest.garbage.len() < 64, "deletion is too slow");
    }
    assert!(levels >= 3, "only {levels} levels");
    check_filters(&writer);
    let oldest = reader.snapshot().unwrap().ledger_info().oldest_block_height;
    assert!(oldest > 50);
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(300, oldest))
        .unwrap();
    drop((writer, reader));
    let (_writer, reader) = open(directory.path());
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(300, oldest))
        .unwrap();
}

/// A filter that lacks a segment is not used. A program without filters may have written a part of
/// the run.
#[test]
fn ignores_a_filter_of_a_part_of_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(31);
    let (mut writer, reader) = open_initialized(directory.path(), &workload);
    for _ in 0..40 {
        writer.commit(&workload.grow(1)).unwrap();
    }
    let database = writer.applier.database().unwrap();
    let transaction = database.database.begin_write().unwrap();
    let is_filter = |key: &[u8], _: &[u8]| bloom_id(number(key)) != number(key);
    transaction
        .open_table(RUNS)
        .unwrap()
        .retain(|key, row| {
            // Removes every second segment.
            is_filter(key, row) || key.last().is_some_and(|byte| byte % 2 == 0)
        })
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    drop((writer, reader));
    let (_writer, reader) = open(directory.path());
    let snapshot = reader.snapshot().unwrap();
    workload.check(&snapshot, &workload.info(40, 0)).unwrap();
}

/// Checks that the filters of runs exclude most absent keys, and that each row of the table belongs
/// to a run, a merge, or garbage.
fn check_filters(writer: &StoreWriter) {
    let view = writer.applier.latest_view().unwrap();
    let mut known: Vec<u64> = view.manifest.garbage.clone();
    let (mut asked, mut excluded) = (0, 0);
    let mut random = fastrand::Rng::with_seed(7);
    for kind in Kind::ALL {
        let runs = view.manifest.runs(kind);
        let numbers = runs.list.iter().map(|run| run.id);
        known.extend(numbers.chain(runs.jobs.iter().map(|job| job.output)));
        if let Some(bytes) = kind.bloom_key_bytes() {
            // Filters expect random keys, as digests are. Runs share keys, so the filters of many
            // runs can contain one absent key by chance.
            for _ in 0..10 {
                let absent: Vec<u8> = (0..bytes).map(|_| random.u8(..)).collect();
                asked += runs.list.len();
                let is_excluded = |run: &&Run| !view.filters.may_contain(run.id, &absent);
                excluded += runs.list.iter().filter(is_excluded).count();
            }
        }
    }
    assert!(
        asked >= 100 && excluded * 100 >= asked * 97,
        "{excluded} of {asked}"
    );
    // With memory for half of the filters, the other runs are searched.
    let (manifest, table) = (&view.manifest, &view.tables.runs);
    let half = view.filters.bytes() / 2;
    let loaded = BloomFilters::default()
        .for_manifest(manifest, table, half)
        .unwrap();
    assert!(
        (1..=half).contains(&loaded.bytes()),
        "{} of {half}",
        loaded.bytes()
    );
    let none = BloomFilters::default()
        .for_manifest(manifest, table, 0)
        .unwrap();
    let mut runs = Kind::ALL
        .into_iter()
        .flat_map(|kind| &manifest.runs(kind).list);
    assert!(runs.all(|run| none.may_contain(run.id, &[7; 16])));
    for row in view.tables.runs.iter().unwrap() {
        let number = number(row.unwrap().0.value());
        let is_known = |run: &u64| number == *run || number == bloom_id(*run);
        assert!(known.iter().any(is_known), "an unknown id: {number:#x}");
    }
}

/// With a window of a few versions, nearly every value is in the pruned state, after many merges.
/// The newest value of a key counts, and a deleted key has none.
#[test]
fn reads_the_pruned_state_below_a_narrow_window() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(13);
    let (mut writer, reader) = open_initialized(directory.path(), &workload);
    for _ in 0..200 {
        let block = workload.grow(1).remove(0);
        writer.commit(std::slice::from_ref(&block)).unwrap();
        writer.prune(block.first_version, u64::MAX).unwrap();
        let info = workload.info(block.height(), block.height());
        let snapshot = reader.snapshot().unwrap();
        workload.check_states(&snapshot, &info).unwrap();
        workload.check_state_keys(&snapshot, &info).unwrap();
    }
}

/// Opening a store makes each unflushed entry once, whatever was flushed.
#[test]
fn gives_the_same_answers_after_every_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(17);
    drop(open_initialized(directory.path(), &workload));
    for height in 1..60 {
        let (mut writer, reader) = open(directory.path());
        writer.commit(&workload.grow(1)).unwrap();
        drop((writer, reader));
        let (_writer, reader) = open(directory.path());
        workload
            .check(&reader.snapshot().unwrap(), &workload.info(height, 0))
            .unwrap();
    }
}

/// Opening a store reads the rows from `unflushed_from`, so this advances even for a kind with
/// hardly any entries. The small runs merge like full ones.
#[test]
fn an_idle_chain_is_flushed_often() {
    const SPARSE: Config = Config::with_compaction(CompactionConfig {
        flush_after: 30,
        step_entries_min: 90,
        ..CompactionConfig::SMALL
    });
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(19);
    let mut store = configured(Store::open(directory.path(), &OPTIONS).unwrap(), SPARSE);
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    for round in 0..45 {
        writer.commit(&workload.grow_idle(14)).unwrap();
        if round > 2 {
            writer.commit(&workload.grow(1)).unwrap();
        }
        let view = writer.applier.latest_view().unwrap();
        for kind in Kind::OF_ROWS {
            let runs = view.manifest.runs(kind);
            let unflushed = view.head.tip.version + 1 - runs.unflushed_from;
            assert!(unflushed < 30, "{kind:?} has {unflushed} versions to read");
            assert!(
                runs.list.len() < 16,
                "{kind:?} has {} runs",
                runs.list.len()
            );
        }
    }
    let newest = workload.blocks.len() as u64 - 1;
    drop((writer, reader));
    let (_writer, reader) = open(directory.path());
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(newest, 0))
        .unwrap();
}

/// Rows and index entries of a snapshot match while the writer commits and prunes.
#[test]
fn concurrent_readers_see_consistent_snapshots() {
    const READERS: usize = 2;
    let directory = tempfile::tempdir().unwrap();
    let mut workload = Workload::new(5);
    let (mut writer, reader) = open_initialized(directory.path(), &workload);
    workload.grow(60);
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut heights = Vec::new();
                    while !has_ended.load(Ordering::Acquire) || heights.is_empty() {
                        let snapshot = reader.snapshot().unwrap();
                        let info = *snapshot.ledger_info();
                        let expected = workload.info(info.block_height, info.oldest_block_height);
                        workload.check(&snapshot, &expected).unwrap();
                        heights.push(info.block_height);
                    }
                    assert!(
                        heights.is_sorted(),
                        "a later snapshot is older: {heights:?}"
                    );
                })
            })
            .collect();
        for block in &workload.blocks[1..] {
            writer.commit(std::slice::from_ref(block)).unwrap();
            writer
                .prune(block.first_version.saturating_sub(40), 8)
                .unwrap();
        }
        has_ended.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
