//! Disks of several sizes that a ledger fills, alone or with another program.
//!
//! `DISK_FULL_RUNS` sets the number of runs and `DISK_FULL_SEED` the seed of the first one; each
//! next run has the next seed. A run prints its seed. One that fails or does not end prints the
//! log, the health and the metrics of the node.

use super::filled_disk::{Counters, FilledDisk, SMALL_CACHE};
use std::env;

/// Number of times that a run fills the disk and frees it.
const ROUNDS: usize = 6;

/// Number of times that the clients of a run submit to a ledger that is alone on its disk. Without
/// pruning, about 60 fill the largest disk.
const SUBMISSIONS: usize = 80;

/// Seed of the first run by default. Its disk has 32 MiB and that of the second one 48 MiB, so the
/// default runs are short; the first one prunes, and only it has a reserve.
const DEFAULT_SEED: u64 = 2;

/// Executes `run` on a new disk for each seed, and prints the sums of what happened.
///
/// `window_versions` returns the window of a node that prunes.
async fn for_each_seed(
    settings: &[&'static str],
    window_versions: fn(u64) -> u64,
    run: impl AsyncFn(&mut FilledDisk),
) {
    let number = |name: &str, default: u64| {
        env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (runs, first) = (
        number("DISK_FULL_RUNS", 2),
        number("DISK_FULL_SEED", DEFAULT_SEED),
    );
    let mut total = Counters::new();
    for seed in first..first + runs {
        let Some(mut disk) = FilledDisk::new(seed, settings, window_versions(seed)).await else {
            return;
        };
        disk.finish(&run).await;
        for (name, count) in &disk.counters {
            *total.entry(name).or_default() += count;
        }
        *total.entry("accepted").or_default() += disk.accepted.len();
        *total.entry("acknowledged").or_default() += disk.acknowledged.len();
        println!("after seed {seed}: {total:?}");
    }
}

#[tokio::test]
async fn loses_nothing_acknowledged_while_disks_are_filled_and_freed() {
    let run = async |disk: &mut FilledDisk| {
        for _ in 0..ROUNDS {
            if disk.is_full {
                break;
            }
            if disk.random.u8(..4) == 0 {
                disk.stop_on_a_full_disk().await;
            } else {
                disk.fill_under_load().await;
            }
        }
    };
    for_each_seed(&[], |_| 50, run).await;
}

#[tokio::test]
async fn no_write_runs_out_of_space_on_a_disk_that_only_the_ledger_fills() {
    // Some windows fill a disk before anything is pruned, others never do.
    let window_versions = |seed| fastrand::Rng::with_seed(seed).u64(50..2_000);
    let run = async |disk: &mut FilledDisk| disk.fill_by_the_ledger(SUBMISSIONS).await;
    for_each_seed(&[SMALL_CACHE], window_versions, run).await;
}
