//! A transaction of the pool with its metadata, and its keys in the indices.

use ledger_types::CheckedTransaction;
use std::{sync::Arc, time::Duration};

/// The tags of a transaction, in microseconds; see [`super::account_queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tags {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Length of a tick of [`admission_ticks`] in microseconds, as a power of two: 16.
///
/// It is so short that the latency of a lone client has several ticks, and so long that 32 bits,
/// which an entry has to spare, are 19 hours.
const TICK_BITS: u32 = 4;

/// Returns a time in microseconds in ticks that wrap around.
pub(super) fn admission_ticks(now_usecs: u64) -> u32 {
    (now_usecs >> TICK_BITS) as u32
}

/// Returns the time from `admitted_ticks` to `now_ticks`.
pub(super) fn time_between(admitted_ticks: u32, now_ticks: u32) -> Duration {
    let ticks = u64::from(now_ticks.wrapping_sub(admitted_ticks));
    Duration::from_micros(ticks << TICK_BITS)
}

/// The values that decide when a block takes a ready transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReadyKey {
    pub(super) price: u64,
    pub(super) tags: Tags,
    /// Position in the order of insertion into the pool.
    pub(super) insertion: u64,
}

/// Order in which transactions expire: expiration in Unix seconds, then first insertion.
pub(super) type ExpiryKey = (u64, u64);

/// A number of transactions, their total size in bytes, and their total cost in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) count: usize,
    pub(super) bytes: usize,
    pub(super) usecs: u64,
}

impl Amount {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            count: 1,
            bytes: entry.transaction.size_bytes(),
            usecs: entry.cost_usecs,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.usecs += other.usecs;
    }

    pub(super) fn remove(&mut self, other: Self) {
        self.count -= other.count;
        self.bytes -= other.bytes;
        self.usecs -= other.usecs;
    }
}

/// A transaction of the pool.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) transaction: Arc<CheckedTransaction>,
    /// Position in the order of insertion into the pool.
    pub(super) insertion: u64,
    /// Turn among the transactions of the same price, see [`super::account_queue`].
    pub(super) start_tag: u64,
    /// Estimated time that the transaction takes in a block, in microseconds, as of its admission.
    /// At least 1.
    pub(super) cost_usecs: u64,
    /// Time of insertion, in Unix seconds.
    pub(super) inserted_at_secs: u64,
    /// Time of expiration, in Unix seconds.
    pub(super) expires_at_secs: u64,
    /// Time of admission, as [`admission_ticks`] counts it.
    pub(super) admitted_ticks: u32,
    /// Whether a block has taken the transaction. Otherwise it waits, ready or parked.
    pub(super) is_taken: bool,
}

impl Entry {
    pub(super) fn price(&self) -> u64 {
        self.transaction.raw().gas_unit_price
    }

    pub(super) fn tags(&self) -> Tags {
        Tags {
            start: self.start_tag,
            end: self.start_tag.saturating_add(self.cost_usecs),
        }
    }

    pub(super) fn ready_key(&self) -> ReadyKey {
        ReadyKey {
            price: self.price(),
            tags: self.tags(),
            insertion: self.insertion,
        }
    }

    pub(super) fn expiry_key(&self) -> ExpiryKey {
        (self.expires_at_secs, self.insertion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_a_time_across_the_wrap_around_of_ticks() {
        for (admitted_usecs, usecs) in [(0, 0), (1_000, 480), ((1 << 36) - 160, 320)] {
            let [admitted, now] = [admitted_usecs, admitted_usecs + usecs].map(admission_ticks);
            assert_eq!(time_between(admitted, now), Duration::from_micros(usecs));
        }
    }
}
