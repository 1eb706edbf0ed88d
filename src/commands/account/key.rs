//! Private keys on the command line and in key files.

use crate::{commands::Failure, signing};
use ledger::crypto::Ed25519PrivateKey;
use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// The largest file that is read as a key file, in bytes: a key in any form and some white space.
const KEY_FILE_BYTES_MAX: u64 = 4096;

/// Reads `--key`: a private key in hex, or the file that holds one.
///
/// # Errors
/// When it is neither; the text is not repeated, for it may be a mistyped secret.
pub fn read(key: &str) -> Result<Ed25519PrivateKey, Failure> {
    if let Some(key) = signing::parse_private_key(key) {
        return Ok(key);
    }
    let problem = |reason: &str| {
        Failure::Fatal(format!(
            "--key takes 64 hex digits or the name of a key file; {reason}"
        ))
    };
    let metadata = std::fs::metadata(key).map_err(|error| problem(&format!("the file: {error}")))?;
    if metadata.len() > KEY_FILE_BYTES_MAX {
        return Err(problem("the file is too large to hold a key"));
    }
    let text = std::fs::read_to_string(key).map_err(|error| problem(&format!("the file: {error}")))?;
    signing::parse_private_key(&text).ok_or_else(|| problem("the file does not hold a key"))
}

/// Writes a key file that only its owner can read. Never overwrites one.
///
/// # Errors
/// When the file exists or cannot be written.
pub fn write(path: &Path, key: &Ed25519PrivateKey) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{}", signing::private_key_text(key))?;
    file.sync_all()
}
