//! A panic hook that reports a damaged ledger.
//!
//! redb validates most of the data that it reads, and panics if its own data structures are
//! damaged. This can happen while a directory is opened. It can also happen later, in any thread
//! that reads a damaged page, because the checksums of a file larger than `storage.check_bytes_max`
//! are not verified at the start. A release build aborts on a panic, so nothing can catch it. The
//! hook runs before that: it names the damaged directory and ends the process with the exit code of
//! a fatal error.
//!
//! After any panic, the hook writes the recording of the newest blocks.

use super::final_flight::FinalFlight;
use crate::telemetry;
use std::{
    panic::{self, PanicHookInfo},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Part of the path of every source file of the database, and of no source file of the node.
const DATABASE: &str = "redb";

/// Installs a panic hook that calls `exit` after a panic of the database, with a message that names
/// the `location` of the ledger.
///
/// A second such panic blocks its thread until the process ends. Any other panic is a broken
/// invariant and is passed to the hook that was installed before. In either case `flight` writes
/// the recording of the newest blocks.
pub fn install_panic_hook(location: String, flight: FinalFlight, exit: fn(String) -> !) {
    let before = panic::take_hook();
    let is_reported = AtomicBool::new(false);
    panic::set_hook(Box::new(move |info| {
        if !info
            .location()
            .is_some_and(|location| is_database(location.file()))
        {
            // First, because the file may take some time.
            before(info);
            flight.write(&format!("panic: {info}"));
            // A release build aborts when the hook returns.
            return telemetry::flush();
        }
        if is_reported.swap(true, Ordering::Relaxed) {
            loop {
                thread::park();
            }
        }
        let message = damage_message(&location, info);
        flight.write(&message);
        exit(message)
    }));
}

fn is_database(source_file: &str) -> bool {
    source_file.contains(DATABASE)
}

fn damage_message(directory: &str, info: &PanicHookInfo<'_>) -> String {
    let cause = info.payload_as_str().unwrap_or("it cannot be read");
    let current = thread::current();
    let thread = current.name().unwrap_or("unnamed");
    format!(
        "data directory: {directory} is damaged: {cause:?} (thread {thread}); restore the directory from a copy, or \
         start a new ledger in an empty one"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_only_panics_of_the_database_to_damage() {
        assert!(is_database(
            "/some/registry/redb-4.4.0/src/tree_store/btree.rs"
        ));
        for own in [
            file!(),
            "src/store/io/fault_isolation.rs",
            "actors/committer/executor.rs",
        ] {
            assert!(!is_database(own), "{own}");
        }
    }
}
