//! What a run is to do, decided before it begins.

use super::{Arguments, Format, Mode};
use crate::signing::ChainIdentity;
use std::time::Duration;

/// How long a run lasts that is bounded neither by time nor by transfers.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// The gas units that a transfer allows itself: many times what one uses.
pub const MAX_GAS_AMOUNT: u64 = 2_000;
/// The gas units that an account is funded for per transfer.
const GAS_BUDGET: u64 = 200;
/// The most transfers per second that funding of a run without an end by number is made for.
const RATE_ASSUMED: u64 = 50_000;

/// A run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub chain: ChainIdentity,
    pub gas_unit_price: u64,
    /// How many accounts send.
    pub accounts: usize,
    /// Connections, each with accounts of its own; with orderless transfers they may share some.
    pub connections: usize,
    /// When the load ends at the latest, after its begin.
    pub duration: Option<Duration>,
    /// After how many transfers the load ends.
    pub transfers: Option<u64>,
    /// The time between two transfers that are due, in an open loop.
    pub interval: Option<Duration>,
    pub mode: Mode,
    /// Whether nonces protect the transfers.
    pub orderless: bool,
    pub format: Format,
    /// What the accounts' keys are derived from.
    pub seed: u64,
    /// Whether the accounts may have been used before.
    pub accounts_used_before: bool,
}

impl Plan {
    /// The run that the arguments describe.
    pub fn new(arguments: &Arguments, chain: ChainIdentity, gas_unit_price: u64, seed: u64) -> Self {
        let duration = match (arguments.duration, arguments.transfers) {
            (Some(secs), _) => Some(Duration::from_secs(secs)),
            (None, Some(_)) => None,
            (None, None) => Some(DURATION_DEFAULT),
        };
        Self {
            chain,
            gas_unit_price,
            accounts: arguments.accounts.get(),
            connections: arguments.connections.get(),
            duration,
            transfers: arguments.transfers,
            interval: arguments.rate.map(|rate| Duration::from_secs_f64(1.0 / rate)),
            mode: arguments.mode,
            orderless: arguments.orderless,
            format: arguments.format,
            seed,
            accounts_used_before: arguments.seed.is_some(),
        }
    }

    /// What each account is to hold before the load, in the coin's smallest unit: enough for twice
    /// its even share of the transfers.
    pub fn grant(&self) -> u64 {
        let by_time = self
            .duration
            .map(|duration| duration.as_secs().saturating_mul(RATE_ASSUMED));
        let transfers = self.transfers.or(by_time).unwrap_or(RATE_ASSUMED);
        let share = transfers.div_ceil(self.accounts as u64).saturating_add(5);
        let each = GAS_BUDGET.saturating_mul(self.gas_unit_price).saturating_add(1);
        let reserve = MAX_GAS_AMOUNT.saturating_mul(self.gas_unit_price);
        share
            .saturating_mul(2)
            .saturating_mul(each)
            .saturating_add(reserve)
    }
}
