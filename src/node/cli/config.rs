//! The command `config`: prints the effective configuration, all defaults, or the schema.

use super::{CliError, output};
use crate::config::{self, Config, ConfigError};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print every setting with its default, unit and reason instead; ignores the environment
    #[arg(long)]
    defaults: bool,
    /// Print the JSON Schema of a configuration file instead; ignores the environment
    #[arg(long, conflicts_with = "defaults")]
    schema: bool,
}

/// Prints the configuration, or what the options name instead.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be loaded, and
/// [`CliError::Fatal`] if standard output cannot be written.
pub fn execute(
    arguments: &Arguments,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<(), CliError> {
    let text = if arguments.defaults {
        config::defaults()
    } else if arguments.schema {
        config::schema()
    } else {
        load()?.render()
    };
    Ok(output::line(text.trim_end())?)
}
