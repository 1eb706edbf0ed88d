//! `ledger-node`: a ledger node in one binary, with a small client and a load generator.
//!
//! | to find | look in |
//! |---|---|
//! | the command line | `cli/` |
//! | every setting, and how its value is decided | `config/` |
//! | how the crates are put together into a node | `compose/` |
//! | the listeners beside the interface, and the access to them | `faucet/`, `admin/`, `access/` |
//! | signals, the limit on open files | `signals.rs`, `open_files.rs` |
//! | the log | `telemetry/` |

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod access;
mod admin;
mod cli;
mod compose;
mod config;
mod faucet;
mod open_files;
mod signals;
mod telemetry;

use clap::Parser as _;
use std::process::ExitCode;

/// A submission and its answer are hundreds of small pieces made on one thread and freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let ended = signals::survive_file_size_limit()
        .map_err(|error| cli::CliError::fatal("installing a signal handler", &error))
        .and_then(|()| cli::execute(cli));
    match ended {
        Ok(()) => {
            telemetry::flush();
            ExitCode::SUCCESS
        }
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}
