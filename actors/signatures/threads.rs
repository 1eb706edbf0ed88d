//! The signature threads.

use super::{
    queues::{Job, Lanes, THREAD},
    scheduler::{Batch, LaneScheduler, TRUSTED_BATCH_MAX},
};
use crate::runtime::{
    fatal::FatalErrorReporter,
    nice::raise_nice_value,
    progress::{Progress, Watch, Watches},
};
use crossbeam_channel::{Receiver, select};
use ledger_crypto::DecodedKeys;
use ledger_limits::{Cancel as _, Permit};
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
    time::Instant,
};

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
    (chain, lanes, stop_signal): (Chain, Lanes, StopSignal),
    nice: u8,
    reporter: &FatalErrorReporter,
    watches: &Watches,
) -> io::Result<JoinHandle<()>> {
    let mut checker = Checker {
        chain,
        lanes,
        stop_signal,
        scheduler: LaneScheduler::default(),
        keys: DecodedKeys::default(),
    };
    let progress = Arc::<Progress>::default();
    watches.add(&watch(&progress, &checker.lanes));
    reporter.spawn(THREAD, move || {
        if let Err(error) = raise_nice_value(nice) {
            tracing::warn!(%error, "the nice value of the signature thread could not be raised");
        }
        while let Some(batch) = checker.next() {
            let begun = Instant::now();
            for job in &batch.jobs {
                checker
                    .lanes
                    .meter
                    .record_waited(begun - job.queued_at, begun);
            }
            progress.count(|| checker.check(batch));
            let ended = Instant::now();
            checker.lanes.meter.record_job(ended, ended - begun);
        }
    })
}

/// Returns a watch of a thread, until the thread ends. Every batch is progress of the threads that
/// wait for work.
fn watch(progress: &Arc<Progress>, lanes: &Lanes) -> Watch {
    let progress = Arc::downgrade(progress);
    let lanes = [&lanes.trusted, &lanes.untrusted].map(Clone::clone);
    Watch::new(THREAD, move || {
        let is_waiting = lanes.iter().any(|lane| !lane.jobs.is_empty());
        let batches = lanes.iter().map(|lane| lane.counters.batches.snapshot());
        Some(progress.upgrade()?.sample(is_waiting, batches.sum()))
    })
}

/// The state of a signature thread.
struct Checker {
    chain: Chain,
    lanes: Lanes,
    stop_signal: StopSignal,
    scheduler: LaneScheduler,
    keys: DecodedKeys,
}

impl Checker {
    /// Waits for the next batch. Returns `None` when the node stops.
    fn next(&mut self) -> Option<Batch<Job>> {
        loop {
            if self.stop_signal.stopped.load(SeqCst) {
                return None;
            }
            let (trusted, untrusted) = (&self.lanes.trusted.jobs, &self.lanes.untrusted.jobs);
            let batch = self
                .scheduler
                .next_batch(trusted, untrusted, |job| job.cost);
            if batch.is_some() {
                return batch;
            }
            select! {
                recv(self.lanes.woken) -> woken => woken.ok()?,
                recv(self.stop_signal.shutdown) -> _ => return None,
            }
            // Further clients may wait for this core. By the next turn of this thread their
            // transactions have arrived, and verifying them in one batch costs less than one by
            // one.
            thread::yield_now();
        }
    }

    /// Verifies the transactions of the jobs whose clients still wait. Sends the verdicts in the
    /// order of the batch.
    fn check(&mut self, batch: Batch<Job>) {
        let mut active_jobs = batch.jobs;
        active_jobs.retain(|job| !job.is_canceled());
        let mut transactions = Vec::with_capacity(batch.cost);
        let mut replies = Vec::with_capacity(active_jobs.len());
        for mut job in active_jobs {
            replies.push((job.transactions.len(), job.verdicts));
            transactions.append(&mut job.transactions);
        }
        if transactions.is_empty() {
            return;
        }
        let is_costly = batch.cost > TRUSTED_BATCH_MAX;
        let _costly = is_costly.then(|| Permit::acquire(Arc::clone(&self.lanes.costly)));
        let verdicts = CheckedTransaction::check_all(
            transactions,
            self.chain.vendor(),
            self.chain.parameters(),
            &mut self.keys,
        );
        let bad = verdicts.iter().filter(|verdict| verdict.is_err()).count();
        self.lanes
            .of(batch.lane)
            .counters
            .count_batch(verdicts.len(), bad);
        let mut verdicts = verdicts.into_iter();
        for (count, sender) in replies {
            let of_job = verdicts.by_ref().take(count).collect();
            // An error means that the client has canceled its request.
            let _ = sender.send(of_job);
        }
    }
}

impl Drop for Checker {
    /// Drops the waiting jobs, so that their requests end. The queue would keep the jobs as long
    /// as a handle exists, and a handle outlives its node.
    fn drop(&mut self) {
        for lane in [&self.lanes.trusted, &self.lanes.untrusted] {
            while lane.jobs.pop().is_some() {}
        }
    }
}
