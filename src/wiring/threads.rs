//! The limit on threads, checked before the listeners start theirs.

use std::{
    io,
    sync::{Mutex, PoisonError},
    thread,
};

/// Checks that the process can start `count` more threads, by starting them at the same time and ending them.
///
/// actix-server panics if the system refuses a thread, and the process ends without an error message. This check
/// turns a limit on processes or threads into an error.
///
/// # Errors
///
/// Returns the error of the system for the first thread that it refuses.
pub fn check_thread_limit(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // The threads wait for the gate, so that all of them exist before the first one ends.
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            thread::Builder::new().spawn_scoped(scope, || {
                drop(gate.lock());
            })?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_the_threads_that_it_started() {
        check_thread_limit(20).unwrap();
        check_thread_limit(0).unwrap();
    }
}
