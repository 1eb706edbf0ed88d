//! Crashes at every write and sync of a small workload: from the chosen operation on everything fails,
//! as if the machine had stopped. Then the store is opened on each image that the disk may be left with
//! (`ledger_test_support::Disk`).

use crate::tests::{OPTIONS, SMALL_RUNS, kit::genesis, with_config, workload::Workload};
use crate::{Store, StoreError};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault, Image};

/// Returns the synced content and a random part of the writes since, which the seed chooses.
fn torn(disk: &Disk, seed: u64) -> Image {
    let mut random = Rng::with_seed(seed);
    disk.torn(&mut |bound| random.usize(..bound))
}

/// A disk that stops working after so many writes and syncs.
fn failing_from(operations: usize) -> Disk {
    let disk = Disk::default();
    disk.inject(Fault::Gone { after: operations });
    disk
}

/// Newest and oldest height.
type Ends = (u64, u64);

/// Blocks of each group, and up to where is pruned after it.
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
/// All blocks of the script.
const BLOCKS: u64 = 18;

#[derive(Debug, Default)]
struct Progress {
    acknowledged: Option<Ends>,
    in_flight: Option<Ends>,
}

/// Does the script until something fails; tells how far it came.
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
            // What is in the log is durable and shown, also where the file of the database could not grow for it.
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

/// Opens what is left, checks every answer, and goes on writing if that is wanted.
fn check_image(image: Image, progress: &Progress, workload: &Workload, goes_on: bool) {
    let disk = Disk::new(image);
    let store = match Store::open_backend(disk.clone(), disk.log(), &OPTIONS) {
        Ok(store) => store,
        // The database was still being made. A file has another name until it is whole.
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
    // One more than the script commits: what is tried after a failure.
    workload.grow(BLOCKS + 1);
    let disk = Disk::default();
    let progress = run(&disk, &workload);
    assert_eq!(progress.acknowledged, Some((BLOCKS, 12)), "{progress:?}");
    let operations = disk.operations();
    assert!(
        operations > 100,
        "only {operations} operations: the disk is bypassed"
    );
    // What is synced stays the same until the next sync, and most is acknowledged right before that.
    let mut synced: Option<(usize, Image, Progress)> = None;
    for fails_from in 0..operations {
        let disk = failing_from(fails_from);
        let progress = run(&disk, &workload);
        check_image(disk.written(), &progress, &workload, false);
        // Whatever has arrived, the rest can follow: every other time, as that is the most work.
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
