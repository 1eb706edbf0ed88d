//! `man`: writes the man pages.

use super::CliError;
use clap::{Args, Command};
use std::path::PathBuf;

/// The command line of `man`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of the pages, which exists
    directory: PathBuf,
}

/// Writes a page for each command of the command line `program`. Existing pages are replaced.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if a page cannot be written.
pub fn execute(arguments: &Arguments, program: Command) -> Result<(), CliError> {
    let directory = &arguments.directory;
    // The version of `--version` depends on the processor, and the pages are the same everywhere.
    let program = program.version(env!("CARGO_PKG_VERSION"));
    clap_mangen::generate_to(program, directory)
        .map_err(|error| CliError::fatal(format_args!("{}", directory.display()), &error))
}
