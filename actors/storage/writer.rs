//! The writer thread: appends blocks durably, applies them to the database, and prunes.

use super::{health::HealthReporter, meter::CommitMeter, write_timer::WriteTimer};
use crate::{
    error::{FaultKind, StorageFault},
    protocol::{
        commit_queue::{WriteJob, WriteJobs},
        committer::BlocksDurable,
        pruner::PruneDone,
        storage::PruneStep,
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, worker::WorkerThread},
    state::{
        committed::IndexedBlock,
        flight_recorder::{BlockStage, FlightRecorder},
        prune_horizon::{Horizon, PruneHorizonPublisher},
        storage_health::ShortageSource,
    },
};
use crossbeam_channel::Receiver;
use ledger_store::{Pruned, StoreError, StoreWriter};
use std::{
    collections::VecDeque,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

/// Name of the writer thread.
pub(crate) const THREAD: &str = "store-writer";

/// Idle time after which the writer applies durable blocks, unless a reader requests it earlier
/// from the thread in [`super::applier`].
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

/// Time between two attempts to write blocks or a prune step that wait for disk space, unless a job
/// arrives earlier.
///
/// An attempt without space costs two system calls. Submissions resume at most this long after the
/// space is free.
const SPACE_RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The recipients of the writer's messages.
#[derive(Debug)]
pub(crate) struct WriterPeers {
    pub(crate) committer: Recipient<BlocksDurable>,
    pub(crate) pruner: Recipient<PruneDone>,
}

/// Writes that the thread has taken from its queue and not completed.
///
/// They outlast a step of the thread only while they wait for disk space. The blocks in flight and
/// the prune step in flight bound them.
#[derive(Debug, Default)]
struct PendingWrites {
    blocks: Vec<Arc<IndexedBlock>>,
    steps: VecDeque<PruneStep>,
}

/// The state of the writer thread.
pub(crate) struct Writer {
    writer: StoreWriter,
    horizon: PruneHorizonPublisher,
    peers: WriterPeers,
    meter: Arc<CommitMeter>,
    recorder: FlightRecorder,
    pending: PendingWrites,
    /// Whether the pending writes wait for disk space.
    is_waiting_for_space: bool,
    timer: WriteTimer,
}

impl Writer {
    pub(crate) fn new(
        writer: StoreWriter,
        horizon: PruneHorizonPublisher,
        peers: WriterPeers,
        meter: Arc<CommitMeter>,
        recorder: FlightRecorder,
    ) -> Self {
        Self {
            writer,
            horizon,
            timer: WriteTimer::new(recorder.clock().clone()),
            peers,
            meter,
            recorder,
            pending: PendingWrites::default(),
            is_waiting_for_space: false,
        }
    }

    /// Creates the thread that runs the jobs.
    ///
    /// The thread ends when all sending sides of `jobs` are dropped. Once the queue is discarded,
    /// it runs no further job. It reports a fault of the disk to `health` and continues, because
    /// its end would close the database to the readers. The store rejects all writes after a failed
    /// one. A write without disk space is repeated until it succeeds; the thread reports the
    /// shortage to `health` meanwhile. Any other error is fatal: the thread reports it to
    /// `reporter` and ends.
    pub(crate) fn serve(
        mut self,
        jobs: WriteJobs,
        health: HealthReporter,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<WriteJob> {
        let is_discarded = jobs.is_discarded();
        let recorder = self.recorder.clone();
        let waited = move |job: &WriteJob| match job {
            WriteJob::Block(block) => {
                recorder.time_since(BlockStage::Executed, block.block().height())
            }
            WriteJob::PruneStep(_) => None,
        };
        let thread = WorkerThread::with_pause(THREAD, jobs.jobs, move |first, queued| {
            if is_discarded() {
                return ControlFlow::Continue(None);
            }
            match self.work(first, queued) {
                Ok(pause) => {
                    self.end_wait_for_space(&health);
                    ControlFlow::Continue(pause)
                }
                Err(StoreError::DiskFull(cause)) => {
                    self.wait_for_space(&cause.into(), &health);
                    ControlFlow::Continue(Some(SPACE_RETRY_INTERVAL))
                }
                Err(error) => match StorageFault::of(THREAD, FaultKind::Write, &error) {
                    Some(fault) => {
                        // No write succeeds any more.
                        self.pending = PendingWrites::default();
                        health.report(&fault);
                        ControlFlow::Continue(None)
                    }
                    None => {
                        reporter.report(THREAD, &error);
                        ControlFlow::Break(())
                    }
                },
            }
        });
        thread.with_waited(waited)
    }

    /// Reports that the pending writes wait for disk space, with the cause.
    fn wait_for_space(&mut self, cause: &Arc<str>, health: &HealthReporter) {
        health.report_disk_space(ShortageSource::Writer, Some(cause));
        if !std::mem::replace(&mut self.is_waiting_for_space, true) {
            tracing::error!(
                %cause,
                blocks = self.pending.blocks.len(),
                "no disk space for the next write: submissions are rejected, and the write is \
                 repeated until space is free"
            );
        }
    }

    /// Reports that no write waits for disk space, if one did.
    fn end_wait_for_space(&mut self, health: &HealthReporter) {
        if std::mem::take(&mut self.is_waiting_for_space) {
            health.report_disk_space(ShortageSource::Writer, None);
            tracing::info!("disk space was free for the waiting write: submissions are accepted");
        }
    }

    /// Runs the pending writes, `first` and all queued jobs. If `first` is `None`, the writer is
    /// idle and applies durable blocks.
    ///
    /// Returns the idle time after which the caller must call again, or `None` if no transaction is
    /// unapplied.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if a write waits for disk space; the caller must call again
    /// to repeat it. Returns any other error of the store if it cannot append, prune, or apply.
    fn work(
        &mut self,
        first: Option<WriteJob>,
        queued: &Receiver<WriteJob>,
    ) -> Result<Option<Duration>, StoreError> {
        let is_idle = first.is_none();
        self.take_jobs(first.into_iter().chain(queued.try_iter()));
        let written = self.write_pending();
        if let Err(error) = &written
            && !matches!(error, StoreError::DiskFull(_))
        {
            return written.map(|()| None);
        }
        // Readers need no disk space: an apply changes pages in memory.
        if is_idle {
            self.timer.time(|_| self.writer.apply())?;
        }
        let applied_height = self.writer.applied_height();
        self.recorder.record_applied(applied_height);
        written?;
        let unapplied = self.writer.unapplied_transactions();
        Ok((unapplied > 0).then(|| apply_delay(unapplied)))
    }

    /// Adds the writes of all jobs to the pending ones.
    fn take_jobs(&mut self, jobs: impl Iterator<Item = WriteJob>) {
        for job in jobs {
            match job {
                WriteJob::Block(block) => self.pending.blocks.push(block),
                WriteJob::PruneStep(step) => self.pending.steps.push_back(step),
            }
        }
    }

    /// Appends the pending blocks, then runs the pending prune steps.
    ///
    /// Blocks that arrive during the append form the next group.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has no space for the next write. This write and
    /// the ones after it stay pending. Returns any other error of the store if it cannot append or
    /// prune.
    fn write_pending(&mut self) -> Result<(), StoreError> {
        self.append_pending()?;
        while let Some(step) = self.pending.steps.front() {
            let raise_horizon = |pruned: &Pruned| {
                self.horizon.raise(Horizon {
                    version: pruned.oldest_version,
                    block_height: pruned.oldest_block_height,
                });
            };
            let start = Instant::now();
            let pruned = self
                .writer
                .prune_with(step.bound, step.versions_max, raise_horizon)?;
            let timed_version = step.timed_versions.map(|versions| {
                pruned
                    .oldest_version
                    .saturating_add(versions.saturating_sub(1))
            });
            let is_checkpoint = step.is_checkpoint;
            self.pending.steps.pop_front();
            self.meter.pruned(start.elapsed());
            let timed_usecs = match timed_version {
                Some(version) => self.writer.block_time_usecs(version)?,
                None => None,
            };
            if is_checkpoint {
                match self.writer.write_checkpoint() {
                    // The pruner requests it again.
                    Ok(()) | Err(StoreError::DiskFull(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            self.peers.pruner.send(PruneDone {
                pruned,
                timed_usecs,
            });
        }
        Ok(())
    }

    /// Appends the pending blocks as one group, or one by one if the disk has no space for all.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has no space for the next block, and any other
    /// error of the store if it cannot append.
    fn append_pending(&mut self) -> Result<(), StoreError> {
        let mut group_max = self.pending.blocks.len();
        while !self.pending.blocks.is_empty() {
            match self.append_first(group_max) {
                Err(StoreError::DiskFull(_)) if group_max > 1 => group_max = 1,
                appended => appended?,
            }
        }
        Ok(())
    }

    /// Appends the first pending blocks, at most `group_max`, as one group. As soon as they are
    /// durable, they are no longer pending, and the committer is notified.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if it cannot append.
    fn append_first(&mut self, group_max: usize) -> Result<(), StoreError> {
        let pending = &mut self.pending.blocks;
        let blocks: Vec<_> = pending
            .iter()
            .take(group_max)
            .map(|indexed| Arc::clone(indexed.block()))
            .collect();
        let start = Instant::now();
        let (writer, committer) = (&mut self.writer, &self.peers.committer);
        let (meter, recorder) = (&self.meter, &self.recorder);
        self.timer.time(|timer| {
            writer.append(&blocks, |wal_blocks| {
                let heights = blocks.iter().map(|block| block.height());
                recorder.record(BlockStage::Durable, heights);
                meter.committed(&blocks, start.elapsed());
                committer.send(BlocksDurable {
                    blocks: pending.drain(..blocks.len()).collect(),
                    wal_blocks,
                    write_usecs: timer.end_group(),
                });
            })
        })
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
