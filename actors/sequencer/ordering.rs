//! The part of the sequencer that does not depend on its engine.

use crate::{
    SequencerConfig,
    protocol::{
        committer::ExecuteBlock,
        consensus::{ReturnBatch, TransactionsDecided, TransactionsReady, WatchReady},
        mempool::{BatchLimits, PullBatch},
        sequencer::Batch,
    },
    runtime::{
        clock::{ClockReading, LedgerClock},
        fatal::FatalErrorReporter,
        mailbox::Recipient,
    },
    state::flight_recorder::FlightRecorder,
};
use ledger_types::OrderedBlock;

/// Name of the sequencer.
pub(super) const NAME: &str = "sequencer";

/// Returns the limits of the batch of a block.
pub(super) fn batch_limits(config: &SequencerConfig) -> BatchLimits {
    BatchLimits {
        transactions_max: config.block_transactions_max,
        bytes_max: config.block_bytes_max,
        usecs_max: config.block_time_max_ms.saturating_mul(1_000),
    }
}

/// The recipients of the sequencer's messages, and of the replies to them.
#[derive(Debug)]
pub(crate) struct SequencerPeers {
    pub(crate) mempool: Recipient<PullBatch>,
    pub(crate) committer: Recipient<ExecuteBlock>,
    /// The sequencer itself, to which the mempool sends the batches.
    pub(crate) batches: Recipient<Batch>,
    pub(crate) watch_ready: Recipient<WatchReady>,
    /// The sequencer itself, which the mempool notifies of a ready transaction.
    pub(crate) ready: Recipient<TransactionsReady>,
    pub(crate) decided: Recipient<TransactionsDecided>,
    pub(crate) returned: Recipient<ReturnBatch>,
}

/// The part of the sequencer that does not depend on the engine.
#[derive(Debug)]
pub(crate) struct Ordering {
    pub(super) config: SequencerConfig,
    pub(super) clock: LedgerClock,
    pub(super) recorder: FlightRecorder,
    pub(super) reporter: FatalErrorReporter,
    pub(super) peers: SequencerPeers,
    pub(super) is_stopped: bool,
    /// Number of blocks that are ordered and not yet durable.
    pub(super) in_flight: usize,
    /// Whether heartbeats are paused because disk space is low. The mempool withholds batches
    /// itself.
    pub(super) is_paused: bool,
    /// Elapsed time at the last block.
    pub(super) last_block_elapsed_usecs: u64,
}

impl Ordering {
    /// Sends the next block to the committer. `reading` is the one at which it was ordered.
    pub(super) fn execute_at(&mut self, block: OrderedBlock, reading: ClockReading) {
        self.clock.record_block(block.timestamp_usecs, reading);
        self.last_block_elapsed_usecs = reading.elapsed_usecs;
        self.in_flight += 1;
        let sizes = block.transactions.iter().map(|user| user.size_bytes());
        self.recorder
            .record_ordered(block.height, sizes.len(), sizes.sum());
        self.peers.committer.send(ExecuteBlock(block));
    }

    /// Returns whether no block was ordered for `heartbeat_secs`.
    ///
    /// The idle time is elapsed time, so that a clock that is set back does not stop the heartbeat.
    pub(super) fn is_heartbeat_due(&self) -> bool {
        let idle_usecs = self
            .clock
            .source()
            .elapsed_usecs()
            .saturating_sub(self.last_block_elapsed_usecs);
        let heartbeat_usecs = self.config.heartbeat_secs.saturating_mul(1_000_000);
        heartbeat_usecs > 0 && idle_usecs >= heartbeat_usecs
    }

    /// Reports a broken invariant.
    pub(super) fn report(&self, cause: &dyn std::fmt::Display) {
        self.reporter.report(NAME, cause);
    }
}
