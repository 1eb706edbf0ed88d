//! What a transaction should pay for a gas unit, from what recent blocks took.

use serde::Serialize;

/// Gas unit prices, in the coin's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GasEstimate {
    /// For who can wait.
    pub deprioritized_gas_estimate: u64,
    /// For who cannot wait long.
    pub gas_estimate: u64,
    /// For who cannot wait.
    pub prioritized_gas_estimate: u64,
}
