//! Drives a peer that speaks Ethereum's JSON-RPC with signed transfers, by the same connections, latencies
//! and measures as `ledger-node bench`, so that `benches/compare` can hold the two beside each other.
//!
//! All transfers are signed before the load. In mode `submit` they are sent by `eth_sendRawTransaction`, and
//! what was mined is read off the accounts' nonces; in mode `await` by `eth_sendRawTransactionSync`, which
//! answers with the receipt: the peer's own long poll.

mod load;
mod report;
mod rpc;
mod transfer;

use clap::Parser;
use std::{
    error::Error,
    io::{self, Write as _},
    num::NonZeroUsize,
    process::ExitCode,
    time::Duration,
};

/// The generator's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Drives a peer that speaks Ethereum's JSON-RPC.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// HOST:PORT of the peer, a development chain that lets balances be set
    #[arg(long)]
    address: String,
    /// How many accounts send, at least one for each connection
    #[arg(long, default_value = "1000")]
    accounts: NonZeroUsize,
    /// How many connections are used, each with one request at a time
    #[arg(long, default_value = "64")]
    connections: NonZeroUsize,
    /// For how many seconds is measured
    #[arg(long, default_value_t = 8)]
    duration: u64,
    /// For how many seconds before that nothing is measured
    #[arg(long, default_value_t = 2)]
    warm_up: u64,
    /// How many transfers are signed before; there are no more
    #[arg(long)]
    pre_signed: NonZeroUsize,
    /// Whether each transfer is awaited
    #[arg(long, value_enum)]
    mode: Mode,
    /// The peer's process
    #[arg(long)]
    pid: u32,
}

/// What happens after a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    Submit,
    Await,
}

impl Arguments {
    fn warm_up(&self) -> Duration {
        Duration::from_secs(self.warm_up)
    }

    fn duration(&self) -> Duration {
        Duration::from_secs(self.duration)
    }
}

fn main() -> ExitCode {
    let run = || -> Result<(), Box<dyn Error>> {
        let report = load::run(&Arguments::parse())?;
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
        Ok(())
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
