//! The disk space that checkpoints take, compared with the bound that the writer checks.

use crate::{
    FileSize, Store, StoreError, StoreOptions, StoreReader, StoreWriter,
    write::disk_space::{checkpoint_bytes, content_bytes},
};
use fastrand::Rng;
use ledger_test_support::generated::{BlockGenerator, genesis, transfer};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// A workload of transfers between random accounts.
#[derive(Clone, Copy)]
struct Case {
    blocks: u64,
    transfers_per_block: u64,
    accounts: u64,
    /// Number of versions that pruning keeps, or `None` without pruning.
    window: Option<u64>,
    /// Size of the cache. With a small one, redb writes pages before the checkpoint.
    cache_bytes: u64,
}

/// A store in a directory, with the growth of its database at each checkpoint.
struct Measured {
    writer: StoreWriter,
    reader: StoreReader,
    directory: PathBuf,
    /// Generation of the log, which a checkpoint increments.
    generation: u64,
    /// Size of the database after the last checkpoint.
    before: FileSize,
    /// Content since then, in bytes.
    content_bytes: u64,
    /// Highest growth per byte of content.
    worst: f64,
}

impl Measured {
    /// Compares the growth with the bound if a checkpoint was written since the last call.
    fn check(&mut self, content_bytes: u64) {
        self.content_bytes += content_bytes;
        if self.writer.wal.generation() == self.generation {
            return;
        }
        self.generation = self.writer.wal.generation();
        let after = FileSize::of(&self.directory).unwrap();
        let growth = after.disk_bytes.saturating_sub(self.before.disk_bytes);
        let bound = checkpoint_bytes(self.content_bytes, self.before);
        assert!(
            growth <= bound,
            "a checkpoint of {} bytes took {growth}, more than {bound}",
            self.content_bytes
        );
        // The first checkpoint after the start has little content.
        if self.content_bytes > 1024 * 1024 {
            self.worst = self.worst.max(growth as f64 / self.content_bytes as f64);
        }
        (self.before, self.content_bytes) = (after, 0);
    }

    fn prune(&mut self, window: u64) {
        let newest = self.reader.snapshot().unwrap().ledger_info().version;
        let mut is_done = false;
        while !is_done {
            let before = self.writer.pruned_bytes;
            let pruned = self.writer.prune(newest.saturating_sub(window), 5_000);
            is_done = pruned.unwrap().done;
            let moved = self.writer.pruned_bytes.saturating_sub(before);
            self.check(moved);
        }
    }
}

/// Runs a workload, checks every checkpoint, and returns the highest growth of the database per
/// byte of content.
fn worst_growth(case: Case) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut generator = BlockGenerator::new();
    let options = StoreOptions {
        cache_bytes: case.cache_bytes,
    };
    let mut store = Store::open(&path, &options).unwrap();
    let first = generator.first_block(BTreeMap::new());
    store.initialize(&genesis(), &first).unwrap();
    let (writer, reader) = store.split();
    let mut measured = Measured {
        generation: writer.wal.generation(),
        before: FileSize::of(&path).unwrap(),
        content_bytes: 0,
        worst: 0.0,
        writer,
        reader,
        directory: path,
    };
    let mut random = Rng::with_seed(42);
    for _ in 0..case.blocks {
        let specs = (0..case.transfers_per_block).map(|_| {
            let (sender, recipient) = (random.u64(..case.accounts), random.u64(..case.accounts));
            transfer(sender, recipient, &mut random)
        });
        let group = [Arc::new(generator.block(specs.collect()))];
        let end = measured.writer.wal.end();
        measured.writer.append(&group, |_| ()).unwrap();
        // A record is padded to pages, so it may be longer than its content.
        let record_bytes = measured.writer.wal.end().saturating_sub(end);
        measured.check(record_bytes.max(content_bytes(&group)));
        if let Some(window) = case.window {
            measured.prune(window);
        }
    }
    measured.worst
}

/// The scale of the workloads: 1 in the default run, 20 for the table in `write/disk_space.rs`.
fn scale() -> u64 {
    let scale = std::env::var("DISK_SPACE_SCALE");
    scale.map_or(1, |scale| scale.parse().expect("a number"))
}

