//! File descriptors that the connections of a run need.

use crate::{commands::Failure, open_files::raise_limit};

/// Descriptors of a run beside those of its connections: standard streams, the connection of the meter, and
/// whatever the parent left open.
const OTHER_DESCRIPTORS: u64 = 64;
/// Descriptors of the runtime of a thread.
const DESCRIPTORS_PER_THREAD: u64 = 8;

/// Raises the soft limit on open files to what the connections need.
///
/// # Errors
///
/// Returns [`Failure::Fatal`] if the limit stays below that.
pub fn allow_connections(connections: usize, threads: usize) -> Result<(), Failure> {
    let of_threads = DESCRIPTORS_PER_THREAD.saturating_mul(threads as u64);
    let needed = (connections as u64)
        .saturating_add(of_threads)
        .saturating_add(OTHER_DESCRIPTORS);
    let allowed = raise_limit(needed);
    if allowed < needed {
        return Err(Failure::Fatal(format!(
            "--connections {connections} take {needed} file descriptors, and this process may have {allowed}: raise \
             the hard limit (ulimit -Hn), or use fewer connections"
        )));
    }
    Ok(())
}
