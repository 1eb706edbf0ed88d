//! The oldest readable version.

use arc_swap::ArcSwap;
use ledger_types::LedgerInfo;
use std::sync::Arc;

/// The oldest readable version and its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Horizon {
    /// Oldest readable version, always the first one of a block.
    pub(crate) version: u64,
    /// Height of the block that starts at this version.
    pub(crate) block_height: u64,
}

impl Horizon {
    /// Returns the horizon of a ledger info.
    pub(crate) fn of(ledger_info: &LedgerInfo) -> Self {
        Self {
            version: ledger_info.oldest_version,
            block_height: ledger_info.oldest_block_height,
        }
    }
}

/// The published horizon. Cheap to clone; all clones show the same value.
#[derive(Clone, Debug)]
pub(crate) struct PruneHorizon(Arc<ArcSwap<Horizon>>);

impl PruneHorizon {
    /// Returns the horizon. A later call never returns an older one.
    pub(crate) fn load(&self) -> Horizon {
        **self.0.load()
    }
}

/// The writing side of [`PruneHorizon`], which only the writer thread has.
#[derive(Debug)]
pub(crate) struct PruneHorizonPublisher(PruneHorizon);

impl PruneHorizonPublisher {
    /// Creates the horizon of a ledger that was just opened.
    pub(crate) fn new(horizon: Horizon) -> Self {
        Self(PruneHorizon(Arc::new(ArcSwap::from_pointee(horizon))))
    }

    /// Returns the reading side.
    pub(crate) fn horizon(&self) -> PruneHorizon {
        self.0.clone()
    }

    /// Raises the horizon. It never goes back.
    ///
    /// The writer calls it when older versions are durably pruned, and before new snapshots show
    /// that: a response from the Head, or from a snapshot at the Head, then never names an older
    /// oldest version than an earlier response.
    pub(crate) fn raise(&mut self, horizon: Horizon) {
        let before = self.0.load();
        self.0.0.store(Arc::new(Horizon {
            version: horizon.version.max(before.version),
            block_height: horizon.block_height.max(before.block_height),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_goes_back() {
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
