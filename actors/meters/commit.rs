//! What became durable, and what was pruned: counted by the thread that writes.

use ledger::ExecutedBlock;
use ledger_metrics::{DurationRecorder, Histogram, SizeRecorder};
use std::{sync::Arc, time::Duration};

/// The meter of the writer's work.
#[derive(Debug, Default)]
pub(crate) struct CommitMeter {
    block_transactions: SizeRecorder,
    group_blocks: SizeRecorder,
    write: DurationRecorder,
    prune: DurationRecorder,
}

impl CommitMeter {
    /// These blocks became durable together, which took so long.
    pub(crate) fn committed(&self, blocks: &[Arc<ExecutedBlock>], took: Duration) {
        for block in blocks {
            let transactions = block.transactions.iter();
            let users = transactions.filter(|executed| executed.transaction.as_user().is_some());
            self.block_transactions.record(users.count());
        }
        self.group_blocks.record(blocks.len());
        self.write.record(took);
    }

    /// A step of pruning became durable, which took so long.
    pub(crate) fn pruned(&self, took: Duration) {
        self.prune.record(took);
    }

    pub(super) fn status(&self) -> CommitStatus {
        CommitStatus {
            block_transactions: self.block_transactions.read(),
            group_blocks: self.group_blocks.read(),
            write: self.write.read(),
            prune: self.prune.read(),
        }
    }
}

/// What is seen of the writer's work. Counts are since the start of the node.
#[derive(Clone, Debug)]
pub struct CommitStatus {
    /// The transactions of users in each durable block.
    pub block_transactions: Histogram,
    /// The blocks of each group that became durable together.
    pub group_blocks: Histogram,
    /// How long each group took to become durable.
    pub write: Histogram,
    /// How long each step of pruning took.
    pub prune: Histogram,
}
