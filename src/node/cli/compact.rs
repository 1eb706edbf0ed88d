//! The command `compact`: returns the free pages of the database to the file system.

use super::{CliError, output};
use crate::{
    compose::check_settings,
    config::{Config, ConfigError, ConfigOptions},
    long_step::LongStep,
};
use ledger_store::{FileSize, Store};

/// Compacts the database of the configured data directory, and prints its size before and after.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be loaded or contradicts itself.
/// Returns [`CliError::Fatal`] if a node uses the directory, if it has no ledger, or if a file
/// cannot be read or written. The ledger is complete then.
pub fn execute(options: &ConfigOptions) -> Result<(), CliError> {
    let config = Config::load(options, std::env::vars_os())?;
    let settings = config.settings();
    check_settings(settings)?;
    let Some(directory) = settings.storage.directory() else {
        let message = "storage.in_memory = true: only a ledger in a directory is compacted";
        return Err(ConfigError::Contradiction(message.to_owned()).into());
    };
    let reported = directory.to_owned();
    let step = LongStep::begin(move |elapsed| {
        let bytes = FileSize::of(&reported).map_or(0, |size| size.disk_bytes);
        let secs = elapsed.as_secs();
        output::progress(&format!(
            "compacting for {secs} s; the database takes {bytes} bytes of the disk now"
        ));
    });
    let sizes = Store::compact(directory, &settings.store).map_err(|error| {
        CliError::fatal("the database of storage.data_dir is not compacted", &error)
    })?;
    drop(step);
    let [before, after] = [sizes.before, sizes.after].map(|size| size.disk_bytes);
    Ok(output::line(&format!(
        "compacted {}: the database took {before} bytes of the disk, and takes {after}",
        directory.display()
    ))?)
}
