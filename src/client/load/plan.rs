//! What a run is to do, decided before it begins.

use super::{Arguments, Format, Mode, requests::MAX_GAS_AMOUNT};
use ledger_client::signer::ChainIdentity;
use std::time::Duration;

/// How long a run lasts that is bounded neither by time nor by transfers.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// The gas units that an account is funded for per transfer.
const GAS_BUDGET: u64 = 200;
/// The most transfers per second that funding of a run without an end by number is made for.
const RATE_ASSUMED: u64 = 50_000;
/// When a transfer expires: longer than a full pool takes to be worked off.
const EXPIRES_AFTER: Duration = Duration::from_secs(300);
/// How long a run by number may last whose transfers are signed before.
const RUN_ASSUMED: Duration = Duration::from_secs(3_600);

/// A run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub chain: ChainIdentity,
    pub gas_unit_price: u64,
    /// How many accounts send.
    pub accounts: usize,
    /// Connections, each with accounts of its own; with orderless transfers they may share some.
    pub connections: usize,
    /// How many threads drive the connections.
    pub threads: usize,
    /// Within what time the connections are made.
    pub ramp: Duration,
    /// How long after that nothing is measured.
    pub warm_up: Duration,
    /// When the load ends at the latest, after the warm-up.
    pub duration: Option<Duration>,
    /// After how many transfers the load ends, the warm-up's not counted.
    pub transfers: Option<u64>,
    /// How many transfers are signed before the load begins.
    pub pre_signed: u64,
    /// When a transfer expires, after it is signed.
    pub expires_after: Duration,
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
    /// The process whose use of the processor is measured as well.
    pub pid: Option<u32>,
}

impl Plan {
    /// The run that the arguments describe.
    pub fn new(
        arguments: &Arguments,
        chain: ChainIdentity,
        gas_unit_price: u64,
        seed: u64,
    ) -> Self {
        let duration = match (arguments.duration, arguments.transfers) {
            (Some(duration), _) => Some(duration.into()),
            (None, Some(_)) => None,
            (None, None) => Some(DURATION_DEFAULT),
        };
        let (ramp, warm_up) = (arguments.ramp.into(), arguments.warm_up.into());
        let pre_signed = arguments.pre_signed;
        Self {
            chain,
            gas_unit_price,
            accounts: arguments.accounts.get(),
            connections: arguments.connections.get(),
            threads: arguments.threads.get().min(arguments.connections.get()),
            ramp,
            warm_up,
            duration,
            transfers: arguments.transfers,
            pre_signed,
            expires_after: match pre_signed {
                0 => EXPIRES_AFTER,
                _ => ramp + warm_up + duration.unwrap_or(RUN_ASSUMED) + EXPIRES_AFTER,
            },
            interval: arguments
                .rate
                .map(|rate| Duration::from_secs_f64(1.0 / rate)),
            mode: arguments.mode,
            orderless: arguments.orderless,
            format: arguments.format,
            seed,
            accounts_used_before: arguments.seed.is_some(),
            pid: arguments.pid,
        }
    }

    /// What each account is to hold before the load, in the coin's smallest unit: enough for twice
    /// its even share of the transfers.
    pub fn grant(&self) -> u64 {
        let by_time = |duration: Duration| {
            (duration.as_secs_f64().ceil() as u64).saturating_mul(RATE_ASSUMED)
        };
        let warm_up = by_time(self.ramp + self.warm_up);
        let measured = self
            .transfers
            .or(self.duration.map(by_time))
            .unwrap_or(RATE_ASSUMED);
        let transfers = measured.saturating_add(warm_up);
        let share = transfers.div_ceil(self.accounts as u64).saturating_add(5);
        let each = GAS_BUDGET
            .saturating_mul(self.gas_unit_price)
            .saturating_add(1);
        let reserve = MAX_GAS_AMOUNT.saturating_mul(self.gas_unit_price);
        share
            .saturating_mul(2)
            .saturating_mul(each)
            .saturating_add(reserve)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A closed loop of one connection, without an end.
    pub fn plan() -> Plan {
        Plan {
            chain: ChainIdentity {
                id: 4,
                vendor: ledger::Vendor::default(),
            },
            gas_unit_price: 100,
            accounts: 1,
            connections: 1,
            threads: 1,
            ramp: Duration::ZERO,
            warm_up: Duration::ZERO,
            duration: None,
            transfers: None,
            pre_signed: 0,
            expires_after: EXPIRES_AFTER,
            interval: None,
            mode: Mode::Submit,
            orderless: false,
            format: Format::Bcs,
            seed: 1,
            accounts_used_before: false,
            pid: None,
        }
    }

    #[test]
    fn accounts_can_pay_for_the_warm_up_too() {
        let cold = Plan {
            transfers: Some(10),
            ..plan()
        };
        let warm = Plan {
            warm_up: Duration::from_secs(1),
            ..cold.clone()
        };
        let each = GAS_BUDGET * cold.gas_unit_price + 1;
        assert_eq!(warm.grant() - cold.grant(), 2 * RATE_ASSUMED * each);
    }
}
