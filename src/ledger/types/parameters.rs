//! Limits, prices and switches of a chain.

use crate::{Discard, FrameworkUpgrade, UpgradeError, ValidationStatus};
use serde::{Deserialize, Serialize};

/// Limits, prices and switches of a chain, fixed at genesis except for
/// [`Self::framework_upgrades`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Minimum gas unit price, in the coin's smallest unit.
    pub gas_unit_price_min: u64,
    /// Maximum gas unit price, in the coin's smallest unit.
    pub gas_unit_price_max: u64,
    /// Maximum of a transaction's maximum gas amount, in gas units.
    pub max_gas_amount: u64,
    /// Maximum size of a signed transaction in BCS, in bytes.
    pub transaction_bytes_max: u64,
    /// Work limit of a block, in gas units without the storage fee.
    ///
    /// The transaction that reaches the limit is the last user transaction of the block.
    pub block_gas_max: u64,
    /// Output limit of a block, in bytes as [`crate::ExecutedTransaction::output_bytes`] counts
    /// them.
    ///
    /// The transaction that reaches the limit is the last user transaction of the block.
    pub block_output_bytes_max: u64,
    /// Maximum number of user transactions in a block.
    ///
    /// Validators check it before they vote. A node that orders alone follows its configuration.
    pub block_transactions_max: u64,
    /// Maximum total size of the user transactions of a block in BCS, in bytes, up to
    /// [`Self::BLOCK_BYTES_MAX`]. A single larger transaction may have a block of its own.
    ///
    /// Validators check it before they vote. A node that orders alone follows its configuration.
    pub block_bytes_max: u64,
    /// Number of heights after which a block header names the result of a block, from
    /// [`Self::ROOT_DELAY_BLOCKS_MIN`] to [`Self::ROOT_DELAY_BLOCKS_MAX`].
    ///
    /// A node executes a block before it begins the block that names its result, so fewer blocks
    /// than this may be in flight.
    pub root_delay_blocks: u64,
    /// Whether new stores of a coin get event handles, so that their deposits and withdrawals are
    /// also event streams.
    ///
    /// Handles change the state and the events of a transaction, so all nodes must agree on them.
    pub coin_event_handles: bool,
    /// Whether an address of the framework
    /// ([`AccountAddress::is_reserved`](crate::AccountAddress::is_reserved)), from which nobody can
    /// withdraw, may get a store of an asset.
    pub transfers_to_framework: bool,
    /// Framework upgrades, ascending in version and height.
    ///
    /// Version 1 is active from genesis. The list is the only parameter that can grow while the
    /// chain runs ([`Parameters::check_upgrade_change`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub framework_upgrades: Vec<FrameworkUpgrade>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            gas_unit_price_min: 100,
            gas_unit_price_max: 10_000_000_000,
            max_gas_amount: 20_000_000,
            transaction_bytes_max: 64 * 1024,
            // A full block of 5,000 transfers takes 280,000 units, or 350,000 if each creates an
            // account. The limit of the reference node, 200,000, would split it. This limit allows
            // calls with three times the work. It corresponds to 0.25 s of a core, or to 1.2 s for
            // the functions that take longest for their gas (`ledger_vm::cost`). The last
            // transaction may exceed the limit, by up to 42,000 units in the worst known case.
            block_gas_max: 1_000_000,
            // The output of 5,000 transfers is 3.9 MB, or 5.3 MB if each creates an account. The
            // limit of the reference node, 4 MiB, would split that block. The executed blocks that
            // are not yet durable hold at most several times this limit.
            block_output_bytes_max: 8 * 1024 * 1024,
            // Twice what a node takes by default, so that operators can raise the settings. A block
            // then travels in a few dozen messages.
            block_transactions_max: 10_000,
            block_bytes_max: 6 * 1024 * 1024,
            // Twice the 3 blocks in flight of a node with default settings, and some more, so that
            // a node that is behind by a few blocks can still check the header of a proposal.
            root_delay_blocks: 8,
            // The event routes by handle are a documented part of the interface.
            coin_event_handles: true,
            // Such a payment is nearly always a mistake, and cannot be undone.
            transfers_to_framework: false,
            framework_upgrades: Vec::new(),
        }
    }
}

/// Maximum size of an encoded block header with the number of transactions, in bytes. A header has
/// about 200.
const HEADER_BYTES_MAX: u64 = 1024;

/// Maximum size of the length before an encoded transaction, in bytes.
const LENGTH_BYTES_MAX: u64 = 5;

impl Parameters {
    /// Maximum of [`Self::block_bytes_max`]. A validator holds the blocks that others propose in
    /// memory, a few at a time.
    pub const BLOCK_BYTES_MAX: u64 = 64 * 1024 * 1024;
    /// Minimum of [`Self::root_delay_blocks`]. One block is in flight at least, and fewer than the
    /// delay may be.
    pub const ROOT_DELAY_BLOCKS_MIN: u64 = 2;
    /// Maximum of [`Self::root_delay_blocks`]. The tip of the chain, which each record of the
    /// write-ahead log holds, has 40 bytes for each of these blocks.
    pub const ROOT_DELAY_BLOCKS_MAX: u64 = 64;

    /// Returns the maximum size of a block in the form in which validators exchange it, in bytes.
    pub fn encoded_block_bytes_max(&self) -> u64 {
        let lengths = self.block_transactions_max.saturating_mul(LENGTH_BYTES_MAX);
        // A single transaction may exceed the limit on the transactions of a block.
        let transactions = self.block_bytes_max.max(self.transaction_bytes_max);
        transactions
            .saturating_add(lengths)
            .saturating_add(HEADER_BYTES_MAX)
    }

