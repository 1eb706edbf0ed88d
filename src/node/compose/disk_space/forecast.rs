//! Forecast of the time at which the ledger has no more space, from its growth.
//!
//! The growth is that of the pages that the database uses, because the file grows in large steps.
//! It is measured over up to a day, and over about the last ten minutes or the last four samples,
//! whichever is longer. The larger growth counts, so that an increase of the load shows soon, and a
//! pause does not hide it. Merges of indices take and release pages within seconds, so a shorter
//! time would show growth where there is none.

use super::disks::DirectorySpace;
use ledger_store::StoreUsage;
use std::{collections::VecDeque, time::Duration};

/// Maximum number of samples. Every second one is dropped when there are so many.
const SAMPLES_MAX: usize = 128;

/// Minimum number of the newest samples over which the recent growth is measured.
const RECENT_SAMPLES: usize = 4;

/// Minimum time over which the recent growth is measured.
const RECENT_TIME: Duration = Duration::from_secs(10 * 60);

/// Time between the first samples.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// Time between samples once there are [`SAMPLES_MAX`] over a day.
const INTERVAL_MAX: Duration = Duration::from_secs(24 * 60 * 60 / SAMPLES_MAX as u64);

/// The used pages at a time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Time since the start of the monitor.
    at: Duration,
    used_bytes: u64,
}

/// The growth of the ledger.
#[derive(Debug)]
pub(super) struct Growth {
    /// Samples in the order of their times.
    samples: VecDeque<Sample>,
    /// Time between two samples.
    interval: Duration,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            samples: VecDeque::new(),
            interval: INTERVAL_MIN,
        }
    }
}

impl Growth {
    /// Records the used pages at `at`, unless the last sample is newer than the interval.
    pub(super) fn record(&mut self, at: Duration, used_bytes: u64) {
        let next = self.samples.back().map(|last| last.at + self.interval);
        if next.is_some_and(|next| at < next) {
            return;
        }
        self.samples.push_back(Sample { at, used_bytes });
        if self.samples.len() < SAMPLES_MAX {
            return;
        }
        if self.interval < INTERVAL_MAX {
            self.interval = (self.interval * 2).min(INTERVAL_MAX);
            let mut index = 0_usize;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        } else {
            self.samples.pop_front();
        }
    }

    /// Returns the seconds until `free_bytes` more are used: infinity if the ledger does not grow,
    /// `None` before the second sample.
    pub(super) fn full_in_seconds(&self, free_bytes: u64) -> Option<f64> {
        let newest = self.samples.back()?;
        let since = |first: &Sample| {
            let seconds = (newest.at.checked_sub(first.at)?).as_secs_f64();
            let bytes = newest.used_bytes as f64 - first.used_bytes as f64;
            (seconds > 0.0).then(|| bytes / seconds)
        };
        let is_recent_start =
            |sample: &&Sample| newest.at.checked_sub(sample.at) >= Some(RECENT_TIME);
        let recent = self
            .samples
            .iter()
            .rev()
            .skip(RECENT_SAMPLES)
            .find(is_recent_start);
        let rates = [self.samples.front(), recent].map(|first| since(first?));
        let rate = rates.into_iter().flatten().reduce(f64::max)?;
        Some(match rate > 0.0 {
            true => free_bytes as f64 / rate,
            false => f64::INFINITY,
        })
    }
}

/// Returns by how much the used pages can grow, in bytes: up to low disk space, which leaves
/// `reserve_bytes` free, and up to the limit on the directory if `limit_bytes` is not 0.
///
/// The file of the database takes no more of the disk while it has free pages.
pub(super) fn free_bytes(
    space: &DirectorySpace,
    usage: StoreUsage,
    pool_bytes: u64,
    reserve_bytes: u64,
    limit_bytes: u64,
) -> u64 {
    let free_pages = space.database.disk_bytes.saturating_sub(usage.used_bytes);
    let disk = space.ledger.free.saturating_sub(reserve_bytes);
    let on_disk = disk.saturating_add(free_pages);
    match limit_bytes {
        0 => on_disk,
        limit => on_disk.min(limit.saturating_sub(usage.bytes().saturating_add(pool_bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::disk_space::disks::DiskSpace;
    use ledger_store::FileSize;
    use std::path::Path;

    fn grown(seconds: u64, used_bytes: impl Fn(u64) -> u64) -> Growth {
        let mut growth = Growth::default();
        for second in 0..=seconds {
            growth.record(Duration::from_secs(second), used_bytes(second));
        }
        growth
    }

    #[test]
    fn forecast_is_unknown_before_the_second_sample() {
        assert_eq!(Growth::default().full_in_seconds(10), None);
        assert_eq!(grown(0, |_| 5).full_in_seconds(10), None);
    }

    #[test]
    fn steady_growth_fills_the_free_space_at_its_rate() {
        for seconds in [1, 100, 10_000, 200_000] {
            let growth = grown(seconds, |second| 1_000 + 50 * second);
            let full_in = growth.full_in_seconds(5_000).unwrap();
            assert!(
                (full_in - 100.0).abs() < 0.001,
                "{full_in} after {seconds} s"
            );
            assert!(growth.samples.len() <= SAMPLES_MAX);
        }
    }

    #[test]
    fn ledger_that_does_not_grow_is_never_full() {
        for used_bytes in [|_| 7, |second: u64| 1_000_000 - second] {
            let full_in = grown(1_000, used_bytes).full_in_seconds(1);
            assert_eq!(full_in, Some(f64::INFINITY));
        }
    }

    #[test]
    fn increase_of_the_load_shows_within_an_hour_after_a_day() {
        let day = 24 * 60 * 60;
        let later = day + 20 * 60;
        let growth = grown(later, |second| second + second.saturating_sub(day) * 999);
        let full_in = growth.full_in_seconds(1_000_000).unwrap();
        assert!(
            full_in < 10_000.0,
            "{full_in} s; 1,000,000 s at the growth before"
        );
    }

    #[test]
    fn free_space_is_that_of_the_disk_or_of_the_limit() {
        let space = DirectorySpace {
            directory: Path::new("data").into(),
            ledger: DiskSpace {
                free: 1_000,
                total: 9_000,
            },
            pool: None,
            database: FileSize {
                file_bytes: 900,
                disk_bytes: 500,
            },
            log_bytes: 50,
        };
        let usage = StoreUsage {
            sequence: 1,
            used_bytes: 300,
            log_bytes: 50,
            ..StoreUsage::default()
        };
        let free = |reserve, limit| free_bytes(&space, usage, 10, reserve, limit);
        assert_eq!(free(0, 0), 1_200, "200 bytes of the file are free");
        assert_eq!(free(400, 0), 800);
        assert_eq!(free(2_000, 0), 200);
        assert_eq!(free(400, 1_000), 640);
        assert_eq!(free(400, 100), 0);
    }
}
