//! `completions`: prints the completions of a shell.

use super::{CliError, output};
use clap::{Args, Command};
use clap_complete::{Shell, generate};

/// The command line of `completions`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Shell that reads the completions
    shell: Shell,
}

/// Prints the completions of the command line `program`.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if standard output cannot be written.
pub fn execute(arguments: &Arguments, mut program: Command) -> Result<(), CliError> {
    let mut script = Vec::new();
    let name = program.get_name().to_owned();
    generate(arguments.shell, &mut program, name, &mut script);
    let script = String::from_utf8_lossy(&script);
    Ok(output::line(script.trim_end())?)
}
