//! Crashes at every write and sync of a small workload.
//!
//! From the chosen operation on, every write and sync fails, as if the machine had stopped. The
//! test then opens the store on each image that the disk may be left with
//! (`ledger_test_support::Disk`).

use crate::tests::{OPTIONS, SMALL_RUNS, kit::genesis, with_config, workload::Workload};
use crate::{Store, StoreError};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault, Image};

/// Returns the synced content and a part of the later writes, which `seed` determines.
fn torn(disk: &Disk, seed: u64) -> Image {
    let mut random = Rng::with_seed(seed);
    disk.torn(&mut |bound| random.usize(..bound))
}

/// Returns a disk that stops working after the given number of writes and syncs.
fn failing_from(operations: usize) -> Disk {
    let disk = Disk::default();
    disk.inject(Fault::Gone { after: operations });
    disk
}

/// Newest and oldest height of a ledger.
type Ends = (u64, u64);

/// Number of blocks of each group, and the height to which the store is pruned after it.
const SCRIPT: [(u64, Option<u64>); 8] = [
    (1, None),
    (3, None),
    (1, Some(2)),
    (4, None),
    (2, Some(5)),
    (1, Some(6)),
    (3, None),
    (3, Some(12)),
];
/// Number of blocks of the script.
const BLOCKS: u64 = 18;

/// Progress of the script until an operation failed.
#[derive(Debug, Default)]
struct Progress {
    /// Heights of the ledger after the last acknowledged operation.
    acknowledged: Option<Ends>,
    /// Heights of the ledger after the operation that was started last.
    in_flight: Option<Ends>,
}

/// Runs the script until an operation fails, and returns the progress.
fn run(disk: &Disk, workload: &Workload) -> Progress {
    let mut progress = Progress::default();
    let Ok(store) = Store::open_backend(disk.clone(), disk.log(), &OPTIONS) else {
        return progress;
    };
    let mut store = with_config(store, SMALL_RUNS);
    progress.in_flight = Some((0, 0));
    if store.initialize(&genesis(), &workload.blocks[0]).is_err() {
        return progress;
    }
    progress.acknowledged = progress.in_flight;
    let (mut writer, reader) = store.split();
    let (mut newest, mut oldest) = (0, 0);
    for (count, prune_to) in SCRIPT {
        let blocks = &workload.blocks[newest as usize + 1..][..count as usize];
        newest += count;
        let mut results = Vec::new();
        progress.in_flight = Some((newest, oldest));
        results.push(writer.commit(blocks));
        if let (Some(height), true) = (prune_to, results[0].is_ok()) {
            progress.acknowledged = progress.in_flight;
            oldest = height;
            progress.in_flight = Some((newest, oldest));
            let bound = workload.blocks[height as usize].first_version;
            results.push(writer.prune(bound, u64::MAX).map(drop));
        }
        if results.iter().any(Result::is_err) {
            let (newest, oldest) = progress.acknowledged.unwrap();
            let shown = *reader.snapshot().unwrap().ledger_info();
            // Blocks in the log are durable and visible, even if the database file cannot grow for
            // them.
            let is_durable = || {
                let disk = Disk::new(disk.synced());
                let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
                shown == *store.split().1.snapshot().unwrap().ledger_info()
            };
            assert!(
                shown == workload.info(newest, oldest) || is_durable(),
                "shown before durable: {shown:?}"
            );
            let next = &workload.blocks[newest as usize + 1..][..1];
            assert!(matches!(writer.commit(next), Err(StoreError::Poisoned(_))));
            assert!(matches!(
                writer.prune(u64::MAX, 1),
                Err(StoreError::Poisoned(_))
            ));
            return progress;
        }
        progress.acknowledged = progress.in_flight;
    }
    progress
}

/// Opens the store on an image and checks every read. Then commits the remaining blocks if
/// `goes_on` is set.
fn check_image(image: Image, progress: &Progress, workload: &Workload, goes_on: bool) {
    let disk = Disk::new(image);
    let store = match Store::open_backend(disk.clone(), disk.log(), &OPTIONS) {
        Ok(store) => store,
        // The database was still being created. Its file has another name until it is complete.
        Err(error) => {
            assert!(progress.in_flight.is_none(), "{error} after {progress:?}");
            return;
        }
    };
    let mut store = with_config(store, SMALL_RUNS);
    let is_empty = store.genesis().unwrap().is_none();
    assert!(
        !is_empty || progress.acknowledged.is_none(),
        "genesis is gone: {progress:?}"
    );
    if is_empty {
        store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    }
    let (mut writer, reader) = store.split();
    let info = *reader.snapshot().unwrap().ledger_info();
    let ends = (info.block_height, info.oldest_block_height);
    if !is_empty {
        let is_expected = [progress.acknowledged, progress.in_flight].contains(&Some(ends));
        assert!(is_expected, "{ends:?} after {progress:?}");
    }
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(ends.0, ends.1))
        .unwrap();
    let rest = &workload.blocks[ends.0 as usize + 1..];
    if goes_on && !rest.is_empty() {
        writer.commit(rest).unwrap();
        workload
            .check(
                &reader.snapshot().unwrap(),
                &workload.info(BLOCKS + 1, ends.1),
            )
            .unwrap();
    }
}

#[test]
fn every_acknowledged_commit_survives_a_crash_at_any_operation() {
    let mut workload = Workload::new(3);
    // One block more than the script commits, for the attempt after a failure.
    workload.grow(BLOCKS + 1);
    let disk = Disk::default();
    let progress = run(&disk, &workload);
    assert_eq!(progress.acknowledged, Some((BLOCKS, 12)), "{progress:?}");
    let operations = disk.operations();
    assert!(
        operations > 100,
        "only {operations} operations: the disk is bypassed"
    );
    // Runs between two syncs leave the same synced content, and the last of them acknowledges the
    // most. Only that run is checked.
    let mut synced: Option<(usize, Image, Progress)> = None;
    for fails_from in 0..operations {
        let disk = failing_from(fails_from);
        let progress = run(&disk, &workload);
        check_image(disk.written(), &progress, &workload, false);
        // The remaining blocks can follow any image. Every other image suffices, because
        // committing them is most of the work.
        let goes_on = fails_from % 2 == 0;
        check_image(
            torn(&disk, fails_from as u64),
            &progress,
            &workload,
            goes_on,
        );
        if let Some((syncs, image, progress)) = synced.take()
            && syncs != disk.syncs()
        {
            check_image(image, &progress, &workload, true);
        }
        synced = Some((disk.syncs(), disk.synced(), progress));
    }
    let (_, image, progress) = synced.expect("there were operations");
    check_image(image, &progress, &workload, true);
}
