//! The command `compact`: returns the free pages of the database to the file system.

use super::{CliError, output};
use crate::config::Settings;
use ledger_store::Store;

/// Compacts the database of the configured data directory, and prints its size before and after.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if a node uses the directory, if it has no ledger, or if a file
/// cannot be read or written. The ledger is complete then.
pub fn execute(settings: &Settings) -> Result<(), CliError> {
    let directory = &settings.storage.data_dir;
    let sizes = Store::compact(directory, &settings.store)
        .map_err(|error| CliError::fatal("the database is not compacted", &error))?;
    let [before, after] = [sizes.before, sizes.after].map(|size| size.disk_bytes);
    Ok(output::line(&format!(
        "compacted {}: the database took {before} bytes of the disk, and takes {after}",
        directory.display()
    ))?)
}
