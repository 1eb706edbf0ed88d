//! The reasons why transactions were removed from the pool.

use crate::RemovalReason;
use ledger_crypto::{HashValue, map::GenerationalMap};

/// Maximum number of reasons in a generation, and minimum number of newest reasons that the log
/// holds.
///
/// It covers some minutes of a pool that rejects a few hundred transactions per second. A reason
/// takes about 150 bytes.
const GENERATION_REASONS_MAX: usize = 32_768;

/// The newest removal reasons, at most twice [`GENERATION_REASONS_MAX`].
#[derive(Debug, Default)]
pub(super) struct RemovalLog(GenerationalMap<HashValue, RemovalReason>);

impl RemovalLog {
    /// Records why a transaction was removed from the pool.
    pub(super) fn record(&mut self, hash: HashValue, reason: RemovalReason) {
        if self.0.younger().len() >= GENERATION_REASONS_MAX {
            self.0.rotate();
        }
        self.0.insert(hash, reason);
    }

    /// Returns why a transaction was removed from the pool, if the log still holds the reason.
    pub(super) fn get(&self, hash: &HashValue) -> Option<&RemovalReason> {
        self.0.get(hash)
    }

    /// Removes the reason of a transaction that is in the pool again.
    pub(super) fn remove(&mut self, hash: &HashValue) {
        self.0.remove(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: usize) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    #[test]
    fn retains_the_newest_reasons_within_a_bound() {
        let mut log = RemovalLog::default();
        let count = 3 * GENERATION_REASONS_MAX;
        for n in 0..count {
            log.record(hash(n), RemovalReason::Expired { at_secs: n as u64 });
        }
        for n in count - GENERATION_REASONS_MAX..count {
            assert!(
                log.get(&hash(n)).is_some(),
                "reason {n} was removed too early"
            );
        }
        assert!(log.get(&hash(0)).is_none());
        assert!(log.0.younger().len() + log.0.older().len() <= 2 * GENERATION_REASONS_MAX);
    }

    #[test]
    fn removes_the_reason_of_a_transaction_that_is_pending_again() {
        let mut log = RemovalLog::default();
        log.record(hash(1), RemovalReason::Expired { at_secs: 1 });
        log.remove(&hash(1));
        assert_eq!(log.get(&hash(1)), None);
    }
}
