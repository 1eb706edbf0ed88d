//! Standard output: the results of commands. The log is on standard error.

use std::io::{self, ErrorKind, Write as _};

/// Writes a line to standard output and flushes it.
///
/// # Errors
///
/// Returns the error of the write. A broken pipe is not an error, as in
/// `ledger-node config | head`.
pub fn line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
