//! The threads that touch the disk: one writes, several read.

use super::{health::HealthReporter, meter::CommitMeter};
use crate::{
    error::{FaultKind, StorageFault},
    protocol::{commit_queue::WriteJob, committer::BlocksDurable, pruner::PruneDone},
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

const THREAD: &str = "store-writer";

/// A writer that has nothing else to do waits so long before it shows what is durable, unless somebody wants to see
/// it. Longer than a lone client takes from one block to the next, so that the database is not at work while it waits.
const SHOW_AFTER: Duration = Duration::from_millis(2);
/// And so long for each transaction: more than it takes to answer who waits for it, which comes first, in a slow moment too.
const ANSWER_TIME: Duration = Duration::from_micros(40);
/// At most so long for all of them.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(500);

/// Who hears of what is durable.
#[derive(Debug)]
pub(crate) struct WriterPeers {
    pub(crate) stored: Recipient<BlocksDurable>,
    pub(crate) pruned: Recipient<PruneDone>,
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

    /// Creates the thread that does the jobs.
    ///
    /// It ends when the sending sides of `jobs` are dropped. After a fault of the disk it writes no more,
    /// but keeps the database open, so that the readers can read. Any other error is fatal.
    pub(super) fn serve(
        mut self,
        jobs: Receiver<WriteJob>,
        health: HealthReporter,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<WriteJob> {
        WorkerThread::with_pause(THREAD, jobs, move |first, waiting| {
            match self.work(first, waiting) {
                Ok(pause) => ControlFlow::Continue(pause),
                Err(error) => match StorageFault::of(THREAD, FaultKind::Write, &error) {
                    Some(fault) => {
                        health.report(fault);
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

    /// Writes what waits, if anything; else, or if somebody wants to see it, shows what is durable. Gives after which
    /// time that is to be done.
    fn work(
        &mut self,
        first: Option<WriteJob>,
        waiting: &Receiver<WriteJob>,
    ) -> Result<Option<Duration>, StoreError> {
        let is_idle = first.is_none();
        let is_wanted = self.write(first.into_iter().chain(waiting.try_iter()))?;
        if is_idle || is_wanted {
            self.writer.apply()?;
        }
        let unshown = self.writer.unapplied_transactions();
        Ok((unshown > 0).then(|| show_after(unshown)))
    }

    /// Writes the blocks as one group, then prunes. Gives whether somebody wants to see what is durable.
    fn write(&mut self, writes: impl Iterator<Item = WriteJob>) -> Result<bool, StoreError> {
        let mut executed = Vec::new();
        let mut prunes = Vec::new();
        let mut is_wanted = false;
        for write in writes {
            match write {
                WriteJob::Block(block) => executed.push(block),
                WriteJob::PruneStep(prune) => prunes.push(prune),
                WriteJob::ApplyRequest => is_wanted = true,
            }
        }
        if !executed.is_empty() {
            let blocks: Vec<_> = executed
                .iter()
                .map(|indexed| Arc::clone(indexed.block()))
                .collect();
            let begun = Instant::now();
            let WriterPeers { stored, meter, .. } = &self.peers;
            self.writer.append(&blocks, |wal_blocks| {
                meter.committed(&blocks, begun.elapsed());
                stored.send(BlocksDurable {
                    blocks: executed,
                    wal_blocks,
                });
            })?;
        }
        for prune in prunes {
            let raise_horizon = |pruned: &Pruned| {
                self.horizon.raise(Horizon {
                    version: pruned.oldest_version,
                    block_height: pruned.oldest_block_height,
                });
            };
            let begun = Instant::now();
            let pruned =
                self.writer
                    .prune_with(prune.below_version, prune.versions_max, raise_horizon)?;
            self.peers.meter.pruned(begun.elapsed());
            self.peers.pruned.send(PruneDone(pruned));
        }
        Ok(is_wanted)
    }
}

/// When to show so many transactions that are durable.
pub(super) fn show_after(unshown: usize) -> Duration {
    let transactions = u32::try_from(unshown).unwrap_or(u32::MAX);
    SHOW_AFTER
        + ANSWER_TIME
            .saturating_mul(transactions)
            .min(ANSWER_TIME_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_wait_for_is_shown_later_but_soon() {
        assert!(show_after(1) < SHOW_AFTER * 2, "a lone client's");
        assert!(show_after(1_000) >= ANSWER_TIME * 1_000);
        for many in [100_000, usize::MAX] {
            assert_eq!(show_after(many), SHOW_AFTER + ANSWER_TIME_MAX);
        }
    }
}
