//! Why transactions left the pool, for as long as there is room to remember.

use crate::LeaveReason;
use ledger::{HashValue, map::HashMap};

/// How many reasons at least are remembered before the oldest go: enough for some minutes of a
/// pool that rejects a few hundred a second, at about 150 bytes each.
const REASONS_KEPT_MIN: usize = 32_768;

/// The newest reasons, in two generations: when the younger is full, the older one goes.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    younger: HashMap<HashValue, LeaveReason>,
    older: HashMap<HashValue, LeaveReason>,
}

impl Reasons {
    pub(super) fn record(&mut self, hash: HashValue, reason: LeaveReason) {
        if self.younger.len() >= REASONS_KEPT_MIN {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(hash, reason);
    }

    pub(super) fn get(&self, hash: &HashValue) -> Option<&LeaveReason> {
        self.younger.get(hash).or_else(|| self.older.get(hash))
    }

    /// The transaction is in the pool again.
    pub(super) fn forget(&mut self, hash: &HashValue) {
        self.younger.remove(hash);
        self.older.remove(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: usize) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    #[test]
    fn the_newest_are_kept_and_the_rest_is_bounded() {
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
        assert!(reasons.younger.len() + reasons.older.len() <= 2 * REASONS_KEPT_MIN);
    }

    #[test]
    fn who_comes_back_has_no_reason() {
        let mut reasons = Reasons::default();
        reasons.record(hash(1), LeaveReason::Expired { at_secs: 1 });
        reasons.forget(&hash(1));
        assert_eq!(reasons.get(&hash(1)), None);
    }
}
