//! The write-ahead log in a store: the syncs of each operation, recovery, and damaged logs.

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{Store, StoreError, StoreReader, StoreWriter, wal::WalConfig};
use ledger_test_support::{Disk, Fault, Image, generated::genesis};
use redb::{StorageBackend as _, backends::InMemoryBackend};
use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tempfile::TempDir;

const BLOCKS: u64 = 30;
/// A log for all groups of one block.
pub(super) const LARGE: WalConfig = WalConfig {
    bytes_max: 1024 * 1024,
    ..WalConfig::SMALL
};
/// A log for some groups of one block, and for none of forty.
pub(super) const SMALL: WalConfig = WalConfig {
    bytes_max: 8 * 4096,
    ..WalConfig::SMALL
};

pub(super) fn open(image: Image) -> (StoreWriter, StoreReader) {
    let disk = Disk::new(image);
    configured(
        Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap(),
        Config::SMALL,
    )
    .split()
}

/// Creates a store with genesis on a disk.
pub(super) fn initialized(
    disk: &Disk,
    config: WalConfig,
    workload: &Workload,
) -> (StoreWriter, StoreReader) {
    let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
    let mut store = configured(store, Config::with_wal(config));
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    store.split()
}

#[test]
fn a_group_takes_one_sync_and_survives_any_crash() {
    let mut workload = Workload::new(5);
    let blocks = workload.grow(BLOCKS);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, LARGE, &workload);
    let mut growths = 0;
    for (height, block) in (1..).zip(blocks) {
        let (syncs, length) = (disk.syncs(), disk.len().unwrap());
        writer.commit(&[block]).unwrap();
        // redb syncs its file once more when the file grows, which happens in large steps.
        let has_grown = usize::from(disk.len().unwrap() > length);
        growths += has_grown;
        assert_eq!(
            disk.syncs() - syncs,
            1 + has_grown,
            "number of syncs for block {height}"
        );
        let info = workload.info(height, 0);
        assert_eq!(
            reader.snapshot().unwrap().ledger_info(),
            &info,
            "the block is applied"
        );
        for image in [disk.synced(), disk.written()] {
            let (_writer, reader) = open(image);
            if height % 10 == 0 {
                workload.check(&reader.snapshot().unwrap(), &info).unwrap();
            }
            assert_eq!(reader.snapshot().unwrap().ledger_info(), &info);
        }
    }
    assert!(growths <= 4, "the file grew {growths} times");
}

#[test]
fn writes_a_group_that_does_not_fit_as_a_checkpoint() {
    let mut workload = Workload::new(6);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, SMALL, &workload);
    let (mut checkpoints, mut height) = (0, 0);
    for count in [1, 1, 1, 40, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 40, 1] {
        let generation = writer.wal.generation();
        let blocks = workload.grow(count);
        writer.commit(&blocks).unwrap();
        height += count;
        let is_checkpoint = writer.wal.generation() > generation;
        assert!(
            is_checkpoint || count == 1,
            "a large group went into the log"
        );
        checkpoints += u64::from(is_checkpoint);
        assert!(disk.log().len().unwrap() <= SMALL.bytes_max);
        let (_writer, reader) = open(disk.synced());
        workload
            .check(&reader.snapshot().unwrap(), &workload.info(height, 0))
            .unwrap();
    }
    assert!(checkpoints > 2, "{checkpoints} checkpoints");
    drop((writer, reader));
}

#[test]
fn writes_a_checkpoint_once_the_log_has_its_size() {
    let config = WalConfig {
        checkpoint_after_bytes: 3 * 4096,
        ..LARGE
    };
    let mut workload = Workload::new(15);
    let disk = Disk::default();
    let (mut writer, _reader) = initialized(&disk, config, &workload);
    let mut is_checkpoint = |count| {
        let generation = writer.wal.generation();
        writer.commit(&workload.grow(count)).unwrap();
        writer.wal.generation() > generation
    };
    assert!(!is_checkpoint(40), "it fits into the log");
    assert!(is_checkpoint(1), "the log is long enough");
    assert!(!is_checkpoint(1) && !is_checkpoint(40));
    assert!(is_checkpoint(1));
}

#[test]
fn a_stop_leaves_an_empty_log_that_is_not_needed() {
    let mut workload = Workload::new(7);
    let blocks = workload.grow(BLOCKS);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, LARGE, &workload);
    for block in blocks {
        writer.commit(&[block]).unwrap();
    }
    assert!(disk.log().len().unwrap() > 0);
    drop((writer, reader));
    assert_eq!(disk.log().len().unwrap(), 0);
    let without = Disk::new(disk.synced());
    let store = Store::open_backend(without, InMemoryBackend::new(), &OPTIONS).unwrap();
    let (_writer, reader) = store.split();
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(BLOCKS, 0))
        .unwrap();
}

