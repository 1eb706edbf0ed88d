//! Crashes at every write and sync of a small workload.
//!
//! From the chosen operation everything fails, as if the machine had stopped. Then the store is
//! opened on each image that the disk may have (`ledger_test_support::Disk`).

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{Store, StoreError};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault, Image, generated::genesis};

/// Returns the synced content and a part of the later writes, which `seed` determines.
fn torn_image(disk: &Disk, seed: u64) -> Image {
    let mut random = Rng::with_seed(seed);
    disk.torn(&mut |bound| random.usize(..bound))
}

/// Returns a disk that fails after this number of writes and syncs.
fn disk_failing_from(operations: usize) -> Disk {
    let disk = Disk::default();
    disk.inject(Fault::Gone { after: operations });
    disk
}

/// Newest and oldest height of a ledger.
type Heights = (u64, u64);

/// Number of blocks in each group, and the height to which the window is pruned after it.
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
/// Number of blocks in the script.
const BLOCKS: u64 = 18;

/// Progress of the script until an operation failed.
#[derive(Debug, Default)]
struct Progress {
    /// Heights of the ledger after the last acknowledged operation.
    acknowledged: Option<Heights>,
    /// Heights of the ledger after the operation that was started last.
    in_flight: Option<Heights>,
}

/// Runs the script until something fails, and returns its progress.
fn run(disk: &Disk, workload: &Workload) -> Progress {
    let mut progress = Progress::default();
    let Ok(store) = Store::open_backend(disk.clone(), disk.log(), &OPTIONS) else {
        return progress;
    };
    let mut store = configured(store, Config::SMALL);
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
            let applied = *reader.snapshot().unwrap().ledger_info();
            // A record of the log is durable and applied, even if the file of the database could
            // not grow for it.
            let is_durable = || {
                let disk = Disk::new(disk.synced());
                let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
                applied == *store.split().1.snapshot().unwrap().ledger_info()
            };
            assert!(
                applied == workload.info(newest, oldest) || is_durable(),
                "applied before durable: {applied:?}"
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

/// Opens an image and compares every answer with the model. Commits the rest if `commits_rest`.
fn check_image(image: Image, progress: &Progress, workload: &Workload, commits_rest: bool) {
    let disk = Disk::new(image);
    let store = match Store::open_backend(disk.clone(), disk.log(), &OPTIONS) {
        Ok(store) => store,
        // The database was not complete. In a directory, its file would have another name until
        // then.
        Err(error) => {
            assert!(progress.in_flight.is_none(), "{error} after {progress:?}");
            return;
        }
    };
    let mut store = configured(store, Config::SMALL);
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
    let heights = (info.block_height, info.oldest_block_height);
    if !is_empty {
        let is_expected = [progress.acknowledged, progress.in_flight].contains(&Some(heights));
        assert!(is_expected, "{heights:?} after {progress:?}");
    }
    workload
        .check(
            &reader.snapshot().unwrap(),
            &workload.info(heights.0, heights.1),
        )
        .unwrap();
    let rest = &workload.blocks[heights.0 as usize + 1..];
    if commits_rest && !rest.is_empty() {
        writer.commit(rest).unwrap();
        workload
            .check(
                &reader.snapshot().unwrap(),
                &workload.info(BLOCKS + 1, heights.1),
            )
            .unwrap();
    }
}

#[test]
fn acknowledged_commits_survive_a_crash_at_any_operation() {
    let mut workload = Workload::new(3);
    // The script does not commit the last block, which is tried after a failure.
    workload.grow(BLOCKS + 1);
    let disk = Disk::default();
    let progress = run(&disk, &workload);
    assert_eq!(progress.acknowledged, Some((BLOCKS, 12)), "{progress:?}");
    let operations = disk.operations();
    assert!(
        operations > 100,
        "only {operations} operations: the disk is bypassed"
    );
    // The synced content is constant until the next sync, and the progress is greatest right before
    // it.
    let mut synced: Option<(usize, Image, Progress)> = None;
    for fails_from in 0..operations {
        let disk = disk_failing_from(fails_from);
        let progress = run(&disk, &workload);
        check_image(disk.written(), &progress, &workload, false);
        // The rest can follow any image. Every other one is enough, because this takes the most
        // time.
        let commits_rest = fails_from % 2 == 0;
        check_image(
            torn_image(&disk, fails_from as u64),
            &progress,
            &workload,
            commits_rest,
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
