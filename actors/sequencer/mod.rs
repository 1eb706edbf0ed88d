//! The sequencer: decides the order of blocks.
//!
//! It pulls: while fewer blocks than may be are ordered and not durable, it asks the mempool for
//! the next batch, and the mempool answers when there is one. How a batch becomes a block is the
//! [`Engine`]'s matter; nothing below knows which one runs.

pub(crate) mod messages;
mod solo;

use crate::{
    SequencerConfig,
    clock::LedgerClock,
    committer::messages::{BlockCommitted, ExecuteBlock},
    mailbox::{Recipient, receives_envelopes},
    mempool::{
        BatchLimits,
        messages::{Batch, PullBatch, SetPaused},
    },
};
use actix::{Actor, AsyncContext, Context, Handler};
use ledger_types::{ChainTip, CheckedTransaction, OrderedBlock};
use messages::{Start, Stop};
use solo::Solo;
use std::{sync::Arc, time::Duration};

/// The actor's name.
pub(crate) const NAME: &str = "sequencer";

/// The most empty blocks that come on top of those in flight: a sequencer that waits for a batch has
/// kept a place for it, and may make one when nothing is in flight.
const HEARTBEATS_MAX: usize = 1;

/// The most blocks that are ordered and not announced.
pub(crate) fn blocks_in_flight_max(config: &SequencerConfig) -> usize {
    config.blocks_in_flight_max.saturating_add(HEARTBEATS_MAX)
}

/// Who decides the order.
#[derive(Debug)]
pub(crate) enum Engine {
    /// This node alone.
    Solo(Solo),
}

impl Engine {
    /// Order by this node alone, after `tip`.
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

/// The actor.
#[derive(Debug)]
pub(crate) struct Sequencer {
    engine: Engine,
    config: SequencerConfig,
    clock: LedgerClock,
    mempool: Recipient<PullBatch>,
    committer: Recipient<ExecuteBlock>,
    /// Where batches are wanted; none before the start and after the stop.
    batches: Option<Recipient<Batch>>,
    /// Whether the mempool owes a batch.
    is_asking: bool,
    /// Blocks that are ordered and not durable.
    in_flight: usize,
    /// Whether no empty block is made, because the disk has little room. The mempool keeps the others.
    is_paused: bool,
    /// Elapsed time at the last block.
    last_block_elapsed_usecs: u64,
}

impl Sequencer {
    pub(crate) fn new(
        engine: Engine,
        config: SequencerConfig,
        clock: LedgerClock,
        mempool: Recipient<PullBatch>,
        committer: Recipient<ExecuteBlock>,
    ) -> Self {
        Self {
            engine,
            config,
            last_block_elapsed_usecs: clock.source().elapsed_usecs(),
            clock,
            mempool,
            committer,
            batches: None,
            is_asking: false,
            in_flight: 0,
            is_paused: false,
        }
    }

    /// Asks for the next batch, if there is room for a block and none was asked for.
    fn ask_if_room(&mut self) {
        if self.is_asking || self.in_flight >= self.config.blocks_in_flight_max {
            return;
        }
        if let Some(batches) = &self.batches {
            self.is_asking = true;
            self.mempool.send(PullBatch {
                limits: BatchLimits {
                    transactions_max: self.config.block_transactions_max,
                    bytes_max: self.config.block_bytes_max,
                },
                reply_to: batches.clone(),
            });
        }
    }

    fn order(&mut self, transactions: Vec<Arc<CheckedTransaction>>) {
        let reading = self.clock.source().read();
        let block = self
            .engine
            .order(transactions, self.clock.observe_at(reading));
        self.clock.record_block(block.timestamp_usecs, reading);
        self.last_block_elapsed_usecs = reading.elapsed_usecs;
        self.in_flight += 1;
        self.committer.send(ExecuteBlock(block));
    }

    /// Makes an empty block when the chain has been idle for too long, by elapsed time: a clock that is set back
    /// does not stop the heartbeat.
    fn beat(&mut self) {
        let idle_usecs = self
            .clock
            .source()
            .elapsed_usecs()
            .saturating_sub(self.last_block_elapsed_usecs);
        let is_due = idle_usecs >= self.config.heartbeat_secs.saturating_mul(1_000_000);
        let may_order = !self.is_paused && self.clock.is_believed();
        if is_due && may_order && self.in_flight == 0 && self.batches.is_some() {
            self.order(Vec::new());
        }
    }
}

impl Actor for Sequencer {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        if self.config.heartbeat_secs > 0 {
            // Looks often enough that a beat is at most a second late.
            context.run_interval(Duration::from_secs(1), |sequencer, _| sequencer.beat());
        }
    }
}

receives_envelopes!(Sequencer);

impl Handler<Start> for Sequencer {
    type Result = ();

    fn handle(&mut self, start: Start, _: &mut Self::Context) {
        self.batches = Some(start.batches);
        self.ask_if_room();
    }
}

impl Handler<Batch> for Sequencer {
    type Result = ();

    fn handle(&mut self, batch: Batch, _: &mut Self::Context) {
        self.is_asking = false;
        if self.batches.is_some() {
            self.order(batch.0);
            self.ask_if_room();
        }
    }
}

impl Handler<BlockCommitted> for Sequencer {
    type Result = ();

    fn handle(&mut self, _: BlockCommitted, _: &mut Self::Context) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.ask_if_room();
    }
}

impl Handler<SetPaused> for Sequencer {
    type Result = ();

    fn handle(&mut self, pause: SetPaused, _: &mut Self::Context) {
        self.is_paused = pause.0;
    }
}

impl Handler<Stop> for Sequencer {
    type Result = ();

    fn handle(&mut self, stop: Stop, _: &mut Self::Context) {
        self.batches = None;
        let _ = stop.done.send(());
    }
}

#[cfg(test)]
mod tests;
