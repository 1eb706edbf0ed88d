//! Power loss with real files.
//!
//! The file operations of the real binary are recorded. For every sync of a workload, the directory
//! is rebuilt as a disk may hold it after a power failure at that time. It has only the synced
//! content and the synced names of files and directories, or also any part of the rest. Every such
//! image is opened. It must have everything that was acknowledged before that time, and accept new
//! transactions.
//!
//! | subject | file |
//! |---|---|
//! | recording | `recorder.c`, `recorder.rs` |
//! | the content of a disk after a power failure | `disk.rs` |
//! | the workload of the recorded nodes, and what they acknowledge | `workload.rs` |
//! | the checks of an image | `image.rs` |
//!
//! `POWERLOSS_SEED` selects the unsynced content of an image. `POWERLOSS_TORN` is the number of
//! images with unsynced content at each sync.

// Prints the seed and the figures.
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

/// One of this number of steps between two syncs is tried too.
const STEPS_PER_EXTRA_IMAGE: u64 = 40;

/// Returns the number in an environment variable.
fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a whole number"))
    })
}

/// Records a workload, and tries the images of all its syncs.
fn try_images(name: &str, lives: &[Life]) {
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
        if is_sync || random.u64(..STEPS_PER_EXTRA_IMAGE) == 0 {
            // The sync has not completed: everything acknowledged so far was durable without it.
            check.try_image(&files.synced());
            for _ in 0..torn {
                check.try_image(&files.torn(&mut random));
            }
        }
        syncs += u64::from(is_sync);
        files.apply(&step);
        check.advance(end, &step);
    }
    check.try_image(&files.synced());
    files.check_against(&recorder.root());
    println!("POWERLOSS_SEED={seed} POWERLOSS_TORN={torn} {name}: {syncs} syncs, {check}");
    assert!(syncs > 5, "nothing was recorded");
}

#[test]
fn has_everything_acknowledged_after_a_power_failure_at_every_sync() {
    try_images("all lives", &Life::ALL);
}

/// The process is killed, and later the power fails. The second process must sync what the first
/// one had not synced.
#[test]
fn syncs_at_the_start_what_a_killed_node_had_only_written() {
    for killed in [
        Life::KilledAfter("mkdir /new/deep/data"),
        Life::KilledAfter("rename /new/deep/data/ledger.redb.new"),
    ] {
        try_images(&format!("{killed:?}"), &[killed, Life::Short]);
    }
    let killed = Life::KilledAfter("unlink /new/deep/data/mempool.bcs");
    try_images(
        &format!("{killed:?}"),
        &[Life::Parking, killed, Life::Short],
    );
}