#[test]
#[expect(clippy::print_stderr, reason = "the growth is a figure of the run")]
fn checkpoint_takes_no_more_disk_space_than_its_bound() {
    let large_cache_bytes = StoreOptions::default().cache_bytes;
    for (blocks, transfers_per_block, window) in [
        (1_100, 1, None),
        (300, 10, None),
        (60, 100, None),
        (5, 5_000, None),
        (60, 100, Some(1_000)),
        (5, 5_000, Some(5_000)),
    ] {
        for cache_bytes in [large_cache_bytes, 1_000_000] {
            let blocks = blocks * scale();
            let worst = worst_growth(Case {
                blocks,
                transfers_per_block,
                // Hardly any key is repeated, so merges leave hardly anything out.
                accounts: 1_000_000,
                window,
                cache_bytes,
            });
            eprintln!(
                "{blocks} blocks of {transfers_per_block} transfers, window {window:?}, cache of \
                 {cache_bytes} bytes: {worst:.2} bytes per byte of content"
            );
        }
    }
}

#[test]
fn rejects_a_group_without_space_for_its_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let mut generator = BlockGenerator::new();
    let mut store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
    let first = generator.first_block(BTreeMap::new());
    store.initialize(&genesis(), &first).unwrap();
    let (mut writer, reader) = store.split();
    let group = [Arc::new(generator.block(Vec::new()))];
    // No disk has as much.
    writer.pruned_bytes = u64::MAX / 8;
    let error = writer.commit(&group).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
    assert!(!error.is_failed_io());
    let text = error.to_string();
    assert!(text.contains("bytes free"), "{text}");
    assert_eq!(reader.snapshot().unwrap().ledger_info().block_height, 0);
    writer.pruned_bytes = 0;
    writer.commit(&group).unwrap();
    assert_eq!(reader.snapshot().unwrap().ledger_info().block_height, 1);
}

#[test]
fn leaves_the_log_open_at_a_close_without_space_for_the_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let mut generator = BlockGenerator::new();
    for is_full in [true, false] {
        let mut store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
        if is_full {
            let first = generator.first_block(BTreeMap::new());
            store.initialize(&genesis(), &first).unwrap();
        } else {
            assert_eq!(store.log_replay().map(|replay| replay.blocks), Some(1));
        }
        let (mut writer, reader) = store.split();
        drop(reader);
        let group = [Arc::new(generator.block(Vec::new()))];
        writer.commit(&group).unwrap();
        writer.disk.as_mut().unwrap().free_bytes = is_full.then_some(0);
    }
    let store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
    assert_eq!(store.log_replay(), None);
}

#[test]
fn writes_a_checkpoint_early_if_a_full_log_needs_too_much_space() {
    let directory = tempfile::tempdir().unwrap();
    let mut generator = BlockGenerator::new();
    let mut store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
    let first = generator.first_block(BTreeMap::new());
    store.initialize(&genesis(), &first).unwrap();
    let (mut writer, _reader) = store.split();
    let mut random = Rng::with_seed(42);
    let mut block = || {
        let specs = (0..500).map(|number| transfer(number, number + 1, &mut random));
        [Arc::new(generator.block(specs.collect()))]
    };
    writer.append(&block(), |_| ()).unwrap();
    let generation = writer.wal.generation();
    let log_bytes = writer.wal.end();
    assert!(log_bytes > 0);
    let database = FileSize::of(directory.path()).unwrap();
    let set_free = |writer: &mut StoreWriter, bytes| {
        writer.disk.as_mut().unwrap().free_bytes = Some(bytes);
    };
    // Less than the space for what is in the log: nothing is written.
    set_free(&mut writer, checkpoint_bytes(log_bytes, database) - 1);
    let next = block();
    let error = writer.append(&next, |_| ()).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
    assert_eq!(writer.wal.generation(), generation);
    // Enough for one of the two blocks at a time.
    let needed = checkpoint_bytes(content_bytes(&next), database);
    set_free(&mut writer, needed + 2 * 1024 * 1024);
    writer.append(&next, |_| ()).unwrap();
    assert_eq!(writer.wal.generation(), generation + 1);
    assert!(writer.wal.end() > 0);
}
