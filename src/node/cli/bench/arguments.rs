//! The options of `bench`, and the plan of the run that they describe.

use super::CliError;
use crate::cli::{
    client::{FAUCET_URL, NODE_URL, client_chain},
    trust::TrustOptions,
};
use ledger_api::submission_json;
use ledger_client::load::{CommitWait, Plan, ProcessUsage, SubmissionFormat};
use ledger_types::ChainIdentity;
use std::{num::NonZeroUsize, sync::Arc, time::Duration};

/// Duration of a run that is limited neither by time nor by transfers.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// Time from the signature of a transfer to its expiration, longer than a node takes to commit all
/// transfers of a full mempool.
const EXPIRES_AFTER: Duration = Duration::from_secs(300);

/// Assumed duration of a run that is limited by transfers, for the expiration of transfers that are
/// signed in advance.
const ASSUMED_DURATION: Duration = Duration::from_secs(3_600);

/// Maximum length of ramp, warm-up and duration, and of the interval between two transfers.
///
/// The limit is 30 days, so that no sum of them overflows.
const SECONDS_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Maximum number of transfers that are signed in advance, which take 4 GB of memory.
const PRE_SIGNED_MAX: u64 = 10_000_000;

/// Maximum number of sending accounts, which take some GB of memory.
const ACCOUNTS_MAX: usize = 10_000_000;

/// Maximum number of transfers in a batch: the largest `api.batch_transactions_max` of a node.
const BATCH_MAX: usize = 10_000;

/// Maximum number of batches ahead. The generator keeps their hashes until they are committed.
const AHEAD_MAX: u64 = 10_000;

/// The options of `bench`.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// URL of the node
    #[arg(long, value_name = "URL", default_value = NODE_URL)]
    pub(super) url: String,
    /// URL of the faucet that funds the accounts
    #[arg(long, value_name = "URL", default_value = FAUCET_URL)]
    pub(super) faucet: String,
    /// File with the private key of an account that funds them instead, for a chain without a
    /// faucet; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "faucet")]
    pub(super) key: Option<String>,
    #[command(flatten)]
    pub(super) trust: TrustOptions,
    /// Number of sending accounts; at least one per connection, except with --orderless, and at
    /// most 10,000,000
    #[arg(long, default_value = "1000", value_parser = up_to::<ACCOUNTS_MAX>)]
    pub(super) accounts: NonZeroUsize,
    /// Number of connections, each with one request at a time
    #[arg(long, default_value = "64")]
    pub(super) connections: NonZeroUsize,
    /// Number of threads that drive the connections; few leave a node on this machine more cores
    #[arg(long, default_value = "1")]
    pub(super) threads: NonZeroUsize,
    /// Seconds in which the connections are opened, at even intervals; not measured
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub(super) ramp: Seconds,
    /// Seconds of load after the ramp; not measured
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub(super) warm_up: Seconds,
    /// Seconds of measured load [default: 10, without --transfers]
    #[arg(long, value_name = "SECONDS")]
    pub(super) duration: Option<Seconds>,
    /// Maximum number of measured transfers
    #[arg(long, value_name = "N")]
    pub(super) transfers: Option<u64>,
    /// Number of transfers to sign before the load, at most 10,000,000 at about 400 bytes of memory
    /// each; further ones, and those whose sequence number is no longer next, are signed during the
    /// load
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        value_parser = clap::value_parser!(u64).range(..=PRE_SIGNED_MAX),
        conflicts_with = "orderless"
    )]
    pub(super) pre_signed: u64,
    /// Transfers per second in an open loop, whose latencies count from the due time [default: a
    /// closed loop, in which a connection sends its next transfer after the response]
    #[arg(long, value_name = "PER_SECOND")]
    pub(super) rate: Option<f64>,
    /// Event that a connection waits for before it sends its next transfer
    #[arg(long, value_enum, default_value_t = Mode::Submit)]
    pub(super) mode: Mode,
    /// Requests with which a connection waits for commits, in the mode await
    #[arg(long, value_enum, default_value_t = Wait::Two)]
    pub(super) wait: Wait,
    /// Number of transfers in a request, as a batch if more than 1; at most
    /// api.batch_transactions_max of the node
    #[arg(long, value_name = "N", default_value = "1", value_parser = up_to::<BATCH_MAX>)]
    pub(super) batch: NonZeroUsize,
    /// Number of batches that a connection submits beyond the one whose commits it waits for, in
    /// mode await; at most 10,000
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        requires = "batch",
        value_parser = clap::value_parser!(u64).range(..=AHEAD_MAX),
    )]
    pub(super) ahead: u64,
    /// Protect transfers by nonces instead of sequence numbers, so that connections can share an
    /// account
    #[arg(long)]
    pub(super) orderless: bool,
    /// Encoding of submissions, and of committed transactions that are read back
    #[arg(long, value_enum, default_value_t = Format::Bcs)]
    pub(super) format: Format,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
    /// Seed of the accounts' keys; the same seed uses the same accounts [default: random]
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Process of the node on this machine, whose processor time and memory are reported
    #[arg(long)]
    pub(super) pid: Option<u32>,
}

