//! Power loss with real files: what the real binary does to the file system is recorded, and for every sync of
//! a workload the directory is built as a disk may show it after the power failed at that moment: only what
//! was synced, names of files and directories included; or that and any part of the rest. Each is opened, must
//! hold everything that was acknowledged before that moment, and goes on.
//!
//! | to find | look in |
//! |---|---|
//! | what is recorded, and how | `recorder.c`, `recorder.rs` |
//! | what a disk may show | `disk.rs` |
//! | what the recorded nodes go through, and what they promise | `workload.rs` |
//! | what must hold of an image | `image.rs` |
//!
//! `POWERLOSS_SEED` chooses what of the unsynced rest arrives; `POWERLOSS_TORN` how many images of that kind
//! are tried at each sync.

// Seed and figures.
#![allow(clippy::print_stdout)]

mod disk;
mod image;
mod recorder;
mod workload;

use disk::FileSystem;
use fastrand::Rng;
use image::Check;
use recorder::{Recorder, Step};
use workload::Life;

/// Of the steps between two syncs every so many is tried too.
const BETWEEN: u64 = 40;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
    })
}

/// Records a workload, and tries what the disk may show at each moment of it.
fn try_all(name: &str, lives: &[Life]) {
    let seed = from_environment("POWERLOSS_SEED", 1);
    let torn = from_environment("POWERLOSS_TORN", 2);
    let recorder = Recorder::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let promises = runtime.block_on(workload::run(&recorder, lives));
    drop(runtime);
    let record = recorder.steps();
    let mut files = FileSystem::default();
    let mut random = Rng::with_seed(seed);
    let mut check = Check::new(promises);
    let mut syncs = 0;
    for (end, step) in record {
        let is_sync = matches!(step, Step::Synced { .. });
        if is_sync || random.u64(..BETWEEN) == 0 {
            // Before the sync is through: what is promised by now was durable without it.
            check.try_image(&files.synced());
            for _ in 0..torn {
                check.try_image(&files.torn(&mut random));
            }
        }
        syncs += u64::from(is_sync);
        files.apply(&step);
        check.pass(end, &step);
    }
    check.try_image(&files.synced());
    files.check_against(&recorder.root());
    println!("POWERLOSS_SEED={seed} POWERLOSS_TORN={torn} {name}: {syncs} syncs, {check}");
    assert!(syncs > 5, "nothing was recorded");
}

#[test]
fn what_was_acknowledged_survives_a_power_failure_at_every_sync() {
    try_all("a ledger's life", &Life::ALL);
}

/// The process dies, and later the power fails: what the first process had not synced the second one must.
#[test]
fn a_start_makes_durable_what_a_killed_one_had_only_written() {
    for killed in [
        Life::KilledAfter("mkdir /new/deep/data"),
        Life::KilledAfter("rename /new/deep/data/ledger.redb.new"),
    ] {
        try_all(&format!("{killed:?}"), &[killed, Life::Short]);
    }
    let killed = Life::KilledAfter("unlink /new/deep/data/mempool.bcs");
    try_all(
        &format!("{killed:?}"),
        &[Life::Parking, killed, Life::Short],
    );
}
