//! The application of durable blocks to the database: when, and by which thread.

use super::{
    Config, configured,
    recovery::{LARGE, SMALL, initialized, open},
    workload::Workload,
};
use crate::{Store, StoreError, StoreOptions, StoreWriter, wal::WalConfig};
use ledger_crypto::HashValue;
use ledger_test_support::{Disk, Fault, generated::genesis};
use ledger_types::ExecutedBlock;
use serde::Serialize;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

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
        assert!(matches!(never, Err(StoreError::Closed)), "{never:?}");
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
