//! Private keys of the commands: never among the arguments, which every user of the machine can list.

use super::terminal::HiddenTerminal;
use crate::{
    access::{SecretFileError, read_secret, read_secret_file},
    cli::CliError,
};
use ledger_client::signer;
use ledger_crypto::Ed25519PrivateKey;
use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};
use zeroize::Zeroizing;

/// Stands for standard input.
const STDIN: &str = "-";

/// Reads `--key`: the name of a file that holds a private key and that nobody else can read, or `-`.
///
/// If standard input is a terminal, the key is one line that the terminal does not echo.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if there is no key. The message does not repeat what was given, because it may
/// be a secret in the wrong place.
pub fn read(source: &str) -> Result<Ed25519PrivateKey, CliError> {
    let problem = |reason: &str| {
        CliError::Fatal(format!(
            "--key takes the name of a key file, or {STDIN} for standard input; {reason}"
        ))
    };
    if signer::parse_private_key(source).is_some() {
        return Err(problem(
            "as an argument every user of this machine can see the key, and the shell may have saved it",
        ));
    }
    let text = if source == STDIN {
        read_standard_input()
    } else {
        read_secret_file(Path::new(source))
    };
    let text = text
        .map_err(|error: SecretFileError| problem(&format!("the key cannot be read: {error}")))?;
    signer::parse_private_key(&text).ok_or_else(|| problem("it is to hold a key of 64 hex digits"))
}

fn read_standard_input() -> Result<Zeroizing<String>, SecretFileError> {
    match HiddenTerminal::hide()? {
        Some(terminal) => read_secret(terminal.line("private key: ")?),
        None => read_secret(io::stdin().lock()),
    }
}

/// Writes a key file that only its owner can read, from its first byte on. Never overwrites one.
///
/// # Errors
/// When the file exists or cannot be written.
pub fn write(path: &Path, key: &Ed25519PrivateKey) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{}", *signer::private_key_text(key))?;
    file.sync_all()
}
