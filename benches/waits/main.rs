//! Parks long polls, each on a transaction of its own that cannot be committed yet, and then has all of them
//! committed at once: all transactions are of one account, and the first of them is missing until then.
//!
//! It works in steps, so that whoever runs it (`benches/compare`) can look at the node between them: after
//! each it prints a line and waits for one on its standard input; at the end of the input it ends.
//!
//! | it prints | when |
//! |---|---|
//! | `submitted` | the node has taken the transactions, and none can be committed |
//! | `parked` | each is awaited on a connection of its own |
//! | a report in JSON | the missing one was sent, and every answer has come |
//!
//! A node must let one account have so many pending transactions, and take them in one block.

mod requests;
mod waits;

use clap::{Parser, ValueEnum};
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

/// The generator's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Over so many connections transactions are submitted.
const SUBMITTERS: usize = 16;

/// Parks long polls on transactions that cannot be committed yet.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// HOST:PORT of the node
    #[arg(long)]
    address: String,
    /// HOST:PORT of its faucet
    #[arg(long)]
    faucet: String,
    /// How many long polls are parked
    #[arg(long)]
    transfers: NonZeroUsize,
    /// What form of answers is asked for
    #[arg(long, value_enum, default_value_t = Form::Bcs)]
    accept: Form,
}

/// A form of answers.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    Bcs,
    Json,
}

impl Form {
    /// Its media type.
    const fn media_type(self) -> &'static str {
        match self {
            Self::Bcs => "application/x-bcs",
            Self::Json => "application/json",
        }
    }
}

fn main() -> ExitCode {
    let run = || -> Result<(), Box<dyn Error>> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, steps(&Arguments::parse()))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this fails.
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
    if !is_told_to_go_on("submitted")? {
        return Ok(());
    }
    let questions = hashes
        .iter()
        .map(|hash| requests.wait(hash, arguments.accept.media_type()));
    let waits = Waits::park(&arguments.address, questions).await?;
    if !is_told_to_go_on("parked")? {
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

/// Prints what is done, and waits for a line; false when there will be none.
fn is_told_to_go_on(done: &str) -> io::Result<bool> {
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
            return Err(format!("the faucet answers {}: {body}", answer.status));
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
    let answer = answer.map_err(|_| "the node does not answer a submission".to_owned())?;
    if answer.status == http::StatusCode::ACCEPTED {
        return Ok(());
    }
    let body = String::from_utf8_lossy(&answer.body);
    Err(format!(
        "a submission is answered {}: {body}",
        answer.status
    ))
}
