//! The writer thread: appends blocks durably, applies them to the database, and prunes.

use super::{health::HealthReporter, meter::CommitMeter};
use crate::{
    error::{FaultKind, StorageFault},
    protocol::{
        commit_queue::{WriteJob, WriteJobs},
        committer::BlocksDurable,
        pruner::PruneDone,
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, worker::WorkerThread},
    state::prune_horizon::{Horizon, PruneHorizonPublisher},
};
use crossbeam_channel::Receiver;
use ledger_store::{Pruned, StoreError, StoreWriter};
use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

/// Name of the writer thread.
pub(crate) const THREAD: &str = "store-writer";

/// Idle time after which the writer applies durable blocks, unless a reader requests it earlier from
/// the thread in [`super::applier`].
///
/// It exceeds the interval between two blocks of a lone client, so that the writer does not apply
/// while that client waits.
const APPLY_DELAY: Duration = Duration::from_millis(2);

/// Addition to [`APPLY_DELAY`] per unapplied transaction.
///
/// It exceeds the time that the response to a waiting client takes, so that responses come first.
const APPLY_DELAY_PER_TRANSACTION: Duration = Duration::from_micros(40);

/// Maximum addition to [`APPLY_DELAY`] for all unapplied transactions.
const APPLY_DELAY_TRANSACTIONS_MAX: Duration = Duration::from_millis(500);

/// The recipients of the writer's notifications, and its metrics.
#[derive(Debug)]
pub(crate) struct WriterPeers {
    pub(crate) committer: Recipient<BlocksDurable>,
    pub(crate) pruner: Recipient<PruneDone>,
    pub(crate) meter: Arc<CommitMeter>,
}

/// The state of the writer thread.
pub(super) struct Writer {
    writer: StoreWriter,
    horizon: PruneHorizonPublisher,
    peers: WriterPeers,
}

impl Writer {
    pub(super) fn new(
        writer: StoreWriter,
        horizon: PruneHorizonPublisher,
        peers: WriterPeers,
    ) -> Self {
        Self {
            writer,
            horizon,
            peers,
        }
    }

    /// Creates the thread that runs the jobs.
    ///
    /// The thread ends when all sending sides of `jobs` are dropped. Once the queue is discarded, it
    /// runs no further job. It reports a fault of the disk
    /// to `health` and continues, because its end would close the database to the readers. The
    /// store rejects all writes after a failed one. Any other error is fatal: the thread reports it
    /// to `reporter` and ends.
    pub(super) fn serve(
        mut self,
        jobs: WriteJobs,
        health: HealthReporter,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<WriteJob> {
        let is_discarded = jobs.is_discarded();
        WorkerThread::with_pause(THREAD, jobs.jobs, move |first, queued| {
            if is_discarded() {
                return ControlFlow::Continue(None);
            }
            match self.work(first, queued) {
                Ok(pause) => ControlFlow::Continue(pause),
                Err(error) => match StorageFault::of(THREAD, FaultKind::Write, &error) {
                    Some(fault) => {
                        health.report(&fault);
                        ControlFlow::Continue(None)
                    }
                    None => {
                        reporter.report(THREAD, &error);
                        ControlFlow::Break(())
                    }
                },
            }
        })
    }

    /// Runs `first` and all queued jobs. If `first` is `None`, the writer is idle and applies durable
    /// blocks.
    ///
    /// Returns the idle time
    /// after which the caller must call again, or `None` if no transaction is unapplied.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if it cannot append, prune, or apply.
    fn work(
        &mut self,
        first: Option<WriteJob>,
        queued: &Receiver<WriteJob>,
    ) -> Result<Option<Duration>, StoreError> {
        let is_idle = first.is_none();
        self.run_jobs(first.into_iter().chain(queued.try_iter()))?;
        if is_idle {
            self.writer.apply()?;
        }
        let unapplied = self.writer.unapplied_transactions();
        Ok((unapplied > 0).then(|| apply_delay(unapplied)))
    }

    /// Appends the blocks of all jobs as one group, then prunes.
    ///
    /// Blocks that arrive during the append form the next group.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if it cannot append or prune. It skips the jobs after the one
    /// that fails.
    fn run_jobs(&mut self, jobs: impl Iterator<Item = WriteJob>) -> Result<(), StoreError> {
        let mut executed = Vec::new();
        let mut steps = Vec::new();
        for job in jobs {
            match job {
                WriteJob::Block(block) => executed.push(block),
                WriteJob::PruneStep(step) => steps.push(step),
            }
        }
        if !executed.is_empty() {
            let blocks: Vec<_> = executed
                .iter()
                .map(|indexed| Arc::clone(indexed.block()))
                .collect();
            let start = Instant::now();
            let WriterPeers {
                committer, meter, ..
            } = &self.peers;
            self.writer.append(&blocks, |wal_blocks| {
                meter.committed(&blocks, start.elapsed());
                committer.send(BlocksDurable {
                    blocks: executed,
                    wal_blocks,
                });
            })?;
        }
        for step in steps {
            let raise_horizon = |pruned: &Pruned| {
                self.horizon.raise(Horizon {
                    version: pruned.oldest_version,
                    block_height: pruned.oldest_block_height,
                });
            };
            let start = Instant::now();
            let pruned =
                self.writer
                    .prune_with(step.below_version, step.versions_max, raise_horizon)?;
            self.peers.meter.pruned(start.elapsed());
            self.peers.pruner.send(PruneDone(pruned));
        }
        Ok(())
    }
}

/// Returns the idle time after which the writer applies `transactions` unapplied transactions.
pub(super) fn apply_delay(transactions: usize) -> Duration {
    let transactions = u32::try_from(transactions).unwrap_or(u32::MAX);
    APPLY_DELAY
        + APPLY_DELAY_PER_TRANSACTION
            .saturating_mul(transactions)
            .min(APPLY_DELAY_TRANSACTIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_grows_with_the_number_of_transactions_up_to_a_maximum() {
        assert!(
            apply_delay(1) < APPLY_DELAY * 2,
            "one transaction adds little"
        );
        assert!(apply_delay(1_000) >= APPLY_DELAY_PER_TRANSACTION * 1_000);
        for many in [100_000, usize::MAX] {
            assert_eq!(
                apply_delay(many),
                APPLY_DELAY + APPLY_DELAY_TRANSACTIONS_MAX
            );
        }
    }
}
