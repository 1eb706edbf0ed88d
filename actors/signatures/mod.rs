//! Signature verification on dedicated threads behind two queues, the lanes.
//!
//! * Verification is most of the work of a submission, and any client can cause it. Dedicated
//!   threads verify many signatures per batch.
//! * A handle sends a transaction to an actor only after verification, so actors receive only
//!   transactions with valid signatures.
//! * Clients that have not yet sent a valid signature use a [`Lane`] of their own. A flood of bad
//!   signatures therefore costs the other clients only a bounded share of the work
//!   (`scheduler.rs`).
//! * The cost of the waiting work bounds each queue, in which clients take turns (`queues.rs`).
//! * The threads run at a lower priority (`signatures.nice`). When all cores are busy, the node
//!   executes and writes accepted transactions before it accepts more, so the pool does not fill
//!   with transactions that the node has no time to execute. The threads then run less often and
//!   verify larger batches at a lower cost per signature.
//! * The transactions of a batch of submissions enter the queue as jobs of a few, so that a batch
//!   of 1,000 needs some sixty entries and channels, and other clients still take turns with it.
//! * If no other check is in progress, the calling thread verifies a plain signature itself.
//!   Without other transactions to form a batch, a signature thread would only add two thread
//!   hand-overs. It also does so while each signature thread checks a costly transaction: the plain
//!   signature takes less time than a parse, and would wait for milliseconds.

mod queues;
mod scheduler;
mod threads;

pub use queues::LaneStatus;
pub use scheduler::Lane;

use crate::{
    NodeError, Overload, SignaturesConfig, SubmitError,
    runtime::{fatal::FatalErrorReporter, progress::Watches, work_meter::WorkStatus},
};
use crossbeam_channel::Sender;
use ledger_limits::{ClientKey, Limit, Permit, ReachedLimit};
use ledger_types::{CheckedTransaction, SignedTransaction, transaction::TransactionAuthenticator};
use ledger_vm::Chain;
use queues::{Lanes, Verdict, check_cost};
use scheduler::UNTRUSTED_BATCH_MAX;
use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::JoinHandle,
};
use threads::StopSignal;
use tokio::sync::oneshot;

/// Maximum cost of the transactions of a batch that the trusted lane takes as one job, in ed25519
/// signatures that are verified alone.
///
/// A whole verification batch in one job would leave no space for the transactions of other
/// clients, which would then be verified one by one. A sum of the batch verification has as many
/// signatures, so smaller jobs would not be verified faster.
const JOB_COST_MAX: usize = 16;

/// Setting of the capacity of each lane.
const LIMIT: &str = "signatures.queue_capacity";

/// Handle to the signature threads.
#[derive(Debug)]
pub(crate) struct SignatureChecks {
    lanes: Lanes,
    stopped: Arc<AtomicBool>,
    /// Number of checks in progress in both lanes. The number may change after it is read. A
    /// check then runs on the calling thread beside another one, or it goes through a queue
    /// without need.
    in_progress: Limit,
}

/// The lanes for the threads, which [`Self::start_threads`] starts.
#[derive(Debug)]
pub(crate) struct SignatureQueues {
    lanes: Lanes,
    threads: usize,
    nice: u8,
    stopped: Arc<AtomicBool>,
}

/// Guard that keeps the signature threads running. After it is dropped, each thread ends after
/// its current batch.
#[derive(Debug)]
pub(crate) struct ShutdownGuard {
    _sender: Sender<Infallible>,
    stopped: Arc<AtomicBool>,
}

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        self.stopped.store(true, SeqCst);
    }
}

