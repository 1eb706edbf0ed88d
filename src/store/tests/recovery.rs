//! The write-ahead log in a store: the syncs of each operation, recovery, and damaged logs.

use super::{Config, OPTIONS, configured, kit::genesis, workload::Workload};
use crate::{
    Store, StoreError, StoreOptions, StoreReader, StoreWriter,
    tables::schema::{FORMAT_OLDEST, META, META_FORMAT, META_LOG},
    wal::WalConfig,
};
use ledger_crypto::HashValue;
use ledger_test_support::{Disk, Fault, Image};
use ledger_types::ExecutedBlock;
use redb::{Database, ReadableDatabase as _, StorageBackend as _, backends::InMemoryBackend};
use serde::Serialize;
use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tempfile::TempDir;

const BLOCKS: u64 = 30;
/// A log for all groups of one block.
const LARGE: WalConfig = WalConfig {
    bytes_max: 1024 * 1024,
    ..WalConfig::SMALL
};
/// A log for some groups of one block, and for none of forty.
const SMALL: WalConfig = WalConfig {
    bytes_max: 8 * 4096,
    ..WalConfig::SMALL
};

fn open(image: Image) -> (StoreWriter, StoreReader) {
    let disk = Disk::new(image);
    configured(
        Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap(),
        Config::SMALL,
    )
    .split()
}

