//! Limits and prices of a chain.

use crate::{Discard, FrameworkUpgrade, ValidationStatus};
use serde::{Deserialize, Serialize};

/// Limits and prices of a chain, fixed at genesis except for [`Self::framework_upgrades`].
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
            framework_upgrades: Vec::new(),
        }
    }
}

impl Parameters {
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
}
