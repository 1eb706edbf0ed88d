//! Numbers of the pool's transactions by age and by gas price.

use super::entry::Entry;
use std::collections::BTreeMap;

/// Ages in seconds from which a transaction is in the next group.
///
/// A transaction is usually committed before the first one. The last one is longer than a client
/// waits for a response.
pub const AGE_STEPS_SECS: [u64; GROUPS - 1] = [2, 10, 60];

/// Gas unit prices from which a transaction is in the next group. They are among those that an
/// estimate can name (`gas_price.rs`), beside the minimum of a usual chain, 100.
pub const PRICE_STEPS: [u64; GROUPS - 1] = [150, 1_000, 10_000];

/// Number of groups, so few that a chart shows them beside each other.
pub const GROUPS: usize = 4;

/// The numbers. Their size is bounded by the number of seconds within which the pool's transactions
/// were inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    /// Number of transactions by the second of their insertion, without zeros.
    by_second: BTreeMap<u64, usize>,
    by_price: [usize; GROUPS],
}

impl Groups {
    /// Adds a transaction that enters the pool.
    pub(super) fn add(&mut self, entry: &Entry) {
        *self.by_second.entry(entry.inserted_at_secs).or_default() += 1;
        self.by_price[group(entry.price(), PRICE_STEPS)] += 1;
    }

    /// Removes a transaction that leaves the pool.
    pub(super) fn remove(&mut self, entry: &Entry) {
        if let Some(count) = self.by_second.get_mut(&entry.inserted_at_secs) {
            *count -= 1;
            if *count == 0 {
                self.by_second.remove(&entry.inserted_at_secs);
            }
        }
        self.by_price[group(entry.price(), PRICE_STEPS)] -= 1;
    }

    /// Returns the number of transactions in each group of ages at `now_secs`, in Unix seconds. A
    /// transaction from the future, before the clock was corrected, is new.
    pub(super) fn by_age(&self, now_secs: u64) -> [usize; GROUPS] {
        let mut counts = [0; GROUPS];
        for (second, count) in &self.by_second {
            counts[group(now_secs.saturating_sub(*second), AGE_STEPS_SECS)] += count;
        }
        counts
    }

    /// Returns the number of transactions in each group of gas prices.
    pub(super) fn by_price(&self) -> [usize; GROUPS] {
        self.by_price
    }

    /// Returns the age of the oldest transaction at `now_secs`, in seconds, or 0 if there is none.
    pub(super) fn oldest_secs(&self, now_secs: u64) -> u64 {
        let oldest = self.by_second.first_key_value();
        oldest.map_or(0, |(second, _)| now_secs.saturating_sub(*second))
    }
}

/// Returns the index of the group of a value.
fn group(value: u64, steps: [u64; GROUPS - 1]) -> usize {
    steps.partition_point(|&step| step <= value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_the_group_that_begins_at_or_below_it() {
        let groups = [0, 1, 2, 9, 10, 59, 60, u64::MAX].map(|age| group(age, AGE_STEPS_SECS));
        assert_eq!(groups, [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}
