//! The command line: one file or folder per command.

mod account;
mod bench;
mod config;
mod error;
mod run;
mod trust;

pub use error::Failure;

use crate::config::{Config, ConfigOptions};
use clap::{Parser, Subcommand};
use ledger_framework::new_chain;
use ledger_types::{ChainIdentity, Parameters};
use ledger_vm::Chain;

/// Version, commit and profile of the build. `build.rs` sets the last two.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("LEDGER_NODE_COMMIT"),
    ", ",
    env!("LEDGER_NODE_PROFILE"),
    ")"
);

/// A ledger node in one binary.
#[derive(Debug, Parser)]
#[command(name = "ledger-node", version = VERSION, args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(flatten)]
    config: ConfigOptions,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a node (the default)
    Run,
    /// Print the effective configuration, each value with where it comes from
    Config(config::Arguments),
    /// Make, fund and show accounts, and transfer between them
    #[command(subcommand)]
    Account(account::Command),
    /// Drive a node with signed transfers and report how fast they are committed
    Bench(bench::Arguments),
}

/// Returns a chain with this identity and default parameters.
///
/// A client does not know the parameters. Names and encodings depend on the identity only.
fn client_chain(identity: &ChainIdentity) -> Chain {
    new_chain(identity.id, identity.vendor.clone(), Parameters::default())
}

/// Does what the command line asks for.
///
/// # Errors
/// What stopped it; [`Failure::exit_code`] tells a configuration to correct from a fatal error.
pub fn execute(cli: Cli) -> Result<(), Failure> {
    let load = || Config::load(&cli.config, std::env::vars_os());
    match cli.command.unwrap_or(Command::Run) {
        Command::Run => run::execute(&load()?),
        Command::Config(arguments) => config::execute(&arguments, load),
        Command::Account(command) => account::execute(command),
        Command::Bench(arguments) => bench::execute(arguments),
    }
}
