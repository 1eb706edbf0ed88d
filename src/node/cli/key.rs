//! Private keys of the commands.
//!
//! A key is never an argument, because every user of the machine can list those of a process.

use super::terminal::HiddenTerminal;
use crate::{
    access::{SecretFileError, read_secret, read_secret_file},
    cli::CliError,
};
use ledger_client::signer;
use ledger_crypto::Ed25519PrivateKey;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};
use zeroize::Zeroizing;

/// The value of `--key` for standard input.
const STDIN: &str = "-";

/// Reads the private key that `--key` names.
///
/// `source` is `-` for standard input, or the name of a file that only its owner can read. If
/// standard input is a terminal, the key is one line that the terminal does not echo.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if there is no key. The message does not repeat `source` or the
/// content of the file, because either may be a secret.
pub fn read(source: &str) -> Result<Ed25519PrivateKey, CliError> {
    let problem = |reason: &str| {
        CliError::Fatal(format!(
            "--key takes the name of a key file, or {STDIN} for standard input; {reason}"
        ))
    };
    if signer::parse_private_key(source).is_some() {
        return Err(problem(
            "every user of this machine can see arguments, and the shell may have saved them",
        ));
    }
    let text = if source == STDIN {
        read_standard_input()
    } else {
        // May be a pipe: the shell makes one for `--key <(..)`.
        File::open(source)
            .map_err(SecretFileError::from)
            .and_then(read_secret_file)
    };
    let text = text
        .map_err(|error: SecretFileError| problem(&format!("the key cannot be read: {error}")))?;
    signer::parse_private_key(&text)
        .ok_or_else(|| problem("expected a private key of 64 hex digits"))
}

/// Reads a secret from standard input, with a prompt and without an echo if it is a terminal.
fn read_standard_input() -> Result<Zeroizing<String>, SecretFileError> {
    match HiddenTerminal::hide()? {
        Some(terminal) => read_secret(terminal.line("private key: ")?),
        None => read_secret(io::stdin().lock()),
    }
}

/// Creates a key from random numbers of the system.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the system provides none.
pub fn create() -> Result<Ed25519PrivateKey, CliError> {
    let mut seed = Zeroizing::new([0u8; 32]);
    getrandom::fill(seed.as_mut_slice()).map_err(|error| {
        CliError::Fatal(format!(
            "the operating system returned no random bytes: {error}"
        ))
    })?;
    Ok(Ed25519PrivateKey::from_seed(&seed))
}

/// Creates a key file that only its owner can read, and syncs it.
///
/// # Errors
///
/// Returns an error of the kind `AlreadyExists` if the file exists, and otherwise the error of the
/// system. A file that could not be written completely is not deleted.
pub fn write(path: &Path, key: &Ed25519PrivateKey) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{}", *signer::private_key_text(key))?;
    file.sync_all()
}
