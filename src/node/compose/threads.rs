//! The number of threads of the listeners, and the limit of the system on threads, checked before
//! the listeners start theirs.

use ledger_http::WORKERS_MAX;
use std::{
    io,
    num::NonZero,
    sync::{Mutex, PoisonError},
    thread,
};

/// Name of the threads that [`check_thread_limit`] starts.
const THREAD: &str = "limit-check";

/// Returns the number of worker threads of a listener for a value of `api.workers`, from 1 to
/// [`WORKERS_MAX`].
///
/// 0 is one thread per core.
pub fn worker_threads(configured: usize) -> usize {
    worker_threads_on(configured, thread::available_parallelism().ok())
}

/// Returns [`worker_threads`] of a machine with `cores`, or of one whose number of cores is
/// unknown.
fn worker_threads_on(configured: usize, cores: Option<NonZero<usize>>) -> usize {
    let wanted = match configured {
        0 => cores.map_or(1, NonZero::get),
        threads => threads,
    };
    wanted.min(WORKERS_MAX)
}

/// Checks that the process can start `count` more threads, by starting them at the same time and
/// ending them.
///
/// actix-server panics if the system refuses a thread, and the process ends without an error
/// message. This check turns a limit on processes or threads into an error.
///
/// # Errors
///
/// Returns the error of the operating system for the first thread that it refuses.
pub fn check_thread_limit(count: usize) -> io::Result<()> {
    with_threads(count, || ())
}

/// Starts `count` threads, calls `while_all_exist`, and ends them.
///
/// # Errors
///
/// Returns the error of the operating system for the first thread that it refuses.
/// `while_all_exist` is not called then.
fn with_threads(count: usize, while_all_exist: impl FnOnce()) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // The threads wait for the gate, so that all of them exist before the first one ends.
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            let named = thread::Builder::new().name(THREAD.to_owned());
            named.spawn_scoped(scope, || {
                drop(gate.lock());
            })?;
        }
        while_all_exist();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_no_more_worker_threads_than_actix_server_allows() {
        let cores = NonZero::new;
        for (configured, cores, expected) in [
            (0, None, 1),
            (0, cores(2), 2),
            (0, cores(512), 512),
            (0, cores(1_000), 512),
            (1, cores(1_000), 1),
            (512, cores(2), 512),
        ] {
            assert_eq!(
                worker_threads_on(configured, cores),
                expected,
                "{configured}, {cores:?}"
            );
        }
    }

    #[test]
    fn ends_the_threads_that_it_started() {
        check_thread_limit(20).unwrap();
        check_thread_limit(0).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn has_all_threads_at_the_same_time() {
        use std::time::{Duration, Instant};

        const COUNT: usize = 40;
        /// Time for the threads to take their names.
        const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

        let existing = || {
            let process = procfs::process::Process::myself().unwrap();
            let threads = process.tasks().unwrap().flatten();
            // A thread may end while it is read.
            let names = threads.filter_map(|thread| thread.stat().ok().map(|stat| stat.comm));
            names.filter(|name| name == THREAD).count()
        };
        with_threads(COUNT, || {
            let deadline = Instant::now() + WAIT_TIMEOUT;
            // Tests beside this one may start such threads too.
            while existing() < COUNT {
                assert!(
                    Instant::now() < deadline,
                    "{} of {COUNT} threads",
                    existing()
                );
                thread::yield_now();
            }
        })
        .unwrap();
    }
}
