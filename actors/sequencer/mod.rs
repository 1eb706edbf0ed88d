//! The sequencer: decides the order of blocks.
//!
//! While fewer than `blocks_in_flight_max` blocks are ordered and not yet durable, it pulls the
//! next batch from the mempool. The mempool replies once it has transactions. The [`Engine`]
//! turns a batch into a block. No other part of the node depends on the kind of the engine.

mod solo;

use crate::{
    SequencerConfig,
    protocol::{
        broadcast::{BlockCommitted, SetPaused},
        committer::ExecuteBlock,
        mempool::{BatchLimits, PullBatch},
        sequencer::{Batch, CheckHeartbeat, Stop},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        mailbox::Recipient,
        timer::{TimedActor, Timer},
    },
    state::flight_recorder::FlightRecorder,
};
use ledger_types::{ChainTip, CheckedTransaction, OrderedBlock};
use solo::Solo;
use std::{sync::Arc, time::Duration};

/// Maximum number of heartbeat blocks in addition to the blocks in flight.
///
/// If no block is in flight, the sequencer may order a heartbeat block while the mempool owes it
/// a batch, and it orders that batch as well.
const HEARTBEATS_MAX: usize = 1;

/// Interval at which the sequencer checks whether a heartbeat is due. A heartbeat is at most this
/// late.
const HEARTBEAT_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the maximum number of blocks that are ordered and not yet durable, including a
/// heartbeat block.
pub(crate) fn blocks_in_flight_max(config: &SequencerConfig) -> usize {
    config.blocks_in_flight_max.saturating_add(HEARTBEATS_MAX)
}

/// The algorithm that decides the order of blocks.
#[derive(Debug)]
pub(crate) enum Engine {
    /// Ordering by this node alone.
    Solo(Solo),
}

impl Engine {
    /// Creates an engine that orders blocks on this node alone, after `tip`.
    pub(crate) fn solo(tip: &ChainTip) -> Self {
        Self::Solo(Solo::new(tip))
    }

    fn order(
        &mut self,
        transactions: Vec<Arc<CheckedTransaction>>,
        now_usecs: u64,
    ) -> OrderedBlock {
        match self {
            Self::Solo(solo) => solo.order(transactions, now_usecs),
        }
    }
}

/// The recipients of the sequencer's messages, and of the replies to them.
#[derive(Debug)]
pub(crate) struct SequencerPeers {
    pub(crate) mempool: Recipient<PullBatch>,
    pub(crate) committer: Recipient<ExecuteBlock>,
    /// The sequencer itself, to which the mempool sends the batches.
    pub(crate) batches: Recipient<Batch>,
}

/// The sequencer actor.
#[derive(Debug)]
pub(crate) struct Sequencer {
    engine: Engine,
    config: SequencerConfig,
    clock: LedgerClock,
    recorder: FlightRecorder,
    reporter: FatalErrorReporter,
    peers: SequencerPeers,
    is_stopped: bool,
    /// Whether a pull is outstanding.
    is_pull_outstanding: bool,
    /// Number of blocks that are ordered and not yet durable.
    in_flight: usize,
    /// Whether heartbeats are paused because disk space is low. The mempool withholds batches
    /// itself.
    is_paused: bool,
    /// Elapsed time at the last block.
    last_block_elapsed_usecs: u64,
}

impl Sequencer {
    pub(crate) fn new(
        engine: Engine,
        config: SequencerConfig,
        clock: LedgerClock,
        recorder: FlightRecorder,
        reporter: FatalErrorReporter,
        peers: SequencerPeers,
    ) -> Self {
        Self {
            engine,
            config,
            last_block_elapsed_usecs: clock.source().elapsed_usecs(),
            clock,
            recorder,
            reporter,
            peers,
            is_stopped: false,
            is_pull_outstanding: false,
            in_flight: 0,
            is_paused: false,
        }
    }

