//! Load generator for a peer with the JSON-RPC interface of Ethereum.
//!
//! It sends signed transfers over the same kind of connections as `ledger-node bench`, and measures
//! latencies and processor time in the same way, so that `benches/compare` can compare the two.
//!
//! All transfers are signed before the load. Mode `submit` sends them with
//! `eth_sendRawTransaction`, and derives the number of mined ones from the nonces of the accounts.
//! Mode `await` sends them with `eth_sendRawTransactionSync`, which responds with the receipt: the
//! long poll of the peer.

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

/// The allocator of `ledger-node bench`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sends signed transfers to a peer with the JSON-RPC interface of Ethereum.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// HOST:PORT of the peer, a development chain whose balances can be set
    #[arg(long)]
    address: String,
    /// Number of sending accounts, at least one for each connection
    #[arg(long, default_value = "1000")]
    accounts: NonZeroUsize,
    /// Number of connections, each with one request in flight
    #[arg(long, default_value = "64")]
    connections: NonZeroUsize,
    /// Seconds of measured load
    #[arg(long, default_value_t = 8)]
    duration: u64,
    /// Seconds of load before the measurement
    #[arg(long, default_value_t = 2)]
    warm_up: u64,
    /// Number of transfers, all signed before the load
    #[arg(long)]
    pre_signed: NonZeroUsize,
    /// Whether the generator waits for the receipt of each transfer
    #[arg(long, value_enum)]
    mode: Mode,
    /// Process id of the peer
    #[arg(long)]
    pid: u32,
}

/// The kind of request that submits a transfer.
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
            // An error means that standard error is closed. The exit code reports the failure.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