/// Returns a copy of a directory as a killed process leaves it, with records in its log, and its
/// blocks.
fn killed_directory() -> (TempDir, Workload) {
    let mut workload = Workload::new(8);
    let blocks = workload.grow(BLOCKS);
    let (directory, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut store = Store::open(directory.path(), &OPTIONS).unwrap();
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    for block in blocks {
        writer.commit(&[block]).unwrap();
    }
    for name in ["ledger.redb", "ledger.log"] {
        fs::copy(directory.path().join(name), copy.path().join(name)).unwrap();
    }
    drop((writer, reader));
    (copy, workload)
}

/// Returns the error of opening a damaged directory, and checks that the log is unchanged.
fn damage_message(directory: &Path) -> String {
    let names = ["ledger.redb", "ledger.log"];
    let read = || names.map(|name| fs::read(directory.join(name)).ok());
    let before = read();
    // A second attempt has the same result.
    for _ in 0..2 {
        let error = Store::open(directory, &OPTIONS).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&directory.display().to_string()), "{text}");
        assert!(text.contains("restore the directory from a copy"), "{text}");
    }
    assert!(read()[1] == before[1], "the log was changed");
    Store::open(directory, &OPTIONS).unwrap_err().to_string()
}

#[test]
fn recovers_the_blocks_of_a_killed_process() {
    let (directory, workload) = killed_directory();
    let store = Store::open(directory.path(), &OPTIONS).unwrap();
    let (writer, reader) = store.split();
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(BLOCKS, 0))
        .unwrap();
    drop((writer, reader));
}

/// redb makes its content durable when it is dropped, even after the log has failed.
#[test]
fn recovers_no_block_twice_if_the_database_is_ahead_of_its_checkpoint() {
    let mut workload = Workload::new(11);
    let blocks = workload.grow(BLOCKS);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, LARGE, &workload);
    for block in &blocks[..10] {
        writer.commit(std::slice::from_ref(block)).unwrap();
    }
    disk.inject(Fault::Sync { after: 0, keeps: 0 });
    let error = writer.commit(&blocks[10..11]).unwrap_err();
    assert!(error.is_failed_io(), "{error}");
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(10, 0))
        .unwrap();
    drop((writer, reader));
    // The written blocks are recovered. The failed one was not acknowledged, and may be present.
    for (image, height) in [(disk.synced(), 10), (disk.written(), 11)] {
        let (mut writer, reader) = open(image);
        workload
            .check(&reader.snapshot().unwrap(), &workload.info(height, 0))
            .unwrap();
        writer.commit(&blocks[height as usize..]).unwrap();
        workload
            .check(&reader.snapshot().unwrap(), &workload.info(BLOCKS, 0))
            .unwrap();
    }
}

#[test]
fn a_step_of_pruning_takes_one_sync_and_is_recovered() {
    let mut workload = Workload::new(10);
    let blocks = workload.grow(BLOCKS);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, LARGE, &workload);
    for (height, block) in (1..).zip(blocks) {
        writer.commit(&[block]).unwrap();
        let oldest_height = height - height % 5;
        if oldest_height == height {
            let syncs = disk.syncs();
            let bound = workload.blocks[height as usize].first_version;
            assert!(writer.prune(bound, u64::MAX).unwrap().done);
            assert_eq!(disk.syncs() - syncs, 1);
        }
        let info = workload.info(height, oldest_height);
        let (_writer, recovered) = open(disk.synced());
        for reader in [&reader, &recovered] {
            workload.check(&reader.snapshot().unwrap(), &info).unwrap();
        }
    }
}

#[test]
fn rejects_a_directory_without_its_needed_log() {
    let (directory, _) = killed_directory();
    fs::remove_file(directory.path().join("ledger.log")).unwrap();
    let text = damage_message(directory.path());
    assert!(text.contains("ledger.log is missing"), "{text}");
}

#[test]
fn rejects_a_log_with_damage_before_its_last_record() {
    let (directory, _) = killed_directory();
    let path = directory.path().join("ledger.log");
    let mut log = fs::read(&path).unwrap();
    // About in the third record: a record takes one page, and a few take more.
    log[2 * 4096 + 100] ^= 1;
    fs::write(&path, log).unwrap();
    let text = damage_message(directory.path());
    assert!(text.contains("the write-ahead log: record"), "{text}");
}

/// A stop with slow syncs must not take one for each step of the close.
#[test]
fn close_takes_one_sync_if_it_is_slow_and_leaves_the_log_to_the_next_start() {
    for is_known_to_be_slow in [false, true] {
        let mut workload = Workload::new(19);
        let blocks = workload.grow(3);
        let disk = Disk::default();
        let (mut writer, reader) = initialized(&disk, LARGE, &workload);
        for block in &blocks[..2] {
            writer.append(std::slice::from_ref(block), |_| ()).unwrap();
        }
        writer.apply().unwrap();
        let syncs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&syncs);
        disk.set_on_sync(move || {
            counted.fetch_add(1, SeqCst);
            // Longer than the limit of a slow sync.
            std::thread::sleep(Duration::from_millis(1_010));
        });
        if is_known_to_be_slow {
            writer.append(&blocks[2..], |_| ()).unwrap();
        }
        drop((writer, reader));
        assert_eq!(syncs.load(SeqCst), 1, "{is_known_to_be_slow}");
        let height = if is_known_to_be_slow { 3 } else { 2 };
        for image in [disk.synced(), disk.written()] {
            let (_writer, reader) = open(image);
            assert_eq!(reader.chain_tip().unwrap().height, height);
        }
    }
}
