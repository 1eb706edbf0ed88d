//! `genesis`: the genesis file of a chain.

mod new;

use super::{CliError, output};
use crate::genesis::{describe_accounts, describe_chain, read_genesis};
use clap::Subcommand;
use ledger_types::Genesis;
use std::path::{Path, PathBuf};

/// The subcommands of `genesis`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the genesis file of a new chain, with keys for its first accounts
    New(new::Arguments),
    /// Name the faults of a genesis file, each with its line and what to do
    ///
    /// Ends with exit code 1 if there is one.
    Check {
        /// The genesis file
        file: PathBuf,
    },
    /// Print the chain of a genesis file in words, with its accounts
    Show {
        /// The genesis file
        file: PathBuf,
    },
}

/// Runs the subcommand.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if a file cannot be read or written, or cannot start a chain.
pub fn execute(command: &Command) -> Result<(), CliError> {
    match command {
        Command::New(arguments) => new::execute(arguments),
        Command::Check { file } => {
            let genesis = read(file)?;
            let words = describe_chain(&genesis)?;
            Ok(output::line(&format!(
                "{} starts this chain:\n{words}",
                file.display()
            ))?)
        }
        Command::Show { file } => {
            let genesis = read(file)?;
            let words = describe_chain(&genesis)? + &describe_accounts(&genesis);
            Ok(output::line(&words)?)
        }
    }
}

/// Reads a genesis file.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] with one line for each fault.
fn read(file: &Path) -> Result<Genesis, CliError> {
    let name = file.display();
    read_genesis(file).map_err(|error| {
        let faults = error.faults().into_iter();
        let lines = faults.map(|fault| format!("{name}: {fault}"));
        CliError::Fatal(lines.collect::<Vec<_>>().join("\n"))
    })
}
