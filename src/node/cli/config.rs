//! The command `config`: prints and checks the effective configuration, or prints all defaults or
//! the schema.

use super::{CliError, output};
use crate::{
    compose::check_config,
    config::{self, Config, ConfigOptions},
};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: ConfigOptions,
    /// Print every setting with its default, unit and reason instead; ignores the environment
    #[arg(long)]
    defaults: bool,
    /// Print the JSON Schema of a configuration file instead; ignores the environment
    #[arg(long, conflicts_with = "defaults")]
    schema: bool,
}

/// Prints the configuration, or what the options name instead. `before` are the options before the
/// name of the command.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be loaded or, after it is
/// printed, if no node starts with it. Returns [`CliError::Fatal`] if standard output cannot be
/// written.
pub fn execute(before: ConfigOptions, arguments: Arguments) -> Result<(), CliError> {
    let options = before.followed_by(arguments.options);
    if arguments.defaults {
        options.check_unused("config --defaults")?;
        return Ok(output::line(config::defaults().trim_end())?);
    }
    if arguments.schema {
        options.check_unused("config --schema")?;
        return Ok(output::line(&config::schema())?);
    }
    let config = Config::load(&options, std::env::vars_os())?;
    // First, because the printed origins show which layer has the value that is rejected.
    output::line(config.render().trim_end())?;
    check_config(&config)?;
    Ok(())
}
