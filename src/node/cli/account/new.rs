//! `account new`: creates a private key from random numbers of the system.

use super::{CliError, key};
use crate::cli::output;
use ledger_client::signer::{Signer, private_key_text};
use std::path::PathBuf;

/// The options of `account new`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// File to write the private key to instead of printing it; must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Creates a key, and prints its address with the key or with the name of its file.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the system provides no random numbers, or if the file exists or
/// cannot be written.
pub fn execute(arguments: &Arguments) -> Result<(), CliError> {
    let key = key::create()?;
    let address = Signer::new(key.clone()).address().to_long_hex();
    let secret = match &arguments.out {
        Some(path) => {
            key::write(path, &key).map_err(|error| CliError::fatal(path.display(), &error))?;
            format!("key file {}", path.display())
        }
        None => format!("private key {}", *private_key_text(&key)),
    };
    Ok(output::line(&format!("address {address}\n{secret}"))?)
}
