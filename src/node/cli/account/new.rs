//! `account new`: a key from the system's randomness.

use super::{CliError, key};
use crate::cli::output;
use ledger_client::signer::{Signer, private_key_text};
use ledger_crypto::Ed25519PrivateKey;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The options of `account new`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Save the private key to this file, which must not exist, instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Makes a key.
///
/// # Errors
/// When the system has no randomness or the file cannot be written.
pub fn execute(arguments: &Arguments) -> Result<(), CliError> {
    let mut seed = Zeroizing::new([0u8; 32]);
    getrandom::fill(seed.as_mut_slice())
        .map_err(|error| CliError::Fatal(format!("no randomness from the system: {error}")))?;
    let key = Ed25519PrivateKey::from_seed(&seed);
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
