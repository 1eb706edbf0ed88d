//! The signature threads.

use super::{
    queues::{Job, Work},
    scheduler::{Batch, Lane, LaneScheduler},
};
use crate::runtime::{
    fatal::FatalErrorReporter,
    nice::raise_nice_value,
    progress::{Progress, Watch, Watches},
};
use crossbeam_channel::{Receiver, select};
use ledger_crypto::DecodedKeys;
use ledger_metrics::Metric as _;
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

/// Name of the threads. The kernel stores 15 characters of it.
const THREAD: &str = "signature-check";

/// Stop signal for the signature threads.
#[derive(Clone, Debug)]
pub(super) struct StopSignal {
    /// Disconnected by the stop, which wakes a waiting thread.
    pub(super) shutdown: Receiver<Infallible>,
    /// Set by the stop.
    pub(super) stopped: Arc<AtomicBool>,
}

/// Starts a signature thread with the given nice value, and adds a watch of its progress to
/// `watches`.
///
/// After a stop the thread completes its current batch. Checks that still wait return
/// [`NodeError::Stopping`](crate::NodeError::Stopping).
///
/// # Errors
///
/// Returns the error of the operating system if the thread cannot be started.
pub(super) fn spawn(
    (chain, work, stop_signal): (Chain, Work, StopSignal),
    nice: u8,
    reporter: &FatalErrorReporter,
    watches: &Watches,
) -> io::Result<JoinHandle<()>> {
    let mut checker = Checker {
        chain,
        work,
        stop_signal,
        scheduler: LaneScheduler::default(),
        keys: DecodedKeys::default(),
    };
    let progress = Arc::<Progress>::default();
    watches.add(&watch(&progress, &checker.work));
    reporter.spawn(THREAD, move || {
        if let Err(error) = raise_nice_value(nice) {
            tracing::warn!(%error, "the nice value of the signature thread could not be raised");
        }
        while let Some(batch) = checker.next() {
            progress.count(|| checker.check(batch));
        }
    })
}

/// Returns a watch of a thread, until the thread ends. Transactions wait while they hold permits of
/// a lane, and every batch is progress of the threads that wait for work.
fn watch(progress: &Arc<Progress>, work: &Work) -> Watch {
    let progress = Arc::downgrade(progress);
    let lanes = [&work.trusted, &work.untrusted]
        .map(|lane| (lane.capacity.clone(), Arc::clone(&lane.counters)));
    Watch::new(THREAD, move || {
        let is_waiting = lanes.iter().any(|(capacity, _)| capacity.used_cost() > 0);
        let batches = lanes
            .iter()
            .map(|(_, counters)| counters.batches.snapshot());
        Some(progress.upgrade()?.sample(is_waiting, batches.sum()))
    })
}

/// The state of a signature thread.
struct Checker {
    chain: Chain,
    work: Work,
    stop_signal: StopSignal,
    scheduler: LaneScheduler,
    keys: DecodedKeys,
}

impl Checker {
    /// Waits for the next batch. Returns `None` when the node stops.
    fn next(&mut self) -> Option<Batch<Box<Job>>> {
        if self.stop_signal.stopped.load(SeqCst) {
            return None;
        }
        let (trusted, untrusted) = (&self.work.trusted.jobs, &self.work.untrusted.jobs);
        let batch = self
            .scheduler
            .next_batch(trusted, untrusted, |job| job.permit.cost());
        if batch.is_some() {
            return batch;
        }
        let first = select! {
            recv(trusted) -> job => (Lane::Trusted, job.ok()?),
            recv(untrusted) -> job => (Lane::Untrusted, job.ok()?),
            recv(self.stop_signal.shutdown) -> _ => return None,
        };
        // Further clients may wait for this core. By the next turn of this thread their
        // transactions have arrived, and verifying them in one batch costs less than one by one.
        thread::yield_now();
        let batch = self
            .scheduler
            .next_batch_after(first, trusted, untrusted, |job| job.permit.cost());
        Some(batch)
    }

    /// Verifies the jobs of the batch whose clients still wait. Sends the verdicts in order of
    /// arrival.
    fn check(&mut self, batch: Batch<Box<Job>>) {
        let active_jobs = batch
            .jobs
            .into_iter()
            .filter(|job| !job.verdict.is_closed());
        let (transactions, senders): (Vec<_>, Vec<_>) = active_jobs
            .map(|job| (job.transaction, job.verdict))
            .unzip();
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
        for (sender, verdict) in senders.into_iter().zip(verdicts) {
            // An error means that the client has canceled its request.
            let _ = sender.send(verdict);
        }
    }
}

impl Drop for Checker {
    /// Drops the waiting jobs, so that their requests end. The queue would keep the jobs as long
    /// as a sender exists, and a handle outlives its node.
    fn drop(&mut self) {
        for queue in [&self.work.trusted.jobs, &self.work.untrusted.jobs] {
            queue.try_iter().for_each(drop);
        }
    }
}
