//! The parameters of a run, which are fixed before it starts.

use ledger_types::{ChainIdentity, ReplayProtector, SignedTransaction};
use std::{fmt, sync::Arc, time::Duration};

/// Maximum gas units of a transfer without the storage of its sender's account: many times what one
/// uses.
const MAX_GAS_AMOUNT: u64 = 2_000;

/// Maximum storage deposit of an account, in the coin's smallest unit. The first transfer with a
/// sequence number creates the account of its sender and pays the deposit.
const ACCOUNT_DEPOSIT_MAX: u64 = 600_000;

/// Gas units that an account is funded for per transfer.
const GAS_UNITS_PER_TRANSFER: u64 = 200;

/// Transfers per second that the funding of a run assumes if the run has no number of transfers.
const ASSUMED_TRANSFERS_PER_SECOND: u64 = 50_000;

/// A function that renders a transaction as the JSON body of its submission.
pub type RenderJson = Arc<dyn Fn(&SignedTransaction) -> String + Send + Sync>;

/// The encoding of submissions, and of the transactions that are read back.
#[derive(Clone)]
pub enum SubmissionFormat {
    /// BCS, the binary form.
    Bcs,
    /// JSON. This crate does not know the form, so the caller provides the function.
    Json(RenderJson),
}

impl fmt::Debug for SubmissionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bcs => "Bcs",
            Self::Json(_) => "Json",
        })
    }
}

/// The wait of a connection for the commits of its transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitWait {
    /// It does not wait.
    None,
    /// A long poll by hash for each transfer.
    LongPolls,
    /// The submission itself waits (`timeout_ms`). A long poll follows only if the submission
    /// reached its deadline.
    InSubmission,
    /// One request for the transfers of a batch, or for one transfer of each account.
    Shared,
}

/// The parameters of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The chain that transfers are signed for.
    pub chain: ChainIdentity,
    /// The gas unit price of transfers, in the coin's smallest unit.
    pub gas_unit_price: u64,
    /// Number of sending accounts.
    pub accounts: usize,
    /// Number of connections. Each has accounts of its own, unless transfers are orderless.
    pub connections: usize,
    /// Number of threads that drive the connections.
    pub threads: usize,
    /// Number of transfers in a request, at least 1. Above 1, transfers are submitted as batches.
    pub batch: usize,
    /// Number of batches that a connection submits beyond one whose commits it waits for.
    pub batches_ahead: usize,
    /// The time in which the connections are opened, at even intervals.
    pub ramp: Duration,
    /// The time after the ramp whose transfers are not measured.
    pub warm_up: Duration,
    /// Maximum time after the warm-up in which transfers are sent.
    pub duration: Option<Duration>,
    /// Maximum number of transfers after the warm-up.
    pub transfers: Option<u64>,
    /// Number of transfers to sign before the load.
    pub pre_signed: u64,
    /// The time from the signature of a transfer to its expiration. Orderless transfers expire
    /// earlier.
    pub expires_after: Duration,
    /// The interval between two due times of an open loop. `None` is a closed loop.
    pub interval: Option<Duration>,
    /// Wait for the commits of transfers before the connection sends its next ones.
    pub commit_wait: CommitWait,
    /// Whether nonces protect the transfers, instead of sequence numbers.
    pub is_orderless: bool,
    /// The encoding of submissions.
    pub format: SubmissionFormat,
    /// The seed of the accounts' keys.
    pub seed: u64,
    /// Whether an earlier run may have used the accounts.
    pub has_used_accounts: bool,
    /// The process of the node, if its resource usage is to be measured.
    pub pid: Option<u32>,
}

impl Plan {
    /// Returns the balance that each account needs before the load, in the coin's smallest unit.
    ///
    /// The balance is enough for twice the account's even share of the transfers.
    pub(super) fn grant(&self) -> u64 {
        let in_time = |duration: Duration| {
            (duration.as_secs_f64().ceil() as u64).saturating_mul(ASSUMED_TRANSFERS_PER_SECOND)
        };
        let warm_up = in_time(self.ramp + self.warm_up);
        let measured = self
            .transfers
            .or(self.duration.map(in_time))
            .unwrap_or(ASSUMED_TRANSFERS_PER_SECOND);
        let transfers = measured.saturating_add(warm_up);
        let share = transfers.div_ceil(self.accounts as u64).saturating_add(5);
        let each = GAS_UNITS_PER_TRANSFER
            .saturating_mul(self.gas_unit_price)
            .saturating_add(1);
        let first = ReplayProtector::SequenceNumber(0);
        let reserve = self
            .max_gas_amount(first)
            .saturating_mul(self.gas_unit_price);
        share
            .saturating_mul(2)
            .saturating_mul(each)
            .saturating_add(reserve)
    }

    /// Returns the maximum gas units of a transfer with this replay protector.
    pub(super) fn max_gas_amount(&self, protector: ReplayProtector) -> u64 {
        let storage_units = match protector {
            // Storage is free on a chain that accepts the price 0.
            ReplayProtector::SequenceNumber(0) if self.gas_unit_price > 0 => {
                ACCOUNT_DEPOSIT_MAX.div_ceil(self.gas_unit_price)
            }
            _ => 0,
        };
        MAX_GAS_AMOUNT.saturating_add(storage_units)
    }

    /// Returns the number of transfers that are signed before the load for each connection.
    pub fn pre_signed_per_connection(&self) -> u64 {
        self.pre_signed.div_ceil(self.connections.max(1) as u64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the plan of a closed loop with one connection and no end.
    pub fn plan() -> Plan {
        Plan {
            chain: ChainIdentity {
                id: 4,
                vendor: ledger_types::Vendor::default(),
            },
            gas_unit_price: 100,
            accounts: 1,
            connections: 1,
            threads: 1,
            batch: 1,
            batches_ahead: 0,
            ramp: Duration::ZERO,
            warm_up: Duration::ZERO,
            duration: None,
            transfers: None,
            pre_signed: 0,
            expires_after: Duration::from_secs(300),
            interval: None,
            commit_wait: CommitWait::None,
            is_orderless: false,
            format: SubmissionFormat::Bcs,
            seed: 1,
            has_used_accounts: false,
            pid: None,
        }
    }

    #[test]
    fn only_the_first_transfer_of_an_account_may_use_gas_for_its_storage() {
        let plan = plan();
        let first = plan.max_gas_amount(ReplayProtector::SequenceNumber(0));
        assert_eq!(first, MAX_GAS_AMOUNT + 6_000);
        for other in [
            ReplayProtector::SequenceNumber(1),
            ReplayProtector::Nonce(0),
        ] {
            assert_eq!(plan.max_gas_amount(other), MAX_GAS_AMOUNT, "{other:?}");
        }
        let free = Plan {
            gas_unit_price: 0,
            ..plan
        };
        let first = free.max_gas_amount(ReplayProtector::SequenceNumber(0));
        assert_eq!(first, MAX_GAS_AMOUNT);
    }

    #[test]
    fn grants_cover_the_transfers_of_the_warm_up() {
        let cold = Plan {
            transfers: Some(10),
            ..plan()
        };
        let warm = Plan {
            warm_up: Duration::from_secs(1),
            ..cold.clone()
        };
        let each = GAS_UNITS_PER_TRANSFER * cold.gas_unit_price + 1;
        assert_eq!(
            warm.grant() - cold.grant(),
            2 * ASSUMED_TRANSFERS_PER_SECOND * each
        );
    }
}
