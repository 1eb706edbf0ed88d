//! `bench`: drives a node with signed transfers, and reports how fast they are committed.
//!
//! The load generator is `ledger_client::load`. This module has what belongs to the command: its
//! options (`arguments`), progress bars on a terminal (`progress`), and the report (`report`).

mod arguments;
mod progress;
mod report;

pub use arguments::Arguments;

use super::CliError;
use crate::{
    cli::{key, output},
    open_files::raise_limit,
};
use arguments::Output;
use ledger_client::{
    FaucetClient, NodeClient,
    http::Endpoint,
    load::{
        Funds, LoadThreads, Meter, Requests, Run, fund_accounts, required_descriptors,
        sign_in_advance,
    },
    signer::Signer,
};
use report::Report;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Runs the command.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if options contradict each other, if the node or the faucet rejects
/// a request or does not respond, or if the run was stopped early. In the last case the report is
/// printed.
pub fn execute(arguments: Arguments) -> Result<(), CliError> {
    arguments.check()?;
    let (connections, threads) = (arguments.connections.get(), arguments.threads.get());
    allow_connections(connections, threads.min(connections))?;
    // This runtime does not drive the load, which has threads of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(arguments))
}

/// Raises the soft limit on open files to the number that the connections need.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the limit stays below that number.
fn allow_connections(connections: usize, threads: usize) -> Result<(), CliError> {
    let needed = required_descriptors(connections, threads);
    let allowed = raise_limit(needed);
    if allowed < needed {
        return Err(CliError::Fatal(format!(
            "--connections {connections} needs {needed} file descriptors, but this process may \
             have {allowed}: raise the hard limit (ulimit -Hn) or use fewer connections"
        )));
    }
    Ok(())
}

/// Funds the accounts, drives the load, and prints the report.
async fn run(arguments: Arguments) -> Result<(), CliError> {
    let roots = arguments.trust.roots()?;
    let node = NodeClient::new(&arguments.url, &roots)?;
    let endpoint = Endpoint::parse(&arguments.url, &roots)?;
    let chain = node.ledger().await?.chain;
    let gas_unit_price = node.gas_unit_price().await?;
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => getrandom::u64().map_err(|error| {
            CliError::Fatal(format!(
                "the operating system returned no random bytes: {error}"
            ))
        })?,
    };
    let plan = arguments.plan(chain, gas_unit_price, seed);
    let requests = Requests::new(&plan, &endpoint);
    let funds = match &arguments.key {
        Some(key) => Funds::Account(Signer::new(key::read(key)?)),
        None => Funds::Faucet(FaucetClient::new(&arguments.faucet, &roots)?),
    };
    let bar = progress::funding_bar(&plan);
    let mut accounts = fund_accounts(&funds, &node, &plan, |count| bar.inc(count as u64)).await?;
    bar.finish_and_clear();
    if plan.pre_signed > 0 {
        let bar = progress::signing_bar(&plan);
        sign_in_advance(&plan, &requests, &mut accounts, |count| bar.inc(count));
        bar.finish_and_clear();
    }

    let meter = Meter::start(node).await?;
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let run = Arc::new(Run::start(plan, endpoint, requests));
    for signal in signals {
        tokio::spawn(stop_on(signal?, Arc::clone(&run)));
    }
    let threads = LoadThreads::start(&run, accounts)?;
    let bar = progress::run_bar(run.plan());
    let history = meter
        .watch(&run, |sample| progress::show(&bar, run.plan(), sample))
        .await;
    bar.finish_and_clear();
    let tally = threads.join()?;
    if run.plan().pid.is_some() && history.usage_after().node.is_none() {
        run.stop("the process that --pid names has ended");
    }
    let report = Report::new(&arguments, &run, &tally, &history);
    let text = match arguments.output {
        Output::Text => report.text(),
        Output::Json => report.json(),
    };
    output::line(&text)?;
    match run.stop_cause() {
        None => Ok(()),
        Some(cause) => Err(CliError::Fatal(format!("the run was stopped: {cause}"))),
    }
}

/// Stops the run on the first signal, and ends its waits on the second.
async fn stop_on(mut signal: Signal, run: Arc<Run>) {
    signal.recv().await;
    run.stop("interrupted");
    signal.recv().await;
    run.abandon();
}
