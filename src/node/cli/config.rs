//! `config`: what the node would run with, or everything that can be set.

use super::{CliError, output};
use crate::config::{self, Config, ConfigError};

/// The options of `config`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print every setting with its default, unit and reason instead; ignores the environment
    #[arg(long)]
    defaults: bool,
}

/// Prints the configuration.
///
/// # Errors
/// When it cannot be used.
pub fn execute(
    arguments: &Arguments,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<(), CliError> {
    let text = if arguments.defaults {
        config::defaults()
    } else {
        load()?.render()
    };
    Ok(output::line(text.trim_end())?)
}