/// Parses a number from 1 to `MAX`.
fn up_to<const MAX: usize>(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(number) if number.get() <= MAX => Ok(number),
        _ => Err(format!("expected a number from 1 to {MAX}")),
    }
}

/// A duration in seconds, at most [`SECONDS_MAX`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Seconds(Duration);

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
        let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
        if duration > SECONDS_MAX {
            return Err(format!("more than {} s", SECONDS_MAX.as_secs()));
        }
        Ok(Self(duration))
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

/// The event that a connection waits for after a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// The response to the submission.
    Submit,
    /// The commit.
    Await,
}

/// The requests with which a connection waits for the commits of its submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wait {
    /// A submission, and a long poll by hash.
    Two,
    /// A submission that waits (`timeout_ms`).
    One,
    /// One request for a batch, or for a transfer of each account of the connection.
    Many,
}

/// The encoding of a submission, and of the response to a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Bcs,
    Json,
}

/// The encoding of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Output {
    Text,
    Json,
}

impl Format {
    /// Returns the format of submissions to `chain`.
    fn submission_format(self, chain: &ChainIdentity) -> SubmissionFormat {
        match self {
            Self::Bcs => SubmissionFormat::Bcs,
            Self::Json => {
                let chain = client_chain(chain);
                let render = move |transaction: &_| submission_json(&chain, transaction);
                SubmissionFormat::Json(Arc::new(render))
            }
        }
    }
}

impl Arguments {
    /// Checks rules between options, and the existence of the process that `--pid` names.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if there are too few accounts, if the rate is too low or not
    /// finite, if the kind of wait contradicts mode or batches, or if the usage of the process
    /// cannot be read.
    pub(super) fn check(&self) -> Result<(), CliError> {
        if !self.orderless && self.accounts < self.connections {
            return Err(CliError::Fatal(format!(
                "--accounts {} is less than --connections {}: each connection needs \
                 accounts of its own, except with --orderless",
                self.accounts, self.connections
            )));
        }
        if self
            .rate
            .is_some_and(|rate| !rate.is_finite() || rate * SECONDS_MAX.as_secs_f64() < 1.0)
        {
            return Err(CliError::Fatal(format!(
                "--rate must be at least one transfer per {} s",
                SECONDS_MAX.as_secs()
            )));
        }
        if self.wait != Wait::Two && self.mode != Mode::Await {
            return Err(CliError::Fatal(
                "--wait needs --mode await, which waits for commits".to_owned(),
            ));
        }
        if self.wait == Wait::One && self.batch.get() > 1 {
            return Err(CliError::Fatal(
                "--wait one needs --batch 1, because batches do not wait: use --wait many"
                    .to_owned(),
            ));
        }
        if let Some(pid) = self.pid
            && ProcessUsage::of(pid).is_none()
        {
            return Err(CliError::Fatal(format!(
                "--pid {pid}: no such process, or its usage cannot be read from /proc"
            )));
        }
        Ok(())
    }

    /// Returns the plan of the run on this chain, with `seed` for the keys of its accounts.
    pub(super) fn plan(&self, chain: ChainIdentity, gas_unit_price: u64, seed: u64) -> Plan {
        let duration = match (self.duration, self.transfers) {
            (Some(duration), _) => Some(duration.into()),
            (None, Some(_)) => None,
            (None, None) => Some(DURATION_DEFAULT),
        };
        let (ramp, warm_up) = (self.ramp.into(), self.warm_up.into());
        Plan {
            format: self.format.submission_format(&chain),
            chain,
            gas_unit_price,
            accounts: self.accounts.get(),
            connections: self.connections.get(),
            threads: self.threads.get().min(self.connections.get()),
            batch: self.batch.get(),
            batches_ahead: self.ahead as usize,
            ramp,
            warm_up,
            duration,
            transfers: self.transfers,
            pre_signed: self.pre_signed,
            expires_after: match self.pre_signed {
                0 => EXPIRES_AFTER,
                _ => ramp + warm_up + duration.unwrap_or(ASSUMED_DURATION) + EXPIRES_AFTER,
            },
            interval: self.rate.map(|rate| Duration::from_secs_f64(1.0 / rate)),
            commit_wait: match (self.mode, self.wait) {
                (Mode::Submit, _) => CommitWait::None,
                (Mode::Await, Wait::Two) => CommitWait::LongPolls,
                (Mode::Await, Wait::One) => CommitWait::InSubmission,
                (Mode::Await, Wait::Many) => CommitWait::Shared,
            },
            is_orderless: self.orderless,
            seed,
            has_used_accounts: self.seed.is_some(),
            pid: self.pid,
        }
    }
}
