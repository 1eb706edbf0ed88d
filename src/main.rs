//! `ledger-node`: a ledger node in one binary, with a small client and a load generator.
//!
//! | to find | look in |
//! |---|---|
//! | the command line | `commands/` |
//! | every setting, and how its value is decided | `config/` |
//! | how the crates are put together into a node | `wiring/` |
//! | the listeners that are not the interface, and who may ask them | `faucet/`, `admin/`, `guard/` |
//! | signals, the limit on open files | `signals.rs`, `open_files.rs` |
//! | the log | `telemetry.rs`, `log_queue.rs` |

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod admin;
mod commands;
mod config;
mod faucet;
mod guard;
mod log_queue;
mod open_files;
mod output;
mod signals;
mod telemetry;
mod wiring;

use clap::Parser as _;
use std::process::ExitCode;

/// A submission and its answer are hundreds of small pieces made on one thread and freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = commands::Cli::parse();
    let ended = signals::survive_file_size_limit()
        .map_err(|error| commands::Failure::fatal("installing a signal handler", &error))
        .and_then(|()| commands::execute(cli));
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
