//! The check of signatures, on threads of its own behind two queues, which are bounded by the work that
//! waits in them (`queues.rs`).
//!
//! It is most of the work that a submission makes, and anyone can ask for it. So it has its own threads,
//! which check many transactions at once, and it happens before an actor is asked: the actors see only
//! transactions whose signatures hold. Clients that have not shown that theirs do wait in a [`Lane`] of their
//! own, so that a flood of bad signatures costs those who send good ones a bounded share
//! (`scheduler.rs`).
//!
//! The threads stand back a little (`signatures.nice`): where all cores are busy, what was taken is executed and written
//! before more is taken, so that the pool does not fill with what nobody has the time to execute. As they come to their turn
//! later, they check more at once, for less each.
//!
//! Where nothing else is being checked, a plain signature is checked by the thread that asks: with nobody
//! to share a batch with, going through another thread would only cost two hand-overs.

mod queues;
mod scheduler;
mod threads;

pub use queues::LaneStatus;
pub use scheduler::Lane;

use crate::{NodeError, SignaturesConfig, SubmitError, runtime::fatal::FatalErrorReporter};
use crossbeam_channel::Sender;
use ledger_limits::{Limit, Permit};
use ledger_types::{CheckedTransaction, SignedTransaction, transaction::TransactionAuthenticator};
use ledger_vm::Chain;
use queues::{Job, LaneQueue, Lanes, QueueSender, Work, lane};
use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::JoinHandle,
};
use threads::End;
use tokio::sync::oneshot;

/// What is named where too many wait.
const NAME: &str = "signature check";

/// The way to the threads.
#[derive(Debug)]
pub(crate) struct SignatureChecks {
    lanes: Lanes<QueueSender>,
    stopped: Arc<AtomicBool>,
    /// LaneCounters the checks in progress of both lanes. The count may change after it was read: a check
    /// then runs beside another one, or in the queue without need.
    in_progress: Limit,
}

/// The other side of the lanes, until the threads are started.
#[derive(Debug)]
pub(crate) struct SignatureQueues {
    work: Work,
    threads: usize,
    nice: u8,
    stopped: Arc<AtomicBool>,
}

/// Keeps the threads alive; without it they end after the batch that each is at.
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
    /// Both queues, each for work of the cost `queue_capacity`.
    pub(crate) fn new(config: &SignaturesConfig) -> (Self, SignatureQueues) {
        let (trusted, trusted_work) = lane(config.queue_capacity);
        let (untrusted, untrusted_work) = lane(config.queue_capacity);
        let stopped = Arc::new(AtomicBool::new(false));
        let queues = SignatureQueues {
            work: Lanes {
                trusted: trusted_work,
                untrusted: untrusted_work,
            },
            threads: config.threads(),
            nice: config.nice,
            stopped: Arc::clone(&stopped),
        };
        let lanes = Lanes { trusted, untrusted };
        let checks = Self {
            lanes,
            stopped,
            in_progress: Limit::unlimited(),
        };
        (checks, queues)
    }

    /// Has the signatures of a transaction checked: on this thread where it is a trusted client's with a
    /// plain signature and nothing else is being checked, by the threads otherwise.
    ///
    /// # Errors
    /// Why the transaction does not pass; or that the lane is full or the node stopping.
    pub(crate) async fn check(
        &self,
        chain: &Chain,
        transaction: SignedTransaction,
        lane: Lane,
    ) -> Result<CheckedTransaction, SubmitError> {
        let is_plain = matches!(
            transaction.authenticator,
            TransactionAuthenticator::Ed25519 { .. }
        );
        let permit = Permit::acquire(&self.in_progress);
        if lane == Lane::Trusted && is_plain {
            // Others whose submissions are here already come to this point first, and are seen.
            tokio::task::yield_now().await;
        }
        if lane == Lane::Trusted && is_plain && self.in_progress.held() == 1 {
            let verdict =
                CheckedTransaction::check(transaction, chain.vendor(), chain.parameters());
            let counters = &self.lanes.trusted.counters;
            counters.accepted.increment();
            counters.count_batch(1, usize::from(verdict.is_err()));
            return Ok(verdict?);
        }
        self.queue(transaction, lane, permit).await
    }

    /// Has the signatures of a transaction checked by the threads.
    async fn queue(
        &self,
        transaction: SignedTransaction,
        lane: Lane,
        _permit: Permit<&Limit>,
    ) -> Result<CheckedTransaction, SubmitError> {
        let (verdict, answer) = oneshot::channel();
        let LaneQueue {
            jobs,
            capacity,
            counters,
        } = self.lanes.of(lane);
        let Some(permit) = capacity.take(transaction.authenticator.check_cost()) else {
            counters.refused.increment();
            return Err(NodeError::Overloaded { actor: NAME }.into());
        };
        let job = Job {
            transaction,
            permit,
            verdict,
        };
        if jobs.send(Box::new(job)).is_err() {
            return Err(NodeError::Stopping.into());
        }
        counters.accepted.increment();
        // Before the threads drop what waits, this is set: either they find the job, or it is seen here.
        if self.stopped.load(SeqCst) {
            return Err(NodeError::Stopping.into());
        }
        match answer.await {
            Ok(verdict) => Ok(verdict?),
            Err(_) => Err(NodeError::Stopping.into()),
        }
    }

    /// The numbers of both lanes, the trusted first.
    pub(crate) fn status(&self) -> [LaneStatus; 2] {
        [Lane::Trusted, Lane::Untrusted].map(|lane| {
            let LaneQueue {
                jobs,
                capacity,
                counters,
            } = self.lanes.of(lane);
            counters.status(lane, capacity, jobs.len())
        })
    }
}

impl SignatureQueues {
    /// Starts the threads.
    pub(crate) fn serve(
        self,
        chain: &Chain,
        failure: &FatalErrorReporter,
    ) -> io::Result<(ShutdownGuard, Vec<JoinHandle<()>>)> {
        // Nothing is ever sent.
        let (sender, shutdown) = crossbeam_channel::bounded(0);
        let end = End {
            shutdown,
            stopped: Arc::clone(&self.stopped),
        };
        let spawned = (0..self.threads).map(|_| {
            let work = Lanes {
                trusted: self.work.trusted.clone(),
                untrusted: self.work.untrusted.clone(),
            };
            threads::spawn((chain.clone(), work, end.clone()), self.nice, failure)
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
