//! Roots of the ledger after a block, and the delay with which block headers name them.
//!
//! A block is ordered before it is executed, so its header cannot name its own result. It names the
//! result of the block [`Parameters::root_delay_blocks`](crate::Parameters::root_delay_blocks)
//! heights before. Validators that agree on a header agree on that result too.

use ledger_crypto::HashValue;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The transactions and results of the ledger up to a version, as one hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LedgerRoot {
    /// Last version of a block.
    pub version: u64,
    /// Root of the transaction accumulator after that version.
    pub accumulator_root: HashValue,
}

impl fmt::Display for LedgerRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "version {}, root {}",
            self.version, self.accumulator_root
        )
    }
}

/// The roots after the newest blocks, oldest first: as many as
/// [`Parameters::root_delay_blocks`](crate::Parameters::root_delay_blocks), or fewer at the start
/// of a chain. Never empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<LedgerRoot>")]
pub struct RecentRoots(Vec<LedgerRoot>);

impl RecentRoots {
    /// Creates the roots of a chain that consists of genesis.
    pub fn of_genesis(root: LedgerRoot) -> Self {
        Self(vec![root])
    }

    /// Returns the root that the header of the next block names.
    pub fn delayed(&self) -> LedgerRoot {
        self.0[0]
    }

    /// Returns the root after the block at `height`, or `None` if it is not among them.
    ///
    /// `newest_height` is the height of the newest block.
    pub fn at(&self, height: u64, newest_height: u64) -> Option<LedgerRoot> {
        let age = usize::try_from(newest_height.checked_sub(height)?).ok()?;
        let index = self.0.len().checked_sub(1)?.checked_sub(age)?;
        self.0.get(index).copied()
    }

    /// Returns the roots after a further block with this root. `delay_blocks` is not 0.
    pub fn followed_by(&self, root: LedgerRoot, delay_blocks: u64) -> Self {
        let kept_max = usize::try_from(delay_blocks).unwrap_or(usize::MAX) - 1;
        let dropped = self.0.len().saturating_sub(kept_max);
        let mut roots = Vec::with_capacity(self.0.len() - dropped + 1);
        roots.extend_from_slice(&self.0[dropped..]);
        roots.push(root);
        Self(roots)
    }
}

impl TryFrom<Vec<LedgerRoot>> for RecentRoots {
    type Error = &'static str;

    fn try_from(roots: Vec<LedgerRoot>) -> Result<Self, Self::Error> {
        if roots.is_empty() {
            return Err("the tip of a chain has no root");
        }
        Ok(Self(roots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(version: u64) -> LedgerRoot {
        LedgerRoot {
            version,
            accumulator_root: HashValue::ZERO,
        }
    }

    #[test]
    fn names_genesis_for_the_first_blocks_and_then_the_block_before_the_delay() {
        for delay_blocks in [2, 3, 8, 64] {
            let mut roots = RecentRoots::of_genesis(root(0));
            for height in 1..200u64 {
                let named = roots.delayed().version;
                assert_eq!(named, height.saturating_sub(delay_blocks), "{height}");
                roots = roots.followed_by(root(height), delay_blocks);
                assert!(roots.0.len() as u64 <= delay_blocks);
            }
        }
    }

    #[test]
    fn rejects_encoded_roots_without_a_root() {
        let error = bcs::from_bytes::<RecentRoots>(&[0]).unwrap_err();
        assert!(error.to_string().contains("no root"), "{error}");
        let roots = RecentRoots::of_genesis(root(7)).followed_by(root(8), 4);
        let encoded = bcs::to_bytes(&roots).unwrap();
        assert_eq!(bcs::from_bytes::<RecentRoots>(&encoded), Ok(roots));
    }
}
