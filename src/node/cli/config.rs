//! `config`: prints the effective configuration, or all settings.

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
///
/// Returns [`CliError::Configuration`] if it cannot be used, and [`CliError::Fatal`] if standard output
/// cannot be written.
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
