//! The reasons why transactions left the pool.

use crate::LeaveReason;
use ledger_crypto::{HashValue, map::GenerationalMap};

/// Minimum number of reasons that are remembered: enough for some minutes of a pool that rejects a few
/// hundred transactions per second. A reason takes about 150 bytes.
const REASONS_KEPT_MIN: usize = 32_768;

/// The newest reasons, at most twice [`REASONS_KEPT_MIN`].
#[derive(Debug, Default)]
pub(super) struct Reasons(GenerationalMap<HashValue, LeaveReason>);

impl Reasons {
    /// Records why a transaction left the pool.
    pub(super) fn record(&mut self, hash: HashValue, reason: LeaveReason) {
        if self.0.younger().len() >= REASONS_KEPT_MIN {
            self.0.rotate();
        }
        self.0.insert(hash, reason);
    }

    /// Returns why a transaction left the pool, if that is remembered.
    pub(super) fn get(&self, hash: &HashValue) -> Option<&LeaveReason> {
        self.0.get(hash)
    }

    /// Removes the reason of a transaction that is in the pool again.
    pub(super) fn forget(&mut self, hash: &HashValue) {
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
    fn keeps_the_newest_reasons_and_bounds_their_number() {
        let mut reasons = Reasons::default();
        let count = 3 * REASONS_KEPT_MIN;
        for n in 0..count {
            reasons.record(hash(n), LeaveReason::Expired { at_secs: n as u64 });
        }
        for n in count - REASONS_KEPT_MIN..count {
            assert!(
                reasons.get(&hash(n)).is_some(),
                "{n} was forgotten too early"
            );
        }
        assert!(reasons.get(&hash(0)).is_none());
        assert!(reasons.0.younger().len() + reasons.0.older().len() <= 2 * REASONS_KEPT_MIN);
    }

    #[test]
    fn a_transaction_that_is_pending_again_has_no_reason() {
        let mut reasons = Reasons::default();
        reasons.record(hash(1), LeaveReason::Expired { at_secs: 1 });
        reasons.forget(&hash(1));
        assert_eq!(reasons.get(&hash(1)), None);
    }
}
