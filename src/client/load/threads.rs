//! The threads of a run.
//!
//! Each thread drives its connections alone. No message passes between threads during the load, so
//! that a generator on the node's machine leaves the node the processor.

use super::{account::SendingAccount, error::LoadError, run::Run, tally::Tally, worker::Worker};
use std::{
    cell::RefCell,
    io,
    rc::Rc,
    sync::Arc,
    thread::{self, JoinHandle},
};
use tokio::{runtime, task::LocalSet};

/// File descriptors of a run besides its connections: standard streams, the connection of the
/// meter, and those that the process inherited.
const OTHER_DESCRIPTORS: u64 = 64;

/// File descriptors of the runtime of a thread.
const DESCRIPTORS_PER_THREAD: u64 = 8;

/// Returns the number of file descriptors that a run needs.
pub fn required_descriptors(connections: usize, threads: usize) -> u64 {
    let of_threads = DESCRIPTORS_PER_THREAD.saturating_mul(threads as u64);
    (connections as u64)
        .saturating_add(of_threads)
        .saturating_add(OTHER_DESCRIPTORS)
}

/// The accounts of one connection.
struct Share {
    /// Index of the connection in the run.
    connection: usize,
    accounts: Vec<SendingAccount>,
}

/// The running threads of a run.
#[derive(Debug)]
pub struct LoadThreads(Vec<JoinHandle<io::Result<Tally>>>);

impl LoadThreads {
    /// Starts the threads of a run, which open a connection for each element of
    /// `accounts_by_connection`.
    ///
    /// # Errors
    ///
    /// Returns [`LoadError::Io`] if a thread cannot be started. Threads that were started send
    /// until the run is over.
    pub fn start(
        run: &Arc<Run>,
        accounts_by_connection: Vec<Vec<SendingAccount>>,
    ) -> Result<Self, LoadError> {
        let threads = run.plan().threads;
        let mut by_thread: Vec<Vec<Share>> = (0..threads).map(|_| Vec::new()).collect();
        for (connection, accounts) in accounts_by_connection.into_iter().enumerate() {
            by_thread[connection % threads].push(Share {
                connection,
                accounts,
            });
        }
        let started = by_thread.into_iter().map(|shares| {
            let run = Arc::clone(run);
            thread::Builder::new()
                .name("load".to_owned())
                .spawn(move || drive(&run, shares))
        });
        Ok(Self(started.collect::<io::Result<_>>()?))
    }

    /// Waits for all threads, and returns the sum of their tallies.
    ///
    /// # Errors
    ///
    /// Returns [`LoadError::ThreadPanicked`] if a thread panicked, and [`LoadError::Io`] if one
    /// could not create its runtime.
    pub fn join(self) -> Result<Tally, LoadError> {
        let mut sum = Tally::default();
        for thread in self.0 {
            let tally = thread.join().map_err(|_| LoadError::ThreadPanicked)?;
            sum.merge(tally?);
        }
        Ok(sum)
    }
}

/// Drives the connections of one thread until the run is over and drained.
fn drive(run: &Arc<Run>, shares: Vec<Share>) -> io::Result<Tally> {
    let _sending = run.sending_guard();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connections = LocalSet::new();
    let tally = Rc::new(RefCell::new(Tally::default()));
    for share in shares {
        let worker = Worker::new(
            Arc::clone(run),
            Rc::clone(&tally),
            share.connection,
            share.accounts,
        );
        connections.spawn_local(worker.run());
    }
    let all = async {
        tokio::select! {
            () = connections => {}
            // Requests without a response are dropped. The tally counts them as unanswered.
            () = run.wait_drain_over() => {}
        }
    };
    runtime.block_on(all);
    Ok(tally.take())
}
