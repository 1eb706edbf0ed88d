//! A transaction of the pool, its place there, and the keys under which indices find it.

use ledger_types::{AccountAddress, CheckedTransaction, ReplayProtector};
use std::{cmp::Reverse, sync::Arc};

/// What identifies a transaction in the pool.
pub(crate) type PoolKey = (AccountAddress, ReplayProtector);

/// The order in which blocks take transactions: the best price, then the earliest turn
/// ([`super::turns`]), then who came first.
pub(super) type ReadyKey = (Reverse<u64>, u64, u64);

/// By the time at which a transaction leaves, then who came first.
pub(super) type ExpiryKey = (u64, u64);

/// The place of a transaction.
pub(super) fn pool_key(transaction: &CheckedTransaction) -> PoolKey {
    let raw = transaction.raw();
    (raw.sender, raw.replay_protector())
}

/// A number of transactions and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Amount {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            count: 1,
            bytes: entry.transaction.size_bytes(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }

    pub(super) fn remove(&mut self, other: Self) {
        self.count -= other.count;
        self.bytes -= other.bytes;
    }
}

/// A transaction of the pool.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) transaction: Arc<CheckedTransaction>,
    /// Its number in the order in which the pool took transactions in.
    pub(super) insertion: u64,
    /// Its turn among those of its price.
    pub(super) start_tag: u64,
    /// When the pool took it in, Unix seconds.
    pub(super) inserted_at_secs: u64,
    /// When it leaves at the latest, Unix seconds.
    pub(super) expires_at_secs: u64,
    /// Whether a block has it; else it waits, ready or parked.
    pub(super) taken: bool,
}

impl Entry {
    pub(super) fn price(&self) -> u64 {
        self.transaction.raw().gas_unit_price
    }

    pub(super) fn ready_key(&self) -> ReadyKey {
        (Reverse(self.price()), self.start_tag, self.insertion)
    }

    pub(super) fn expiry_key(&self) -> ExpiryKey {
        (self.expires_at_secs, self.insertion)
    }
}
