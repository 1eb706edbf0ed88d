//! The threads that check signatures.

use super::{
    queues::{Job, Work},
    scheduler::{Batch, Lane, LaneScheduler},
};
use crate::runtime::fatal::FatalErrorReporter;
use crossbeam_channel::{Receiver, select};
use ledger_crypto::DecodedKeys;
use ledger_types::CheckedTransaction;
use ledger_vm::Chain;
use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

/// The threads' name; the kernel shows 15 characters of it.
const THREAD: &str = "signature-check";

/// How a thread learns that it is to end.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Disconnected from then on, which wakes a thread that waits.
    pub(super) shutdown: Receiver<Infallible>,
    /// True from then on.
    pub(super) stopped: Arc<AtomicBool>,
}

/// Starts a thread. When it is to end, it does so after the batch that it is at; whoever waits then is
/// told that the node is stopping.
pub(super) fn spawn(
    (chain, work, end): (Chain, Work, End),
    nice: u8,
    failure: &FatalErrorReporter,
) -> io::Result<JoinHandle<()>> {
    let mut thread = Checker {
        chain,
        work,
        end,
        scheduler: LaneScheduler::default(),
        keys: DecodedKeys::default(),
    };
    failure.spawn(THREAD, move || {
        if let Err(error) = stand_back(nice) {
            tracing::warn!(%error, "signatures are checked with the priority of all other threads");
        }
        while let Some(batch) = thread.next() {
            thread.check(batch);
        }
    })
}

/// Gives this thread a nice value, unless it has a higher one, which only a privileged process may lower.
#[cfg(target_os = "linux")]
fn stand_back(nice: u8) -> io::Result<()> {
    use rustix::process::{getpriority_process, setpriority_process};
    // Of the calling thread: Linux has a nice value for each.
    let nice = getpriority_process(None)?.max(i32::from(nice));
    setpriority_process(None, nice)?;
    Ok(())
}

/// Elsewhere the nice value is the whole process's.
#[cfg(not(target_os = "linux"))]
fn stand_back(_: u8) -> io::Result<()> {
    Ok(())
}

struct Checker {
    chain: Chain,
    work: Work,
    end: End,
    scheduler: LaneScheduler,
    keys: DecodedKeys,
}

impl Checker {
    /// Waits for a batch; `None` when the node stops.
    fn next(&mut self) -> Option<Batch<Box<Job>>> {
        if self.end.stopped.load(SeqCst) {
            return None;
        }
        let (trusted, untrusted) = (&self.work.trusted.jobs, &self.work.untrusted.jobs);
        let batch = self
            .scheduler
            .cut(trusted, untrusted, |job| job.permit.cost());
        if batch.is_some() {
            return batch;
        }
        let first = select! {
            recv(trusted) -> job => (Lane::Trusted, job.ok()?),
            recv(untrusted) -> job => (Lane::Untrusted, job.ok()?),
            recv(self.end.shutdown) -> _ => return None,
        };
        // Who sends next may wait for this core: until it is this thread's turn again, others have come. They are checked
        // together for less than one by one.
        thread::yield_now();
        let batch = self
            .scheduler
            .cut_after(first, trusted, untrusted, |job| job.permit.cost());
        Some(batch)
    }

    /// Checks what somebody still waits for, and answers in the order in which it was asked.
    fn check(&mut self, batch: Batch<Box<Job>>) {
        let waited_for = batch
            .jobs
            .into_iter()
            .filter(|job| !job.verdict.is_closed());
        let (transactions, answers): (Vec<_>, Vec<_>) =
            waited_for.map(|job| (job.transaction, job.verdict)).unzip();
        if transactions.is_empty() {
            return;
        }
        let verdicts = CheckedTransaction::check_all(
            transactions,
            self.chain.vendor(),
            self.chain.parameters(),
            &mut self.keys,
        );
        let bad = verdicts.iter().filter(|verdict| verdict.is_err()).count();
        self.work
            .of(batch.lane)
            .counters
            .count_batch(verdicts.len(), bad);
        for (answer, verdict) in answers.into_iter().zip(verdicts) {
            // A client that went away meanwhile does not hear it.
            let _ = answer.send(verdict);
        }
    }
}

impl Drop for Checker {
    /// Drops the ways back of those that wait: a queue keeps what is in it for as long as anyone can
    /// send, and a handle outlives its node.
    fn drop(&mut self) {
        for queue in [&self.work.trusted.jobs, &self.work.untrusted.jobs] {
            queue.try_iter().for_each(drop);
        }
    }
}
