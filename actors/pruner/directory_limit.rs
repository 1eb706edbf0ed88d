//! The limit on the size of the data directory, and the window of versions that fits into it.
//!
//! The size is that of the pages that the database uses, of the log, and of the mempool that a stop
//! would save. Pages that pruning frees are used again before the file grows, so the file stays
//! within the limit if pruning begins before the used pages reach it. Until the end of a merge its
//! sources and its result both take space, so the used pages vary by a part of the ledger.
//!
//! Only a part of the size belongs to versions: the newest state and the indices of accounts stay.
//! The part is unknown, so the window approaches the limit step by step: each measurement reduces
//! it by half of what all bytes per version would suggest. Half, because the pages that were freed
//! last are measured as free one or two checkpoints later. A whole step would then prune the same
//! excess twice.

use ledger_store::StoreUsage;

/// Number of newest versions that stay whatever the limit is.
pub(super) const VERSIONS_MIN: u64 = 1_000;

/// Part of the limit, one in so many, that pruning leaves free. Merges and the pages that were
/// freed last took up to a tenth of a limit of 1 GiB, with 100,000 accounts under load
/// (benches/results/2026-11-28-size-limit.md).
const RESERVE_PART: u64 = 8;

/// Part of the size from which versions are removed, one in so many, within which the size varies
/// under load.
const NEAR_PART: u64 = 8;

/// The limit, compared with the newest measurement.
#[derive(Debug)]
pub(super) struct DirectoryLimit {
    limit_bytes: u64,
    /// Minimum number of versions by which the window is reduced while the directory exceeds the
    /// limit, because a step removes as many.
    batch_versions: u64,
    /// Number of the newest measurement.
    sequence: u64,
    directory_bytes: u64,
    fitting_versions: u64,
    /// Whether the measurement before the newest one led to the smallest window too, so that the
    /// newest one was made with it.
    was_smallest: bool,
}

impl DirectoryLimit {
    /// Creates the limit of `limit_bytes`, or `None` if that is 0.
    pub(super) fn new(limit_bytes: u64, batch_versions: u64) -> Option<Self> {
        (limit_bytes > 0).then_some(Self {
            limit_bytes,
            batch_versions,
            sequence: 0,
            directory_bytes: 0,
            fitting_versions: u64::MAX,
            was_smallest: false,
        })
    }

    /// Returns the size up to which the directory may grow before versions are removed for it, in
    /// bytes.
    fn aim_bytes(&self) -> u64 {
        self.limit_bytes - self.limit_bytes / RESERVE_PART
    }

    /// Compares a measurement of the store, unless it is the last one again. `pool_bytes` is the
    /// size of the saved mempool.
    pub(super) fn update(&mut self, usage: StoreUsage, pool_bytes: u64) {
        if usage.sequence == self.sequence {
            return;
        }
        self.sequence = usage.sequence;
        self.directory_bytes = usage.bytes().saturating_add(pool_bytes);
        let other_bytes = usage.log_bytes.saturating_add(pool_bytes);
        let available_bytes = self.aim_bytes().saturating_sub(other_bytes);
        let mut fitting = fitting_versions(usage.versions(), usage.used_bytes, available_bytes);
        if self.is_above() {
            fitting = fitting.min(usage.versions().saturating_sub(self.batch_versions));
        }
        self.was_smallest = self.fitting_versions == VERSIONS_MIN;
        self.fitting_versions = fitting.max(VERSIONS_MIN);
    }

    /// Returns the number of newest versions that may stay, at least [`VERSIONS_MIN`].
    pub(super) fn fitting_versions(&self) -> u64 {
        self.fitting_versions
    }

    /// Returns whether the directory was nearly so large that versions are removed for it, when it
    /// was measured last.
    pub(super) fn is_near(&self) -> bool {
        let aim_bytes = self.aim_bytes();
        self.directory_bytes > aim_bytes - aim_bytes / NEAR_PART
    }

    /// Returns whether the directory was larger than the limit when it was measured last.
    pub(super) fn is_above(&self) -> bool {
        self.directory_bytes > self.limit_bytes
    }

    /// Returns whether the directory is larger than the limit although the window is the smallest
    /// one.
    pub(super) fn is_above_with_smallest_window(&self) -> bool {
        self.is_above() && self.was_smallest && self.fitting_versions == VERSIONS_MIN
    }