impl SignatureChecks {
    /// Creates both lanes, each with the capacity `queue_capacity`.
    pub(crate) fn new(config: &SignaturesConfig) -> (Self, SignatureQueues) {
        let threads = config.threads();
        let lanes = Lanes::new(config.queue_capacity, threads);
        let stopped = Arc::new(AtomicBool::new(false));
        let queues = SignatureQueues {
            lanes: lanes.clone(),
            threads,
            nice: config.nice,
            stopped: Arc::clone(&stopped),
        };
        let checks = Self {
            lanes,
            stopped,
            in_progress: Limit::unlimited(),
        };
        (checks, queues)
    }

    /// Verifies the signatures of a transaction of `client`.
    ///
    /// The calling thread verifies the plain signature of a trusted client if no other check is in
    /// progress, or if each signature thread checks a costly transaction. Otherwise the signature
    /// threads do.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Invalid`] if the transaction is invalid, [`NodeError::Overloaded`]
    /// if the lane is full or the client holds its part of it, and [`NodeError::Stopping`] if the
    /// node is stopping.
    pub(crate) async fn check(
        &self,
        chain: &Chain,
        transaction: SignedTransaction,
        lane: Lane,
        client: ClientKey,
    ) -> Result<CheckedTransaction, SubmitError> {
        let is_plain = matches!(
            transaction.authenticator,
            TransactionAuthenticator::Ed25519 { .. }
        );
        let permit = Permit::acquire(&self.in_progress);
        if lane == Lane::Trusted && is_plain {
            // Other submissions that have already arrived on this thread reach this point first,
            // so that `in_progress` includes them.
            tokio::task::yield_now().await;
        }
        let is_faster_here = || self.in_progress.held() == 1 || self.lanes.are_threads_delayed();
        if lane == Lane::Trusted && is_plain && is_faster_here() {
            let verdict =
                CheckedTransaction::check(transaction, chain.vendor(), chain.parameters());
            let counters = &self.lanes.trusted.counters;
            counters.accepted.increment();
            counters.count_batch(1, usize::from(verdict.is_err()));
            return Ok(verdict?);
        }
        self.queue(transaction, lane, client, permit).await
    }

    /// Verifies the signatures of transactions of `client` on the signature threads. Returns the
    /// verdicts in the same order.
    ///
    /// The transactions enter the queue of the lane as a few jobs, whose costs count one by one
    /// against its capacity and against the client's turns. So other clients wait for one
    /// verification batch at most, as they do for single transactions.
    ///
    /// An element is an error in the cases of [`Self::check`]. A rejected job does not affect the
    /// others.
    pub(crate) async fn check_all(
        &self,
        transactions: Vec<SignedTransaction>,
        lane: Lane,
        client: ClientKey,
    ) -> Vec<Result<CheckedTransaction, SubmitError>> {
        let _permit = Permit::acquire(&self.in_progress);
        let mut verdicts = Vec::with_capacity(transactions.len());
        let pushed: Vec<_> = jobs_of(transactions, lane)
            .into_iter()
            .map(|job| (job.len(), self.push(job, lane, client)))
            .collect();
        for (count, receiver) in pushed {
            match received(receiver).await {
                Ok(of_job) => verdicts.extend(of_job.into_iter().map(|verdict| Ok(verdict?))),
                Err(error) => verdicts.extend((0..count).map(|_| Err(error.clone()))),
            }
        }
        verdicts
    }

    /// Verifies the signatures of a transaction on the signature threads.
    async fn queue(
        &self,
        transaction: SignedTransaction,
        lane: Lane,
        client: ClientKey,
        _permit: Permit<&Limit>,
    ) -> Result<CheckedTransaction, SubmitError> {
        let receiver = self.push(vec![transaction], lane, client);
        let verdict = received(receiver).await?.pop();
        Ok(verdict.expect("one of each transaction")?)
    }

