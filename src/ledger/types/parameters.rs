//! Limits and prices of a chain.

use crate::{Discard, FrameworkUpgrade, ValidationStatus};
use serde::{Deserialize, Serialize};

/// Bounds and prices of a chain, fixed at genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The lowest gas unit price, in the coin's smallest unit.
    pub gas_unit_price_min: u64,
    /// The highest gas unit price, in the coin's smallest unit.
    pub gas_unit_price_max: u64,
    /// The most gas units a transaction may allow itself.
    pub max_gas_amount: u64,
    /// The largest signed transaction, in bytes.
    pub transaction_bytes_max: u64,
    /// The work of a block, in gas units without those of the storage fee: the transaction that reaches
    /// it is the block's last.
    pub block_gas_max: u64,
    /// What a block puts out, in bytes as [`crate::ExecutedTransaction::output_bytes`] counts them: the
    /// transaction that reaches it is the block's last.
    pub block_output_bytes_max: u64,
    /// From which heights on which versions of the framework are on, ascending in both. Version 1 is
    /// on from genesis. The one parameter that grows while the chain runs
    /// ([`Parameters::continue_upgrades`]).
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
            // 5,000 transfers, a full block, are 280,000 units, 350,000 when each makes an account; the
            // reference's 200,000 would cut it. This leaves room for calls of thrice the work, and is
            // 0.25 s of a core, 1.2 s at the functions that take longest for their gas (`execute::cost`); the
            // transaction that reaches the limit may go beyond it (the worst that is known: 42,000 units).
            block_gas_max: 1_000_000,
            // 5,000 transfers put out 3.9 MB, 5.3 MB when each makes an account; the reference's 4 MiB
            // would cut that. The blocks that wait to be durable hold several times this at most.
            block_output_bytes_max: 8 * 1024 * 1024,
            framework_upgrades: Vec::new(),
        }
    }
}

impl Parameters {
    /// Checks the size of a signed transaction, in bytes of its BCS form.
    ///
    /// Callers check it before they decode a transaction, because few bytes may decode to much
    /// memory, and before they check its signatures, because that takes time in proportion to the
    /// size.
    ///
    /// # Errors
    /// `EXCEEDED_MAX_TRANSACTION_SIZE` if the size is above [`Self::transaction_bytes_max`].
    pub fn check_transaction_size(&self, size_bytes: usize) -> Result<(), Discard> {
        if size_bytes as u64 <= self.transaction_bytes_max {
            Ok(())
        } else {
            Err(Discard::because(
                ValidationStatus::ExceededMaxTransactionSize,
                format_args!("the bound is {}", self.transaction_bytes_max),
            ))
        }
    }
}
