//! `bench`: drives any node with signed transfers and counts, on the ledger, what it commits.
//!
//! | to find | look in |
//! |---|---|
//! | what is to be done, and how far it is | `plan.rs`, `run.rs`, `progress.rs` |
//! | accounts and how they are funded | `funding.rs` |
//! | transfers and requests as bytes, signed before or while running | `requests.rs`, `presign.rs` |
//! | the threads, and what one connection does | `threads.rs`, `worker.rs`, `commit_wait.rs`, `descriptors.rs` |
//! | a lean HTTP/1.1 connection | `target.rs`, `connection.rs`, `response.rs` |
//! | counting on the ledger, and what it costs | `meter.rs`, `process_usage.rs` |
//! | latencies and errors, and how they are printed | `tally.rs`, `quantiles.rs`, `report.rs` |

#[path = "../../client/load/commit_wait.rs"]
mod commit_wait;
#[path = "../../client/load/connection.rs"]
mod connection;
mod descriptors;
#[path = "../../client/load/funding.rs"]
mod funding;
#[path = "../../client/load/meter.rs"]
mod meter;
#[path = "../../client/load/plan.rs"]
mod plan;
#[path = "../../client/load/presign.rs"]
mod presign;
#[path = "../../client/load/process_usage.rs"]
mod process_usage;
mod progress;
#[path = "../../client/load/latency.rs"]
mod quantiles;
mod report;
#[path = "../../client/load/requests.rs"]
mod requests;
#[path = "../../client/load/response.rs"]
mod response;
#[path = "../../client/load/run.rs"]
mod run;
#[path = "../../client/load/tally.rs"]
mod tally;
mod target;
#[path = "../../client/load/threads.rs"]
mod threads;
#[path = "../../client/load/transaction_status.rs"]
mod transaction_status;
#[path = "../../client/load/worker.rs"]
mod worker;

use super::Failure;
use crate::output;
use descriptors::allow_connections;
use funding::fund;
use ledger_client::NodeClient;
use meter::Meter;
use plan::Plan;
use presign::sign_all;
use process_usage::NodeUsage;
use report::Report;
use requests::Form;
use run::Load;
use std::{num::NonZeroUsize, sync::Arc, time::Duration};
use target::Target;
use threads::Driver;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Maximum length of ramp, warm-up and duration, and of the time between two transfers: 30 days. No sum of them
/// overflows.
const SECONDS_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);

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
    /// How many threads drive the connections; beside the node on one machine, few leave it more
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
    /// Make the connections evenly within this many seconds, and measure nothing until then
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    ramp: Seconds,
    /// After that, send for this many seconds without measuring
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    warm_up: Seconds,
    /// Stop after this many seconds [default: 10, without --transfers]
    #[arg(long, value_name = "SECONDS")]
    duration: Option<Seconds>,
    /// Stop after this many transfers
    #[arg(long, value_name = "N")]
    transfers: Option<u64>,
    /// Sign so many transfers before the load begins, about 400 bytes of memory each; what is sent beyond
    /// them, or does not fit any more, is signed while the load is on
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        conflicts_with = "orderless"
    )]
    pre_signed: u64,
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
    /// How transfers are written, and those that are committed read
    #[arg(long, value_enum, default_value_t = Format::Bcs)]
    format: Format,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Which accounts are used; the same seed uses the same ones. Absent: new ones
    #[arg(long)]
    seed: Option<u64>,
    /// The node's process on this machine: reports its processor time and memory as well
    #[arg(long)]
    pid: Option<u32>,
}

/// A time in seconds, as it is given.
#[derive(Debug, Clone, Copy)]
struct Seconds(Duration);

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

/// What happens after a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// The next submission.
    Submit,
    /// A wait for the commitment.
    Await,
}

/// The form of a submission, and of the answer to a wait.
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
        .is_some_and(|rate| !rate.is_finite() || rate * SECONDS_MAX.as_secs_f64() < 1.0)
    {
        return Err(Failure::Fatal(format!(
            "--rate must be above 0, with a transfer every {} s at least",
            SECONDS_MAX.as_secs()
        )));
    }
    if let Some(pid) = arguments.pid
        && NodeUsage::of(pid).is_none()
    {
        return Err(Failure::Fatal(format!(
            "--pid {pid}: there is no such process, or its figures cannot be read from /proc"
        )));
    }
    let (connections, threads) = (arguments.connections.get(), arguments.threads.get());
    allow_connections(connections, threads.min(connections))?;
    // The load has threads of its own (`threads.rs`).
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(arguments))
}

/// A number that nobody foresees.
fn random() -> Result<u64, Failure> {
    getrandom::u64()
        .map_err(|error| Failure::Fatal(format!("no randomness from the system: {error}")))
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
    let form = Form::new(&plan, &target);
    let mut shares = fund(&arguments.faucet, &node, &plan).await?;
    sign_all(&plan, &form, &mut shares);

    let meter = Meter::begin(node).await?;
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let load = Arc::new(Load::begin(plan, target, form));
    for signal in signals {
        tokio::spawn(stop_at(signal?, Arc::clone(&load)));
    }
    let driver = Driver::start(&load, shares)?;
    let progress = progress::bar(&load.plan);
    let history = meter.watch(Arc::clone(&load), progress).await;
    let tally = driver.join()?;
    if load.plan.pid.is_some() && history.usage()[1].node.is_none() {
        load.stop("the process that --pid names has ended");
    }
    let report = Report::new(&load, &tally, &history);
    let text = match arguments.output {
        Output::Text => report.text(),
        Output::Json => report.json(),
    };
    output::line(&text)?;
    match load.stop_cause() {
        None => Ok(()),
        Some(cause) => Err(Failure::Fatal(format!("the run was stopped: {cause}"))),
    }
}

/// Stops the run at the first signal, and waits for nothing more at the second.
async fn stop_at(mut signal: Signal, load: Arc<Load>) {
    signal.recv().await;
    load.stop("interrupted");
    signal.recv().await;
    load.abandon();
}
