//! The bound of pruning: minimum windows in versions and in time, and what overrides both.

use crate::{StoreError, read::view::ReadView};

/// The versions that pruning may remove.
///
/// A version may be removed if it is below both minimums, or below the overriding bound. Only whole
/// blocks are removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PruneBound {
    /// Versions from this one on stay.
    pub below_version: u64,
    /// Blocks of this time or later stay, in microseconds since the Unix epoch. `None` retains no
    /// block.
    pub before_usecs: Option<u64>,
    /// Versions below this one are removed, whatever the other fields retain.
    pub always_below_version: u64,
}

impl PruneBound {
    /// Returns a bound that retains the versions from `version` on.
    pub const fn below(version: u64) -> Self {
        Self {
            below_version: version,
            before_usecs: None,
            always_below_version: 0,
        }
    }

    /// Returns the version below which the blocks of `view` may be removed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a block is missing or damaged.
    pub(super) fn version(&self, view: &ReadView) -> Result<u64, StoreError> {
        let mut version = self.below_version;
        if let Some(time_usecs) = self.before_usecs
            && version > self.always_below_version.max(view.head.oldest_version)
        {
            version = version.min(first_version_from(view, time_usecs)?);
        }
        Ok(version.max(self.always_below_version))
    }
}

/// Returns the first version of the oldest block of `time_usecs` or later, or the highest number if
/// there is none.
fn first_version_from(view: &ReadView, time_usecs: u64) -> Result<u64, StoreError> {
    let block = |height: u64| {
        let missing = || StoreError::Inconsistent(format!("block {height} is missing"));
        view.block(height)?.ok_or_else(missing)
    };
    let head = &view.head;
    let height = first_from(head.oldest_block_height, head.tip.height, |height| {
        Ok::<_, StoreError>(block(height)?.header.timestamp_usecs >= time_usecs)
    })?;
    match height {
        Some(height) => Ok(block(height)?.first_version),
        None => Ok(u64::MAX),
    }
}

/// Returns the first number from `first` to `last` for which `is_from` holds, or `None` if it holds
/// for none. It must hold for all numbers after one for which it holds.
///
/// The number of calls is about twice the logarithm of the result's distance from `first`, because
/// the end of the window is usually a few blocks after its begin.
///
/// # Errors
///
/// Returns the error of `is_from`.
fn first_from<E>(
    first: u64,
    last: u64,
    is_from: impl Fn(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    let (mut low, mut step) = (first, 1_u64);
    let mut high = loop {
        let probe = low.saturating_add(step - 1).min(last);
        if is_from(probe)? {
            break probe;
        }
        if probe >= last {
            return Ok(None);
        }
        low = probe + 1;
        step = step.saturating_mul(2);
    };
    while low < high {
        let middle = low + (high - low) / 2;
        match is_from(middle)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Ok(Some(low))
}

#[cfg(test)]
mod tests {
    use super::first_from;
    use proptest::prelude::*;
    use std::{cell::Cell, convert::Infallible};

    proptest! {
        #[test]
        fn finds_the_first_block_of_a_time_with_few_reads(
            first in prop_oneof![Just(0), 0_u64..1_000_000],
            length in 1_u64..1_000_000_000,
            distance in 0_u64..1_100_000_000,
        ) {
            let last = first + length - 1;
            let reads = Cell::new(0_u32);
            let found = first_from(first, last, |height| {
                assert!((first..=last).contains(&height), "{height} is not in the window");
                reads.set(reads.get() + 1);
                Ok::<_, Infallible>(height - first >= distance)
            });
            let expected = (distance < length).then_some(first + distance);
            prop_assert_eq!(found, Ok(expected));
            let limit = 2 * (distance.min(length) + 2).ilog2() + 3;
            prop_assert!(reads.get() <= limit, "{} reads, limit {limit}", reads.get());
        }
    }
}