    /// Returns the size of the directory when it was measured last, in bytes.
    pub(super) fn directory_bytes(&self) -> u64 {
        self.directory_bytes
    }

    /// Returns the limit in bytes.
    pub(super) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }
}

/// Returns the number of versions that the window may have next, if `versions` versions and the
/// rest of the database use `used_bytes`, and `available_bytes` are available.
///
/// A larger window is allowed as far as it fits for certain, whatever part of the used bytes does
/// not belong to versions.
fn fitting_versions(versions: u64, used_bytes: u64, available_bytes: u64) -> u64 {
    let scaled = u128::from(versions) * u128::from(available_bytes) / u128::from(used_bytes.max(1));
    let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
    match versions.checked_sub(scaled) {
        Some(excess) => scaled.saturating_add(excess / 2),
        None => scaled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1024 * 1024;

    /// A ledger whose size is known, in bytes.
    #[derive(Clone, Copy, Debug)]
    struct Model {
        /// Size of what pruning does not remove.
        fixed_bytes: u64,
        version_bytes: u64,
        log_bytes: u64,
        newest_version: u64,
        oldest_version: u64,
        sequence: u64,
        /// Size of the result of every second merge, which is free again after the merge.
        merge_bytes: u64,
        /// Duration of a merge.
        merge_checkpoints: u64,
    }

    impl Model {
        fn usage(&mut self, oldest_version: u64) -> StoreUsage {
            self.sequence += 1;
            // The pages of versions are free one checkpoint after their removal.
            let used = std::mem::replace(&mut self.oldest_version, oldest_version);
            let versions = self.newest_version + 1 - used;
            let is_merging = self.sequence / self.merge_checkpoints % 2 == 1;
            let merge_bytes = if is_merging { self.merge_bytes } else { 0 };
            StoreUsage {
                sequence: self.sequence,
                used_bytes: self.fixed_bytes + versions * self.version_bytes + merge_bytes,
                log_bytes: self.log_bytes,
                newest_version: self.newest_version,
                oldest_version,
            }
        }
    }

    fn limit(limit_bytes: u64) -> DirectoryLimit {
        DirectoryLimit::new(limit_bytes, 500).unwrap()
    }

    #[test]
    fn limit_of_0_is_none() {
        assert!(DirectoryLimit::new(0, 500).is_none());
    }

    #[test]
    fn window_is_unlimited_before_the_first_measurement() {
        let mut limit = limit(64 * MIB);
        limit.update(StoreUsage::default(), 7);
        assert_eq!(limit.fitting_versions(), u64::MAX);
        assert!(!limit.is_above());
    }

    #[test]
    fn limit_is_exceeded_once_the_smallest_window_was_measured() {
        let usage = |sequence, used_bytes| StoreUsage {
            sequence,
            used_bytes,
            newest_version: 1_200,
            ..StoreUsage::default()
        };
        let mut limit = limit(64 * MIB);
        limit.update(usage(1, 100 * MIB), 0);
        assert_eq!(limit.fitting_versions(), VERSIONS_MIN);
        assert!(!limit.is_above_with_smallest_window(), "pruning may help");
        limit.update(usage(2, 70 * MIB), 0);
        assert!(limit.is_above_with_smallest_window());
        limit.update(usage(3, 60 * MIB), 0);
        assert!(!limit.is_above_with_smallest_window());
    }

    #[test]
    fn log_and_saved_mempool_count() {
        let usage = StoreUsage {
            sequence: 1,
            used_bytes: 50 * MIB,
            log_bytes: 10 * MIB,
            newest_version: 99_999,
            oldest_version: 0,
        };
        let mut without_pool = limit(64 * MIB);
        without_pool.update(usage, 0);
        assert_eq!(without_pool.directory_bytes(), 60 * MIB);
        assert!(!without_pool.is_above());
        let mut with_pool = limit(64 * MIB);
        with_pool.update(usage, 20 * MIB);
        assert!(with_pool.is_above());
        assert!(with_pool.fitting_versions() < without_pool.fitting_versions());
    }

    proptest! {
        /// Under load the window approaches the limit, stays there, and is not much smaller than
        /// necessary. Merges need up to a tenth of the limit meanwhile.
        #[test]
        fn load_stays_within_the_limit(
            limit_mib in 64_u64..100_000,
            fixed_part in 0_u64..90,
            version_bytes in 200_u64..5_000,
            checkpoint_versions in 1_000_u64..4_000,
            first_part in 0_u64..300,
            merge_permille in 0_u64..100,
            merge_checkpoints in 1_u64..100,
        ) {
            let limit_bytes = limit_mib * MIB;
            let mut limit = limit(limit_bytes);
            let fixed_bytes = limit_bytes / 100 * fixed_part;
            let mut model = Model {
                fixed_bytes,
                version_bytes,
                log_bytes: 4 * MIB,
                newest_version: limit_bytes / version_bytes * first_part / 100 + 5_000,
                oldest_version: 0,
                sequence: 0,
                merge_bytes: limit_bytes / 1_000 * merge_permille,
                merge_checkpoints,
            };
            let mut oldest_version = 0;
            let mut directory_bytes = 0;
            let growth_bytes = checkpoint_versions * version_bytes;
            for checkpoint in 0..2_000 {
                limit.update(model.usage(oldest_version), 0);
                directory_bytes = limit.directory_bytes();
                let slack = 3 * growth_bytes;
                if checkpoint > 200 {
                    prop_assert!(directory_bytes <= limit_bytes + slack, "{checkpoint}: {model:?}");
                }
                // Pruning follows each block, so it is complete at the next checkpoint.
                model.newest_version += checkpoint_versions;
                let end = model.newest_version + 1;
                let first = end.saturating_sub(limit.fitting_versions());
                oldest_version = oldest_version.max(first);
            }
            if model.newest_version > 2 * limit_bytes / version_bytes {
                let reserve = limit_bytes / RESERVE_PART;
                let most = reserve + 4 * growth_bytes + limit_bytes / 4 + model.merge_bytes;
                let is_smallest = limit.fitting_versions() == VERSIONS_MIN;
                prop_assert!(
                    directory_bytes + most >= limit_bytes || is_smallest,
                    "{directory_bytes} of {limit_bytes} are used: {model:?}"
                );
            }
        }

        /// Without load the window is reduced until the directory fits or the smallest window
        /// remains, whichever is first.
        #[test]
        fn lowered_limit_is_reached(
            limit_mib in 64_u64..10_000,
            fixed_part in 0_u64..150,
            version_bytes in 200_u64..50_000,
            versions in 1_000_u64..10_000_000,
        ) {
            let limit_bytes = limit_mib * MIB;
            let mut limit = limit(limit_bytes);
            let fixed_bytes = limit_bytes / 100 * fixed_part;
            let mut oldest_version = 0;
            for sequence in 1..1_000 {
                let usage = StoreUsage {
                    sequence,
                    used_bytes: fixed_bytes + (versions - oldest_version) * version_bytes,
                    log_bytes: MIB,
                    newest_version: versions - 1,
                    oldest_version,
                };
                limit.update(usage, 0);
                if !limit.is_above() || limit.is_above_with_smallest_window() {
                    break;
                }
                let first = versions.saturating_sub(limit.fitting_versions());
                prop_assert!(
                    first >= oldest_version + 500 || limit.fitting_versions() == VERSIONS_MIN,
                    "no step is due: {usage:?}"
                );
                oldest_version = oldest_version.max(first);
            }
            let smallest = fixed_bytes + VERSIONS_MIN * version_bytes + MIB;
            prop_assert!(limit.fitting_versions() >= VERSIONS_MIN);
            prop_assert_eq!(
                limit.is_above(),
                limit.is_above_with_smallest_window(),
                "the smallest window has {} bytes", smallest
            );
            if smallest + 500 * version_bytes <= limit_bytes {
                prop_assert!(!limit.is_above());
            }
        }

        #[test]
        fn larger_window_fits_for_certain(
            versions in 1_u64..1_000_000,
            fixed_bytes in 0_u64..1_000_000_000,
            version_bytes in 1_u64..10_000,
            available_bytes in 0_u64..u64::MAX,
        ) {
            let used_bytes = fixed_bytes + versions * version_bytes;
            let fitting = fitting_versions(versions, used_bytes, available_bytes);
            if fitting > versions {
                let bytes = u128::from(fitting) * u128::from(version_bytes);
                prop_assert!(u128::from(fixed_bytes) + bytes <= u128::from(available_bytes));
            } else {
                prop_assert!(used_bytes >= available_bytes || fitting == versions);
            }
        }
    }
}
