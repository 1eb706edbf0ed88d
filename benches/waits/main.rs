//! Load generator of long polls that one block completes.
//!
//! It starts many long polls, each on a connection of its own and for a transaction of its own. All
//! transactions are of one account, and the first is missing, so none can be committed. Then the
//! generator submits the first one, and one block commits all of them.
//!
//! It works in steps, so that `benches/compare` can measure the node between them. After a step it
//! prints a line and waits for a line on standard input. It ends at the end of the input.
//!
//! | line | state |
//! |---|---|
//! | `submitted` | the node has accepted the transactions, and none can be committed |
//! | `parked` | each transaction is awaited on a connection of its own |
//! | a report in JSON | the missing transaction was submitted, and every response received |
//!
//! The limits of the node must allow so many pending transactions of one account and in one block.

mod payer;
mod waits;

use clap::Parser;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ledger_client::{FaucetClient, NodeClient, http::TrustedRoots};
use payer::{GRANT, Payer};
use std::{
    error::Error,
    io::{self, BufRead as _, Write as _},
    num::NonZeroU64,
    process::ExitCode,
};
use tokio::{runtime, task::LocalSet};
use waits::Waits;

/// The allocator of `ledger-node bench`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of connections that submit transactions, each with one request in flight.
const SUBMITTERS: usize = 16;

/// Starts long polls for transactions that cannot be committed yet, then commits all of them.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// URL of the node, http://HOST:PORT
    #[arg(long)]
    url: String,
    /// URL of the faucet
    #[arg(long)]
    faucet: String,
    /// Number of long polls
    #[arg(long)]
    transfers: NonZeroU64,
}

fn main() -> ExitCode {
    let run = || -> Result<(), Box<dyn Error>> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let arguments = Arguments::parse();
        LocalSet::new().block_on(&runtime, steps(&arguments))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // An error means that standard error is closed, so it cannot be reported.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn steps(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let roots = TrustedRoots::new(None)?;
    let node = NodeClient::new(&arguments.url, &roots)?;
    let faucet = FaucetClient::new(&arguments.faucet, &roots)?;
    let payer = Payer::new(node.ledger().await?.chain);
    for account in payer.accounts() {
        faucet.fund(&account, GRANT).await?;
    }
    let (vendor, release) = (&payer.chain.vendor, payer.transfer(0));
    let submit = async |number| node.submit(vendor, &payer.transfer(number)).await;
    let hashes: Vec<_> = stream::iter(1..=arguments.transfers.get())
        .map(submit)
        .buffered(SUBMITTERS)
        .try_collect()
        .await?;
    if !finish_step("submitted")? {
        return Ok(());
    }
    let authority = arguments.url.trim_start_matches("http://");
    let waits = Waits::park(authority, &hashes).await?;
    if !finish_step("parked")? {
        return Ok(());
    }
    let report = waits.release(node.submit(vendor, &release)).await?;
    writeln!(io::stdout(), "{}", serde_json::to_string(&report)?)?;
    Ok(())
}

/// Prints the name of a step and waits for a line. Returns false at the end of the input.
fn finish_step(done: &str) -> io::Result<bool> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{done}")?;
    stdout.flush()?;
    Ok(io::stdin().lock().read_line(&mut String::new())? > 0)
}