/// Creates a store with genesis on a disk.
fn initialized(disk: &Disk, config: WalConfig, workload: &Workload) -> (StoreWriter, StoreReader) {
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
fn calls_on_durable_before_a_group_is_applied() {
    // Without capacity in the log, every group is a checkpoint, which is durable and applied at
    // once.
    let none = WalConfig {
        bytes_max: 0,
        ..WalConfig::SMALL
    };
    for (config, is_logged) in [(LARGE, true), (none, false)] {
        let mut workload = Workload::new(12);
        let blocks = workload.grow(1);
        let disk = Disk::default();
        let (mut writer, reader) = initialized(&disk, config, &workload);
        let mut calls = 0;
        let on_durable = |_| {
            calls += 1;
            assert_eq!(reader.would_wait(1), is_logged);
            let (_writer, reopened) = open(disk.synced());
            assert_eq!(
                reopened.chain_tip().unwrap().height,
                1,
                "not durable at the call"
            );
        };
        writer.append(&blocks, on_durable).unwrap();
        assert_eq!(calls, 1);
        assert_eq!(reader.would_wait(1), is_logged);
        writer.apply().unwrap();
        reader.wait_applied(1, None).unwrap();
        assert_eq!(reader.chain_tip().unwrap().height, 1);
        assert!(reader.would_wait(2), "the block does not exist");
        drop(writer);
        let never = reader.wait_applied(2, None);
        assert!(matches!(never, Err(StoreError::Poisoned(_))), "{never:?}");
    }
}

#[test]
fn applies_durable_blocks_after_a_write_fault_but_not_after_a_read_fault() {
    for (fault, is_applied) in [
        (Fault::Gone { after: 0 }, true),
        (Fault::Reads { after: 0 }, false),
    ] {
        let mut workload = Workload::new(13);
        let blocks = workload.grow(2);
        let disk = Disk::default();
        // Without memory for pages, every read and write reaches the disk.
        let options = StoreOptions { cache_bytes: 1 };
        let store = Store::open_backend(disk.clone(), disk.log(), &options).unwrap();
        let mut store = configured(store, Config::with_wal(LARGE));
        store.initialize(&genesis(), &workload.blocks[0]).unwrap();
        let (mut writer, reader) = store.split();
        writer.commit(&blocks[..1]).unwrap();
        let appended = writer.append(&blocks[1..], |_| disk.inject(fault));
        let failed = appended.and_then(|()| writer.apply());
        assert!(failed.is_err_and(|error| error.is_failed_io()), "{fault:?}");
        let applied = reader.wait_applied(2, None);
        if is_applied {
            applied.unwrap();
            assert_eq!(reader.chain_tip().unwrap().height, 2);
        } else {
            assert!(applied.unwrap_err().is_failed_io());
        }
        let (_writer, reopened) = open(disk.synced());
        assert_eq!(
            reopened.chain_tip().unwrap().height,
            2,
            "{fault:?}: the block was durable"
        );
    }
}

#[test]
fn applies_unapplied_blocks_with_any_later_write() {
    type Next = fn(&mut StoreWriter, &[Arc<ExecutedBlock>], &Disk);
    let cases: [(&str, u64, Next); 6] = [
        ("a commit", 1, |writer, next, _| {
            writer.commit(next).unwrap();
        }),
        ("a step of pruning", 0, |writer, _, _| {
            writer.prune(1, u64::MAX).unwrap();
        }),
        ("a checkpoint", 1, |writer, next, _| {
            writer.wal_config.bytes_max = 0;
            writer.append(next, |_| ()).unwrap();
        }),
        ("a checkpoint that fails", 1, |writer, next, disk| {
            writer.wal_config.bytes_max = 0;
            disk.inject(Fault::Gone { after: 0 });
            writer.append(next, |_| ()).unwrap_err();
        }),
        ("many more", 20, |writer, next, _| {
            for block in next {
                writer.append(std::slice::from_ref(block), |_| ()).unwrap();
            }
            assert!(
                writer.unapplied_transactions() > 0,
                "each group was applied separately"
            );
        }),
        ("a log that fails", 1, |writer, next, disk| {
            disk.inject(Fault::Gone { after: 0 });
            writer.append(next, |_| ()).unwrap_err();
        }),
    ];
    for (case, more, next) in cases {
        let mut workload = Workload::new(14);
        let blocks = workload.grow(2 + more);
        let disk = Disk::default();
        let (mut writer, reader) = initialized(&disk, LARGE, &workload);
        for block in &blocks[..2] {
            writer.append(std::slice::from_ref(block), |_| ()).unwrap();
        }
        assert!(reader.would_wait(2), "{case}");
        next(&mut writer, &blocks[2..], &disk);
        assert!(!reader.would_wait(2), "{case}");
        reader.wait_applied(2, None).expect(case);
    }
}

#[test]
fn applies_with_the_group_after_a_limit_is_reached() {
    let by_count = WalConfig {
        unapplied_blocks_max: 2,
        ..LARGE
    };
    let by_size = WalConfig {
        // Each block is larger.
        unapplied_bytes_max: 1,
        ..LARGE
    };
    for (config, expected) in [
        (by_count, [true, true, false]),
        (by_size, [true, false, true]),
    ] {
        let mut workload = Workload::new(15);
        let blocks = workload.grow(3);
        let (mut writer, _reader) = initialized(&Disk::default(), config, &workload);
        let are_unapplied = [0, 1, 2].map(|index| {
            writer.append(&blocks[index..=index], |_| ()).unwrap();
            writer.unapplied_transactions() > 0
        });
        assert_eq!(are_unapplied, expected, "{config:?}");
    }
}

#[test]
fn returns_the_parts_of_each_transaction_from_the_record() {
    fn bcs(value: &impl Serialize) -> Vec<u8> {
        bcs::to_bytes(value).unwrap()
    }
    let mut workload = Workload::new(16);
    let blocks = workload.grow(7);
    let (mut writer, _reader) = initialized(&Disk::default(), LARGE, &workload);
    for group in [&blocks[..1], &blocks[1..]] {
        let mut wal_blocks = Vec::new();
        writer
            .append(group, |durable| wal_blocks = durable)
            .unwrap();
        assert_eq!(wal_blocks.len(), group.len());
        for (wal_block, block) in wal_blocks.iter().zip(group) {
            for (index, executed) in block.transactions.iter().enumerate() {
                let parts = wal_block.transaction(index).unwrap();
                assert_eq!(parts.transaction, bcs(&executed.transaction));
                assert_eq!(
                    parts.info_and_events,
                    bcs(&(&executed.info, &executed.events))
                );
                assert_eq!(parts.writes, bcs(&executed.writes));
                assert_eq!(parts.accumulator_root, bcs(&executed.accumulator_root));
                let all = bcs(executed).len();
                assert_eq!(parts.size_bytes(), all - HashValue::LENGTH);
            }
            assert!(wal_block.transaction(block.transactions.len()).is_none());
        }
    }
    writer.wal_config.bytes_max = 0;
    let mut wal_blocks = None;
    writer
        .append(&workload.grow(1), |durable| wal_blocks = Some(durable))
        .unwrap();
    assert!(
        wal_blocks.is_some_and(|none| none.is_empty()),
        "a checkpoint has no record"
    );
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

#[test]
fn upgrades_a_directory_of_the_format_without_a_log() {
    let mut workload = Workload::new(9);
    let blocks = workload.grow(BLOCKS);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.redb");
    let mut store = Store::open(directory.path(), &OPTIONS).unwrap();
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    writer.commit(&blocks[..10]).unwrap();
    drop((writer, reader));
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut meta = transaction.open_table(META).unwrap();
        meta.insert(META_FORMAT, FORMAT_OLDEST.to_le_bytes().as_slice())
            .unwrap();
        meta.remove(META_LOG).unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    fs::remove_file(directory.path().join("ledger.log")).unwrap();

    let (mut writer, reader) = Store::open(directory.path(), &OPTIONS).unwrap().split();
    for block in &blocks[10..] {
        writer.commit(std::slice::from_ref(block)).unwrap();
    }
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(BLOCKS, 0))
        .unwrap();
    drop((writer, reader));
    let database = Database::create(&path).unwrap();
    let meta = database.begin_read().unwrap().open_table(META).unwrap();
    let format = meta.get(META_FORMAT).unwrap().unwrap();
    assert_eq!(format.value(), (FORMAT_OLDEST + 1).to_le_bytes());
}

/// A client that saw a durable block must not wait for the sync of the next one.
#[test]
fn applies_durable_blocks_during_the_sync_of_the_next_group() {
    let mut workload = Workload::new(17);
    let blocks = workload.grow(2);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, LARGE, &workload);
    // The first group after genesis of this configuration goes into the log.
    writer.append(&blocks[..1], |_| ()).unwrap();
    assert!(reader.would_wait(1));
    let applied = Arc::new(AtomicBool::new(false));
    disk.set_on_sync({
        let (applier, reader, applied) = (writer.applier(), reader.clone(), Arc::clone(&applied));
        move || {
            applier.apply().unwrap();
            // The second block is not durable yet.
            applied.store(!reader.would_wait(1) && reader.would_wait(2), SeqCst);
        }
    });
    writer.append(&blocks[1..], |_| ()).unwrap();
    assert!(applied.load(SeqCst));
    disk.set_on_sync(|| ());
    writer.apply().unwrap();
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(2, 0))
        .unwrap();
}

