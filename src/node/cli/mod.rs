//! The command line: one file or folder per command.

mod account;
mod bench;
mod client;
mod cluster;
mod compact;
mod completions;
mod config;
mod error;
mod genesis;
mod health;
mod key;
mod man;
mod output;
mod run;
mod target;
mod terminal;
mod top;
mod trust;
mod verify;

pub use error::CliError;

use crate::{config::ConfigOptions, version::VERSION};
use clap::{CommandFactory as _, Parser, Subcommand};

/// A ledger node in one binary.
#[derive(Debug, Parser)]
#[command(name = "ledger-node", version = VERSION.as_str(), args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(flatten)]
    config: ConfigOptions,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a node (the default)
    Run(run::Arguments),
    /// Print the effective configuration with the origin of each value
    Config(config::Arguments),
    /// Write, check and describe the genesis file of a chain of your own
    #[command(subcommand)]
    Genesis(genesis::Command),
    /// Return the free pages of the database to the file system, while no node runs
    Compact(ConfigOptions),
    /// Check that the ledger of a stopped node is complete and consistent, and execute it again
    Verify(verify::Arguments),
    /// Create, fund and show accounts, and transfer coins
    #[command(subcommand)]
    Account(account::Command),
    /// Send signed transfers to a node and report throughput and latency
    Bench(bench::Arguments),
    /// Ask a node whether it is ready for requests of clients
    Health(health::Arguments),
    /// Show the stages of a node in the terminal, and the one that limits its throughput
    Top(top::Arguments),
    /// Create and run the validators of a chain
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Print the completions of a shell
    Completions(completions::Arguments),
    /// Write the man pages
    Man(man::Arguments),
}

/// Executes the command.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be used, and [`CliError::Fatal`]
/// for any other error of the command.
pub fn execute(cli: Cli) -> Result<(), CliError> {
    let before = cli.config;
    match cli.command {
        None => run::execute(before, run::Arguments::default()),
        Some(Command::Run(arguments)) => run::execute(before, arguments),
        Some(Command::Config(arguments)) => config::execute(before, arguments),
        Some(Command::Genesis(command)) => {
            before.check_unused("genesis")?;
            genesis::execute(&command)
        }
        Some(Command::Compact(options)) => compact::execute(&before.followed_by(options)),
        Some(Command::Verify(arguments)) => verify::execute(before, arguments),
        Some(Command::Account(command)) => {
            before.check_unused("account")?;
            account::execute(command)
        }
        Some(Command::Bench(arguments)) => {
            before.check_unused("bench")?;
            bench::execute(arguments)
        }
        Some(Command::Health(arguments)) => {
            before.check_unused("health")?;
            health::execute(&arguments)
        }
        Some(Command::Top(arguments)) => {
            before.check_unused("top")?;
            top::execute(&arguments)
        }
        Some(Command::Cluster(command)) => {
            before.check_unused("cluster")?;
            cluster::execute(command)
        }
        Some(Command::Completions(arguments)) => {
            before.check_unused("completions")?;
            completions::execute(&arguments, Cli::command())
        }
        Some(Command::Man(arguments)) => {
            before.check_unused("man")?;
            man::execute(&arguments, Cli::command())
        }
    }
}
