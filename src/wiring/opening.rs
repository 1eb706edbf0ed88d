//! A damaged file must not end the process by a panic while the data directory is opened.
//!
//! The database checks what it reads where it can, and panics where it relies on what it wrote itself. A
//! release build aborts at a panic, so that there is nothing to catch; the hook that runs before is the
//! place to say what the operator has to know, and to end with the exit code that goes with it.

use crate::commands::Failure;
use std::{panic, path::Path, process};

/// Exit code of a fatal error (design section 6).
const FATAL: i32 = 1;

/// Runs `open`; a panic in it ends the process with words about `directory`.
pub(super) fn guarded<T>(directory: &Path, open: impl FnOnce() -> T) -> T {
    let before = panic::take_hook();
    let directory = directory.display().to_string();
    panic::set_hook(Box::new(move |info| {
        let cause = info.payload_as_str().unwrap_or("it cannot be read");
        Failure::Fatal(format!(
            "data directory: {directory} is damaged: {cause:?}; restore the directory from a copy, or name an \
             empty one to start anew"
        ))
        .report();
        process::exit(FATAL);
    }));
    let opened = open();
    panic::set_hook(before);
    opened
}
