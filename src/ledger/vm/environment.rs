//! The block that a transaction is executed in.

use ledger_crypto::HashValue;
use ledger_types::LedgerInfo;

const USECS_PER_SEC: u64 = 1_000_000;

/// The block of a transaction and the hash of the transaction. The time is the time of the block,
/// not of a clock.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Height of the block.
    pub height: u64,
    /// Time of the block, in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// Hash of the transaction; zero if there is none.
    pub transaction_hash: HashValue,
}

impl Environment {
    /// An environment without a block, for reads that depend on neither height nor time.
    pub const NONE: Self = Self {
        height: 0,
        timestamp_usecs: 0,
        transaction_hash: HashValue::ZERO,
    };

    /// Returns the environment of the block that directly follows the state described by `info`,
    /// with the same time.
    pub fn after(info: &LedgerInfo, transaction_hash: HashValue) -> Self {
        Self {
            height: info.block_height.saturating_add(1),
            timestamp_usecs: info.timestamp_usecs,
            transaction_hash,
        }
    }

    /// Returns the same environment with the time `now_usecs` if that is later. Block time never
    /// decreases.
    pub fn with_time_at_least(self, now_usecs: u64) -> Self {
        Self {
            timestamp_usecs: self.timestamp_usecs.max(now_usecs),
            ..self
        }
    }

    /// Returns the time of the block, in whole seconds since the Unix epoch.
    pub fn timestamp_secs(&self) -> u64 {
        self.timestamp_usecs / USECS_PER_SEC
    }
}
