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

mod requests;
mod waits;

use clap::Parser;
use ledger_client::http::{Connection, Endpoint};
use requests::Requests;
use std::{
    error::Error,
    io::{self, BufRead as _, Write as _},
    num::NonZeroUsize,
    process::ExitCode,
};
use tokio::{
    runtime,
    task::{JoinSet, LocalSet},
};
use waits::Waits;

/// The allocator of `ledger-node bench`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of connections that submit transactions.
const SUBMITTERS: usize = 16;

/// Starts long polls for transactions that cannot be committed yet, then commits all of them.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// HOST:PORT of the node
    #[arg(long)]
    address: String,
    /// HOST:PORT of the faucet
    #[arg(long)]
    faucet: String,
    /// Number of long polls
    #[arg(long)]
    transfers: NonZeroUsize,
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
    let requests = Requests::new(&arguments.address, &arguments.faucet);
    fund(arguments, &requests).await?;
    let (release, held) = requests.transfers(arguments.transfers.get());
    let hashes: Vec<_> = held.iter().map(|transfer| transfer.hash).collect();
    submit_all(
        arguments,
        held.into_iter().map(|transfer| transfer.submission),
    )
    .await?;
    if !finish_step("submitted")? {
        return Ok(());
    }
    let questions = hashes.iter().map(|hash| requests.wait(hash));
    let waits = Waits::park(&arguments.address, questions).await?;
    if !finish_step("parked")? {
        return Ok(());
    }
    let mut report = waits
        .release(&arguments.address, release.submission)
        .await?;
    report.sender = requests.sender().to_string();
    report.hash = release.hash.to_string();
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

async fn fund(arguments: &Arguments, requests: &Requests) -> Result<(), String> {
    let mut faucet = Connection::new(Endpoint::plain(arguments.faucet.clone()));
    for request in requests.fundings() {
        let answer = faucet.exchange(&request).await;
        let answer = answer.map_err(|error| format!("the faucet: {error}"))?;
        if !answer.status.is_success() {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!(
                "the faucet responded with {}: {body}",
                answer.status
            ));
        }
    }
    Ok(())
}

async fn submit_all(
    arguments: &Arguments,
    submissions: impl Iterator<Item = Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let mut shares = vec![Vec::new(); SUBMITTERS];
    for (index, submission) in submissions.enumerate() {
        shares[index % SUBMITTERS].push(submission);
    }
    let mut submitters = JoinSet::new();
    for share in shares {
        let mut node = Connection::new(Endpoint::plain(arguments.address.clone()));
        submitters.spawn_local(async move {
            for submission in share {
                submit(&mut node, &submission).await?;
            }
            Ok::<_, String>(())
        });
    }
    while let Some(submitter) = submitters.join_next().await {
        submitter??;
    }
    Ok(())
}

async fn submit(node: &mut Connection, submission: &[u8]) -> Result<(), String> {
    let answer = node.exchange(submission).await;
    let answer = answer.map_err(|_| "the node does not respond to a submission".to_owned())?;
    if answer.status == http::StatusCode::ACCEPTED {
        return Ok(());
    }
    let body = String::from_utf8_lossy(&answer.body);
    Err(format!(
        "the node responded to a submission with {}: {body}",
        answer.status
    ))
}