    /// Adds a job to the queue of a lane. Returns the receiver of its verdicts.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the lane is full or the client holds its part of it,
    /// and [`NodeError::Stopping`] if the node is stopping.
    fn push(
        &self,
        job: Vec<SignedTransaction>,
        lane: Lane,
        client: ClientKey,
    ) -> Result<oneshot::Receiver<Vec<Verdict>>, SubmitError> {
        let receiver = self.lanes.try_push(lane, client, job).map_err(|full| {
            let value = match full.reached {
                ReachedLimit::Cost(cost) => cost,
                ReachedLimit::Jobs(jobs) => jobs as u64,
            };
            NodeError::from(Overload::new(LIMIT, value, full.retry_after_secs))
        })?;
        // The flag is set before the threads drop waiting jobs. So either the threads drop this
        // job, or this load returns true.
        if self.stopped.load(SeqCst) {
            return Err(NodeError::Stopping.into());
        }
        Ok(receiver)
    }

    /// Changes the cost of the checks that may wait in each lane. Checks that wait beyond it stay.
    pub(crate) fn set_capacity(&self, capacity: usize) {
        for lane in [Lane::Trusted, Lane::Untrusted] {
            self.lanes.of(lane).jobs.set_capacity(capacity as u64);
        }
    }

    /// Returns the metrics of the threads, for which a job is a batch.
    pub(crate) fn work_status(&self) -> WorkStatus {
        self.lanes.work_status()
    }

    /// Returns the metrics of both lanes, the trusted lane first.
    pub(crate) fn status(&self) -> [LaneStatus; 2] {
        [Lane::Trusted, Lane::Untrusted].map(|lane| self.lanes.of(lane).status(lane))
    }
}

/// Waits for the verdicts of a job that was added to a queue.
///
/// # Errors
///
/// Returns the error in `receiver`, and [`NodeError::Stopping`] if the node is stopping.
async fn received(
    receiver: Result<oneshot::Receiver<Vec<Verdict>>, SubmitError>,
) -> Result<Vec<Verdict>, SubmitError> {
    receiver?.await.map_err(|_| NodeError::Stopping.into())
}

/// Divides transactions into the jobs in which a lane verifies them, in order.
///
/// A job has a cost of at most [`JOB_COST_MAX`], or as much as a verification batch of the lane if
/// that is less. A transaction of a higher cost is a job of its own.
fn jobs_of(transactions: Vec<SignedTransaction>, lane: Lane) -> Vec<Vec<SignedTransaction>> {
    let cost_max = match lane {
        Lane::Trusted => JOB_COST_MAX,
        Lane::Untrusted => UNTRUSTED_BATCH_MAX,
    };
    let mut jobs: Vec<Vec<_>> = Vec::with_capacity(transactions.len().div_ceil(cost_max));
    let mut last_cost = cost_max;
    for transaction in transactions {
        let cost = check_cost(&transaction);
        match jobs.last_mut() {
            Some(last) if last_cost.saturating_add(cost) <= cost_max => {
                last.push(transaction);
                last_cost += cost;
            }
            _ => {
                jobs.push(vec![transaction]);
                last_cost = cost;
            }
        }
    }
    jobs
}

impl SignatureQueues {
    /// Starts the threads, and adds a watch of the progress of each to `watches`.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    pub(crate) fn start_threads(
        self,
        chain: &Chain,
        reporter: &FatalErrorReporter,
        watches: &Watches,
    ) -> io::Result<(ShutdownGuard, Vec<JoinHandle<()>>)> {
        // The channel never carries a message. Its disconnection is the signal.
        let (sender, shutdown) = crossbeam_channel::bounded(0);
        let stop_signal = StopSignal {
            shutdown,
            stopped: Arc::clone(&self.stopped),
        };
        let spawned = (0..self.threads).map(|_| {
            threads::spawn(
                (chain.clone(), self.lanes.clone(), stop_signal.clone()),
                self.nice,
                reporter,
                watches,
            )
        });
        let spawned = spawned.collect::<io::Result<_>>()?;
        let shutdown = ShutdownGuard {
            _sender: sender,
            stopped: self.stopped,
        };
        Ok((shutdown, spawned))
    }
}

#[cfg(test)]
mod tests;
