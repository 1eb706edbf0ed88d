//! Standard output: what the commands say to their user. Logs go to standard error instead.

use std::io::{self, ErrorKind, Write as _};

/// Writes a line to standard output, at once.
///
/// # Errors
/// When it cannot be written; a reader that went away is none, as for `ledger-node config | head`.
pub fn line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