    /// Pulls the next batch if no pull is outstanding and another block may be in flight.
    fn pull_if_below_limit(&mut self) {
        let is_at_limit = self.in_flight >= self.config.blocks_in_flight_max;
        if self.is_stopped || self.is_pull_outstanding || is_at_limit {
            return;
        }
        self.is_pull_outstanding = true;
        self.peers.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: self.config.block_transactions_max,
                bytes_max: self.config.block_bytes_max,
                usecs_max: self.config.block_time_max_ms.saturating_mul(1_000),
            },
            reply_to: self.peers.batches.clone(),
        });
    }

    fn order(&mut self, transactions: Vec<Arc<CheckedTransaction>>) {
        let reading = self.clock.source().read();
        let block = self
            .engine
            .order(transactions, self.clock.observe_at(reading));
        self.clock.record_block(block.timestamp_usecs, reading);
        self.last_block_elapsed_usecs = reading.elapsed_usecs;
        self.in_flight += 1;
        let sizes = block.transactions.iter().map(|user| user.size_bytes());
        self.recorder
            .record_ordered(block.height, sizes.len(), sizes.sum());
        self.peers.committer.send(ExecuteBlock(block));
    }

    /// Orders an empty block if no block was ordered for `heartbeat_secs`.
    ///
    /// The idle time is elapsed time, so that a clock that is set back does not stop the heartbeat.
    fn order_heartbeat_if_due(&mut self) {
        let idle_usecs = self
            .clock
            .source()
            .elapsed_usecs()
            .saturating_sub(self.last_block_elapsed_usecs);
        let is_due = idle_usecs >= self.config.heartbeat_secs.saturating_mul(1_000_000);
        let may_order = !self.is_stopped && !self.is_paused && self.clock.is_trusted();
        if is_due && may_order && self.in_flight == 0 {
            self.order(Vec::new());
        }
    }
}

impl Actor for Sequencer {
    const NAME: &'static str = "sequencer";
    const CAPACITY: &'static str = "actors.sequencer.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        Batch::LABEL,
        BlockCommitted::LABEL,
        SetPaused::LABEL,
        Stop::LABEL,
        CheckHeartbeat::LABEL,
    ];

    /// Pulls the first batch. A node runs the sequencer last, so a start that fails has ordered no
    /// block.
    fn started(&mut self) {
        self.pull_if_below_limit();
    }
}

impl TimedActor for Sequencer {
    fn timers(&self) -> Vec<Timer<Self>> {
        if self.config.heartbeat_secs == 0 {
            return Vec::new();
        }
        vec![Timer::every(HEARTBEAT_CHECK_INTERVAL, CheckHeartbeat)]
    }
}

impl Handler<CheckHeartbeat> for Sequencer {
    fn handle(&mut self, CheckHeartbeat(turn): CheckHeartbeat) {
        self.order_heartbeat_if_due();
        drop(turn);
    }
}

impl Handler<Batch> for Sequencer {
    fn handle(&mut self, batch: Batch) {
        self.is_pull_outstanding = false;
        if !self.is_stopped {
            self.order(batch.0);
            self.pull_if_below_limit();
        }
    }
}

impl Handler<BlockCommitted> for Sequencer {
    fn handle(&mut self, _: BlockCommitted) {
        // A stopped sequencer orders no block, so it needs no count.
        if self.is_stopped {
            return;
        }
        match self.in_flight.checked_sub(1) {
            Some(in_flight) => {
                self.in_flight = in_flight;
                self.pull_if_below_limit();
            }
            None => self
                .reporter
                .report(Self::NAME, &"a block was committed that was not ordered"),
        }
    }
}

impl Handler<SetPaused> for Sequencer {
    fn handle(&mut self, pause: SetPaused) {
        self.is_paused = pause.0;
    }
}

impl Handler<Stop> for Sequencer {
    fn handle(&mut self, stop: Stop) {
        self.is_stopped = true;
        // An error means that the receiver was dropped: the stop was canceled.
        let _ = stop.done.send(());
    }
}

#[cfg(test)]
mod tests;
