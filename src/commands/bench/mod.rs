//! `bench`: drives any node with signed transfers and counts, on the ledger, what it commits.
//!
//! | to find | look in |
//! |---|---|
//! | what is to be done, and how far it is | `plan.rs`, `load.rs`, `progress.rs` |
//! | accounts and how they are funded | `accounts.rs` |
//! | what one connection does | `worker.rs`, `waiting.rs`, `form.rs` |
//! | a lean HTTP/1.1 connection | `connection.rs` |
//! | counting on the ledger | `meter.rs` |
//! | latencies and errors, and how they are printed | `tally.rs`, `report.rs` |

mod accounts;
mod connection;
mod form;
mod load;
mod meter;
mod plan;
mod progress;
mod report;
mod tally;
mod waiting;
mod worker;

use super::Failure;
use crate::{client::NodeClient, output};
use accounts::fund;
use connection::Target;
use load::Load;
use meter::Meter;
use plan::Plan;
use report::Report;
use std::{num::NonZeroUsize, sync::Arc};
use tally::Tally;
use tokio::task::JoinSet;
use worker::Worker;

/// The options of `bench`.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// The node
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// The faucet that funds the accounts
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8081")]
    faucet: String,
    /// How many accounts send; at least one for each connection, except with --orderless
    #[arg(long, default_value = "1000")]
    accounts: NonZeroUsize,
    /// How many connections are used, each with one request at a time
    #[arg(long, default_value = "64")]
    connections: NonZeroUsize,
    /// Stop after this many seconds [default: 10, without --transfers]
    #[arg(long, value_name = "SECONDS")]
    duration: Option<u64>,
    /// Stop after this many transfers
    #[arg(long, value_name = "N")]
    transfers: Option<u64>,
    /// Transfers per second (open loop: latency counts from when each was due); absent: as fast as
    /// answers come
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// Whether each transfer is awaited by a long poll before the connection sends its next one
    #[arg(long, value_enum, default_value_t = Mode::Submit)]
    mode: Mode,
    /// Protect transfers by nonces in place of sequence numbers: then any number of connections may
    /// send from one account
    #[arg(long)]
    orderless: bool,
    /// How transfers are written
    #[arg(long, value_enum, default_value_t = Format::Bcs)]
    format: Format,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Which accounts are used; the same seed uses the same ones. Absent: new ones
    #[arg(long)]
    seed: Option<u64>,
}

/// What happens after a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// The next submission.
    Submit,
    /// A wait for the commitment.
    Await,
}

/// The form of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Bcs,
    Json,
}

/// The form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    Text,
    Json,
}

/// Runs the bench.
///
/// # Errors
/// When its options contradict each other, the node cannot be reached, or the accounts not be funded.
pub fn execute(arguments: Arguments) -> Result<(), Failure> {
    if !arguments.orderless && arguments.accounts < arguments.connections {
        return Err(Failure::Fatal(format!(
            "--accounts {} is less than --connections {}: each connection needs accounts of its own, unless transfers are --orderless",
            arguments.accounts, arguments.connections
        )));
    }
    if arguments
        .rate
        .is_some_and(|rate| !rate.is_finite() || rate <= 0.0)
    {
        return Err(Failure::Fatal("--rate must be above 0".to_owned()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(arguments))
}

/// A number that nobody foresees.
fn random() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| Failure::Fatal(format!("no randomness from the system: {error}")))
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    // Reads the URL as `account` does, and says what is wrong with it as `account` says it.
    let node = NodeClient::new(&arguments.url)?;
    let target = Target::parse(&arguments.url)?;
    let chain = node.ledger().await?.chain;
    let gas_unit_price = node.gas_unit_price().await?;
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => random()?,
    };
    let plan = Plan::new(&arguments, chain, gas_unit_price, seed);
    let shares = fund(&arguments.faucet, &node, &plan).await?;

    let meter = Meter::begin(node).await?;
    let load = Arc::new(Load::begin(plan, target));
    let mut workers = JoinSet::new();
    for (index, accounts) in shares.into_iter().enumerate() {
        workers.spawn(Worker::new(Arc::clone(&load), index, accounts).run());
    }
    let progress = progress::bar(&load.plan);
    let watching = tokio::spawn(meter.watch(Arc::clone(&load), progress));
    let mut tally = Tally::default();
    while let Some(worker) = workers.join_next().await {
        tally.merge(worker.map_err(|error| Failure::fatal("a connection's task", &error))?);
    }
    load.finish();
    let history = watching
        .await
        .map_err(|error| Failure::fatal("the meter's task", &error))??;
    let report = Report::new(&load, &tally, &history);
    let text = match arguments.output {
        Output::Text => report.text(),
        Output::Json => report.json(),
    };
    Ok(output::line(&text)?)
}
