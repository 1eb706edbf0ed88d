//! `ledger-node`: a ledger node in one binary, with a small client and a load generator.
//!
//! | folder or file | content |
//! |---|---|
//! | `cli/` | commands, exit codes |
//! | `config/` | table of settings, layers of the configuration |
//! | `genesis/` | the genesis file: reader, writer, description |
//! | `compose/` | composition root: start, service, reload and stop of a node |
//! | `consensus/` | the directory and the engine of a validator (feature `bft`) |
//! | `observe/` | snapshots of all actors, threads and queues; the stage that limits throughput |
//! | `admin/`, `faucet/` | the listeners beside the REST interface |
//! | `console/` | the pages of the admin listener |
//! | `access/` | access control of these listeners, secret files |
//! | `telemetry/` | the log |
//! | `tunable/` | run-time settings |
//! | `verify/` | verification of a stored ledger |
//! | `signals.rs`, `open_files.rs`, `version.rs` | signals, limit on open files, version |
//! | `long_step.rs` | reports of steps that take long |
//! | `replaced_file.rs` | files that are replaced as a whole |
//! | `service_manager.rs` | notifications to systemd, and its watchdog |

// Input of clients must not end the process. A panic states the invariant that is broken.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod access;
mod admin;
mod cli;
mod compose;
mod config;
mod consensus;
mod console;
mod faucet;
mod genesis;
mod long_step;
mod observe;
mod open_files;
mod replaced_file;
mod service_manager;
mod signals;
mod telemetry;
mod tunable;
mod verify;
mod version;

use clap::Parser as _;
use std::process::ExitCode;

/// A submission and its response allocate hundreds of small objects on one thread that another one
/// frees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let result = signals::survive_file_size_limit()
        .map_err(|error| cli::CliError::fatal("installing a signal handler", &error))
        .and_then(|()| cli::execute(cli));
    match result {
        Ok(()) => {
            telemetry::flush();
            ExitCode::SUCCESS
        }
        Err(error) => {
            error.report();
            error.exit_code()
        }
    }
}