/// A checkpoint begins on the view that a concurrent apply publishes, not on the one before it.
#[test]
fn checkpoints_lose_no_index_entry_while_another_thread_applies() {
    const BLOCKS: u64 = 150;
    let mut workload = Workload::new(20);
    let disk = Disk::default();
    let (mut writer, reader) = initialized(&disk, SMALL, &workload);
    let (applier, is_over) = (writer.applier(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(SeqCst) {
                applier.apply().unwrap();
            }
        });
        for _ in 0..BLOCKS {
            writer.append(&workload.grow(1), |_| ()).unwrap();
        }
        is_over.store(true, SeqCst);
    });
    assert!(writer.wal.generation() > 10, "no checkpoint");
    writer.apply().unwrap();
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(BLOCKS, 0))
        .unwrap();
}

#[test]
fn ends_a_wait_for_an_apply_after_its_timeout() {
    let mut workload = Workload::new(18);
    let blocks = workload.grow(1);
    let (mut writer, reader) = initialized(&Disk::default(), LARGE, &workload);
    writer.append(&blocks, |_| ()).unwrap();
    let waited = reader.wait_applied(1, Some(Duration::from_millis(1)));
    assert!(
        matches!(waited, Err(StoreError::NotApplied { height: 1 })),
        "{waited:?}"
    );
    writer.apply().unwrap();
    reader.wait_applied(1, Some(Duration::ZERO)).unwrap();
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
