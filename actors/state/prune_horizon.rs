//! The prune horizon: the oldest readable version, which the writer thread publishes.

use arc_swap::ArcSwap;
use ledger_types::LedgerInfo;
use std::sync::Arc;

/// The oldest readable version and its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Horizon {
    /// Oldest readable version, which is the first version of a block.
    pub(crate) version: u64,
    /// Height of the block that begins with this version.
    pub(crate) block_height: u64,
}

impl Horizon {
    /// Returns the horizon that a ledger info holds.
    pub(crate) fn of(ledger_info: &LedgerInfo) -> Self {
        Self {
            version: ledger_info.oldest_version,
            block_height: ledger_info.oldest_block_height,
        }
    }
}

/// The reading side of the published horizon. Clones are cheap and share the value.
#[derive(Clone, Debug)]
pub(crate) struct PruneHorizon(Arc<ArcSwap<Horizon>>);

impl PruneHorizon {
    /// Returns the horizon. A later call never returns a lower one.
    pub(crate) fn load(&self) -> Horizon {
        **self.0.load()
    }
}

/// The writing side of [`PruneHorizon`], which only the writer thread owns.
#[derive(Debug)]
pub(crate) struct PruneHorizonPublisher(PruneHorizon);

impl PruneHorizonPublisher {
    /// Creates a publisher with the horizon of a newly opened ledger.
    pub(crate) fn new(horizon: Horizon) -> Self {
        Self(PruneHorizon(Arc::new(ArcSwap::from_pointee(horizon))))
    }

    /// Returns the reading side.
    pub(crate) fn horizon(&self) -> PruneHorizon {
        self.0.clone()
    }

    /// Raises the horizon. A lower version or height has no effect.
    ///
    /// The writer calls it when a prune step is durable, and before new snapshots exclude the
    /// pruned versions. So the oldest version never decreases between two responses, whether they
    /// are from the Head or from a snapshot at the Head.
    pub(crate) fn raise(&mut self, horizon: Horizon) {
        let current = self.0.load();
        self.0.0.store(Arc::new(Horizon {
            version: horizon.version.max(current.version),
            block_height: horizon.block_height.max(current.block_height),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_lowers_the_horizon() {
        let horizon = |version, block_height| Horizon {
            version,
            block_height,
        };
        let mut publisher = PruneHorizonPublisher::new(horizon(0, 0));
        let reader = publisher.horizon();
        publisher.raise(horizon(1_001, 1));
        assert_eq!(reader.load(), horizon(1_001, 1));
        publisher.raise(horizon(0, 0));
        assert_eq!(reader.load(), horizon(1_001, 1));
    }
}
