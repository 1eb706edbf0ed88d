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

/// Writes a line about the progress of a command to standard error.
pub fn progress(text: &str) {
    // A closed standard error has no reader.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes a line of the log of another process to standard error, behind its name.
#[cfg(feature = "bft")]
pub fn log_line(name: &str, line: &str) {
    // A closed standard error has no reader.
    let _ = writeln!(io::stderr(), "{name} {line}");
}