    /// Checks the size of a signed transaction in BCS, in bytes.
    ///
    /// Callers check the size before they decode a transaction, because few bytes may decode to
    /// much memory. They also check it before the signatures, because that check takes time
    /// proportional to the size.
    ///
    /// # Errors
    ///
    /// Returns a [`Discard`] with [`ValidationStatus::ExceededMaxTransactionSize`] if the size is
    /// above [`Self::transaction_bytes_max`].
    pub fn check_transaction_size(&self, size_bytes: usize) -> Result<(), Discard> {
        if size_bytes as u64 <= self.transaction_bytes_max {
            Ok(())
        } else {
            Err(Discard::with_detail(
                ValidationStatus::ExceededMaxTransactionSize,
                format_args!("the bound is {}", self.transaction_bytes_max),
            ))
        }
    }

    /// Checks that the upgrades ascend and that the program has every version.
    ///
    /// `newest_version` is the newest framework version of the program. It has all versions from 1.
    ///
    /// # Errors
    ///
    /// * [`UpgradeError::Order`] if the version or the height of an upgrade is not above that of
    ///   the previous one.
    /// * [`UpgradeError::UnknownVersion`] if a version is not between 1 and `newest_version`.
    pub fn check_upgrades(&self, newest_version: u64) -> Result<(), UpgradeError> {
        let upgrades = &self.framework_upgrades;
        let is_out_of_order = |pair: &&[FrameworkUpgrade]| {
            pair[0].version >= pair[1].version || pair[0].height >= pair[1].height
        };
        if let Some(pair) = upgrades.windows(2).find(is_out_of_order) {
            return Err(UpgradeError::Order(pair[0], pair[1]));
        }
        let known = 1..=newest_version;
        match upgrades
            .iter()
            .find(|upgrade| !known.contains(&upgrade.version))
        {
            Some(upgrade) => Err(UpgradeError::UnknownVersion {
                upgrade: *upgrade,
                newest_version,
            }),
            None => Ok(()),
        }
    }

    /// Checks that a running chain may replace these parameters' upgrades with the ones of `next`.
    ///
    /// `height` is the height of the chain's newest block. The new list must include all upgrades
    /// of the chain, and other upgrades must be above `height`.
    ///
    /// # Errors
    ///
    /// * [`UpgradeError::Missing`] with the first upgrade that `next` lacks.
    /// * [`UpgradeError::TooLate`] with the first new upgrade at or below `height`.
    pub fn check_upgrade_change(&self, next: &Self, height: u64) -> Result<(), UpgradeError> {
        let (current, proposed) = (&self.framework_upgrades, &next.framework_upgrades);
        if let Some(missing) = current.iter().find(|upgrade| !proposed.contains(upgrade)) {
            return Err(UpgradeError::Missing(*missing));
        }
        let is_too_late =
            |upgrade: &&FrameworkUpgrade| !current.contains(upgrade) && upgrade.height <= height;
        match proposed.iter().find(is_too_late) {
            Some(upgrade) => Err(UpgradeError::TooLate {
                upgrade: *upgrade,
                newest_height: height,
            }),
            None => Ok(()),
        }
    }

    /// Returns the framework version of the block at `height`.
    pub fn framework_version(&self, height: u64) -> u64 {
        let on = |upgrade: &&FrameworkUpgrade| upgrade.height <= height;
        self.framework_upgrades
            .iter()
            .filter(on)
            .map(|upgrade| upgrade.version)
            .max()
            .unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(upgrades: &str) -> Parameters {
        Parameters {
            framework_upgrades: FrameworkUpgrade::parse_list(upgrades).unwrap(),
            ..Parameters::default()
        }
    }

    #[test]
    fn activates_a_version_from_its_height() {
        let version = |upgrades: &str, height| parameters(upgrades).framework_version(height);
        assert_eq!(version("", u64::MAX), 1);
        assert_eq!(version("2@0", 0), 2);
        assert_eq!((version("2@7", 6), version("2@7", 7)), (1, 2));
        assert_eq!(version("2@7,3@9", u64::MAX), 3);
    }

    #[test]
    fn rejects_unordered_and_unknown_versions() {
        const NEWEST: u64 = 3;
        for good in ["", "1@0", "2@0", "1@0,2@1"] {
            assert_eq!(parameters(good).check_upgrades(NEWEST), Ok(()), "{good}");
        }
        for bad in ["2@1,1@2", "1@2,2@1", "2@1,2@2", "1@1,2@1"] {
            let error = parameters(bad).check_upgrades(NEWEST).unwrap_err();
            assert!(matches!(error, UpgradeError::Order(..)), "{bad}: {error}");
        }
        assert!(parameters("0@5").check_upgrades(NEWEST).is_err());
        let unknown = format!("{}@1234", NEWEST + 1);
        let error = parameters(&unknown)
            .check_upgrades(NEWEST)
            .unwrap_err()
            .to_string();
        assert!(error.contains("height 1234"), "{error}");
    }

    #[test]
    fn accepts_only_new_upgrades_above_the_height() {
        let check_change = |current: &str, proposed: &str, height| {
            parameters(current).check_upgrade_change(&parameters(proposed), height)
        };
        assert_eq!(check_change("", "2@11", 10), Ok(()));
        assert_eq!(check_change("2@5", "2@5", 10), Ok(()));
        assert_eq!(check_change("3@20", "2@15,3@20", 10), Ok(()));
        assert!(matches!(
            check_change("", "2@10", 10),
            Err(UpgradeError::TooLate {
                newest_height: 10,
                ..
            })
        ));
        assert!(matches!(
            check_change("2@5", "", 10),
            Err(UpgradeError::Missing(_))
        ));
        assert!(matches!(
            check_change("2@15", "2@16", 10),
            Err(UpgradeError::Missing(_))
        ));
    }
}
