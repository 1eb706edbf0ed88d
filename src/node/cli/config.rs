//! The command `config`: prints and checks the effective configuration, or prints all defaults, the
//! schema or a preset.

use super::{CliError, output};
use crate::{
    compose::{StartCheck, check_config, check_start},
    config::{self, Config, ConfigOptions, Preset},
};

/// The options of the command.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(flatten)]
    options: ConfigOptions,
    /// Print every setting with its default, unit and reason instead; ignores the environment
    #[arg(long)]
    defaults: bool,
    /// Check what a start checks instead, without starting or writing: settings, files, genesis,
    /// addresses, limits of the process and the ledger. Prints the chain, and all errors
    #[arg(long, conflicts_with_all = ["defaults", "schema"])]
    check: bool,
    /// Print the JSON Schema of a configuration file instead; ignores the environment
    #[arg(long, conflicts_with = "defaults")]
    schema: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the presets, or print one
    Presets {
        /// The preset to print
        #[arg(value_name = "NAME", value_parser = Preset::parser())]
        preset: Option<Preset>,
    },
}

/// Prints the configuration, or what the arguments name instead. `before` are the options before the
/// name of the command.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be loaded or, after it is
/// printed, if no node starts with it, and [`CliError::Several`] with all errors that a start would
/// find. Returns [`CliError::Fatal`] if standard output cannot be
/// written.
pub fn execute(before: ConfigOptions, arguments: Arguments) -> Result<(), CliError> {
    let options = before.followed_by(arguments.options);
    if let Some(Command::Presets { preset }) = arguments.command {
        options.check_unused("config presets")?;
        return Ok(output::line(&presets_text(preset))?);
    }
    if arguments.defaults {
        options.check_unused("config --defaults")?;
        return Ok(output::line(config::defaults().trim_end())?);
    }
    if arguments.schema {
        options.check_unused("config --schema")?;
        return Ok(output::line(&config::schema())?);
    }
    let config = Config::load(&options, std::env::vars_os())?;
    if arguments.check {
        let StartCheck { lines, errors } = check_start(&config);
        for line in &lines {
            output::line(line)?;
        }
        return match errors.is_empty() {
            true => Ok(output::line("a start finds no error")?),
            false => Err(CliError::Several(errors)),
        };
    }
    // First, because the printed origins show which layer has the value that is rejected.
    output::line(config.render().trim_end())?;
    check_config(&config)?;
    Ok(())
}

/// Returns the text of a preset, or the names of all with a sentence each.
fn presets_text(preset: Option<Preset>) -> String {
    if let Some(preset) = preset {
        return preset.text.trim_end().to_owned();
    }
    let lines = Preset::ALL.map(|preset| format!("{:<13}  {}", preset.name, preset.about()));
    lines.join("\n")
}
