//! A damaged ledger must not end the process without a word about it.
//!
//! The database checks what it reads where it can, and panics where it relies on what it wrote itself: while a
//! directory is opened, and in whatever thread reads a damaged page later, as a file above
//! `storage.check_bytes_max` is not compared with its checksums at the start. A release build aborts at a panic,
//! so that there is nothing to catch; the hook that runs before is the place to say what the operator has to
//! know, and to end with the exit code that goes with it.

use crate::cli::Failure;
use std::{
    panic::{self, PanicHookInfo},
    path::Path,
    process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Exit code of a fatal error (docs/interface.md#rule-25).
const FATAL: i32 = 1;
/// What stands in the path of every source file of the database, and of none of ours. Nothing but the ledger is
/// kept in it.
const DATABASE: &str = "redb";

/// From now on a panic of the database, in whatever thread, ends the process with words about `directory`. Any
/// other panic is a broken invariant and goes on as it would have.
pub fn tell_of_damage(directory: &Path) {
    let before = panic::take_hook();
    let directory = directory.display().to_string();
    let is_told = AtomicBool::new(false);
    panic::set_hook(Box::new(move |info| {
        if !info
            .location()
            .is_some_and(|location| is_database(location.file()))
        {
            return before(info);
        }
        if !is_told.swap(true, Ordering::Relaxed) {
            Failure::Fatal(words(&directory, info)).report();
        }
        process::exit(FATAL);
    }));
}

fn is_database(source_file: &str) -> bool {
    source_file.contains(DATABASE)
}

fn words(directory: &str, info: &PanicHookInfo<'_>) -> String {
    let cause = info.payload_as_str().unwrap_or("it cannot be read");
    let current = thread::current();
    let thread = current.name().unwrap_or("unnamed");
    format!(
        "data directory: {directory} is damaged: {cause:?} (thread {thread}); restore the directory from a copy, or \
         name an empty one to start anew"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_database_says_is_taken_for_damage() {
        assert!(is_database(
            "/some/registry/redb-4.4.0/src/tree_store/btree.rs"
        ));
        for ours in [
            file!(),
            "src/store/shield.rs",
            "actors/committer/executor.rs",
        ] {
            assert!(!is_database(ours), "{ours}");
        }
    }
}
