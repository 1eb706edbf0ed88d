//! The threads of a run. Each drives its share of the connections alone, so that nothing is handed from one
//! thread to another while the load is on: a generator beside its node must leave it the processor.

use super::{funding::BenchAccount, run::Load, tally::Tally, worker::Worker};
use crate::commands::Failure;
use std::{
    cell::RefCell,
    io,
    rc::Rc,
    sync::Arc,
    thread::{self, JoinHandle},
};
use tokio::{runtime, task::LocalSet};

/// A connection of the run: its number and the accounts that only it uses.
type Share = (usize, Vec<BenchAccount>);

/// The threads under way.
#[derive(Debug)]
pub struct Driver(Vec<JoinHandle<io::Result<Tally>>>);

impl Driver {
    /// Starts a run: a connection for each of the shares.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(load: &Arc<Load>, shares: Vec<Vec<BenchAccount>>) -> Result<Self, Failure> {
        let threads = load.plan.threads;
        let mut of_threads: Vec<Vec<Share>> = (0..threads).map(|_| Vec::new()).collect();
        for (index, accounts) in shares.into_iter().enumerate() {
            of_threads[index % threads].push((index, accounts));
        }
        let started = of_threads.into_iter().map(|shares| {
            let load = Arc::clone(load);
            thread::Builder::new()
                .name("load".to_owned())
                .spawn(move || drive(&load, shares))
        });
        Ok(Self(started.collect::<io::Result<_>>()?))
    }

    /// Waits for all threads, and adds up what they measured.
    ///
    /// # Errors
    /// When a thread could not drive its connections.
    pub fn join(self) -> Result<Tally, Failure> {
        let mut sum = Tally::default();
        for thread in self.0 {
            let tally = thread
                .join()
                .map_err(|_| Failure::Fatal("a thread of the load panicked".to_owned()))?;
            sum.merge(tally?);
        }
        Ok(sum)
    }
}

fn drive(load: &Arc<Load>, shares: Vec<Share>) -> io::Result<Tally> {
    let _sending = load.sending();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connections = LocalSet::new();
    let tally = Rc::new(RefCell::new(Tally::default()));
    for (index, accounts) in shares {
        let worker = Worker::new(Arc::clone(load), Rc::clone(&tally), index, accounts);
        connections.spawn_local(worker.run());
    }
    let all = async {
        tokio::select! {
            () = connections => {}
            // Requests without an answer are dropped; the tally counts them.
            () = load.answers_are_due() => {}
        }
    };
    runtime.block_on(all);
    Ok(tally.take())
}
