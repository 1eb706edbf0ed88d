//! Metrics of the writer thread: durable blocks and prune steps.

use ledger_metrics::{DurationRecorder, SizeRecorder, counters};
use ledger_types::ExecutedBlock;
use std::{sync::Arc, time::Duration};

counters! {
    /// Metrics of commits, updated by the writer thread.
    pub(crate) struct CommitMeter;

    /// Snapshot of the commits since the start of the node.
    #[derive(Clone, Debug)]
    pub struct CommitStatus {
        /// Number of user transactions in each durable block.
        pub block_transactions: SizeRecorder,
        /// Number of blocks in each group that one append made durable.
        pub group_blocks: SizeRecorder,
        /// Duration of each append until its group was durable.
        pub write: DurationRecorder,
        /// Duration of each prune step.
        pub prune: DurationRecorder,
    }
}

impl CommitMeter {
    /// Records a group of blocks that became durable after `duration`.
    pub(crate) fn committed(&self, blocks: &[Arc<ExecutedBlock>], duration: Duration) {
        for block in blocks {
            let transactions = block.transactions.iter();
            let users = transactions.filter(|executed| executed.transaction.as_user().is_some());
            self.block_transactions.record(users.count());
        }
        self.group_blocks.record(blocks.len());
        self.write.record(duration);
    }

    /// Records a prune step that became durable after `duration`.
    pub(crate) fn pruned(&self, duration: Duration) {
        self.prune.record(duration);
    }
}
