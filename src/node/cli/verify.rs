//! The command `verify`: checks the ledger of a stopped node.

use super::{CliError, output};
use crate::{
    compose::check_settings,
    config::{Config, ConfigError, ConfigOptions},
    long_step::LongStep,
    verify::{Progress, VerifyOptions, verify},
};
use std::{sync::Arc, time::Instant};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The directory of the ledger [default: storage.data_dir]
    #[arg(value_name = "DIR", conflicts_with = "data_dir")]
    directory: Option<String>,
    /// Check the signatures of all transactions again
    #[arg(long)]
    signatures: bool,
    #[command(flatten)]
    options: ConfigOptions,
}

/// Verifies the ledger of the named or configured data directory, and prints the result. `before`
/// are the options before the name of the command.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be loaded or contradicts itself.
/// Returns [`CliError::Fatal`] with the first mismatch, or if a node uses the directory, if it has
/// no ledger, or if a file cannot be read.
pub fn execute(before: ConfigOptions, arguments: Arguments) -> Result<(), CliError> {
    let mut options = before.followed_by(arguments.options);
    options.data_dir = arguments.directory.or(options.data_dir);
    let config = Config::load(&options, std::env::vars_os())?;
    let settings = config.settings();
    check_settings(settings)?;
    let Some(directory) = settings.storage.directory() else {
        let message = "storage.in_memory = true: only a ledger in a directory is verified";
        return Err(ConfigError::Contradiction(message.to_owned()).into());
    };
    let begun = Instant::now();
    let progress = Arc::new(Progress::default());
    let reported = Arc::clone(&progress);
    let step = LongStep::begin(move |elapsed| {
        let (secs, done) = (elapsed.as_secs(), reported.words());
        output::progress(&format!("verifying for {secs} s: {done}"));
    });
    let options = VerifyOptions {
        store: &settings.store,
        checks_signatures: arguments.signatures,
    };
    let verified = verify(directory, options, &progress);
    drop(step);
    let name = directory.display();
    let verified = verified
        .map_err(|error| CliError::fatal(format_args!("{name} is not verified"), &error))?;
    let (first, last) = verified.versions;
    let (lowest, highest) = verified.heights;
    output::line(&format!(
        "verified {name}: chain {}, versions {first} to {last} in blocks {lowest} to {highest}, of \
         which {} were executed again; {} bytes of pages; {:.1} s",
        verified.chain,
        verified.executed_blocks,
        progress.page_bytes(),
        begun.elapsed().as_secs_f64()
    ))?;
    for fact in &verified.unchecked {
        output::line(&format!("not checked: {fact}"))?;
    }
    Ok(())
}
