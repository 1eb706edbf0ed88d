//! The sequencer: decides the order of blocks.
//!
//! At most `blocks_in_flight_max` blocks are ordered and not yet durable. The [`Engine`] decides
//! what the next block is: a node alone pulls a batch from the mempool, and several validators
//! agree. No other part of the node depends on the kind of the engine.

pub(crate) mod bft;
mod ordering;
mod solo;

pub(crate) use ordering::SequencerPeers;

use crate::{
    SequencerConfig,
    engine::EngineRequest,
    protocol::{
        broadcast::{BlockCommitted, SetPaused},
        consensus::{BlockChecked, DecisionDurable, TransactionsReady},
        mempool::PullBatch,
        sequencer::{Batch, CheckHeartbeat, Stop},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        timer::{TimedActor, Timer},
    },
    state::{flight_recorder::FlightRecorder, head::HeadReader},
};
use bft::{Bft, BftStart, meter::ProposalMeter, worker::ConsensusJob};
use crossbeam_channel::Sender;
use ledger_types::ChainTip;
use ordering::{NAME, Ordering, batch_limits};
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
    /// Ordering by several validators.
    Bft(Box<Bft>),
}

impl Engine {
    /// Creates an engine that orders blocks on this node alone, after `tip`.
    pub(crate) fn solo(tip: &ChainTip) -> Self {
        Self::Solo(Solo::new(tip))
    }

    /// Creates an engine that continues a chain of several validators.
    pub(crate) fn bft(
        start: BftStart,
        jobs: Sender<ConsensusJob>,
        meter: Arc<ProposalMeter>,
        head: HeadReader,
    ) -> Self {
        Self::Bft(Box::new(Bft::new(start, jobs, meter, head)))
    }
}

/// The sequencer actor.
#[derive(Debug)]
pub(crate) struct Sequencer {
    engine: Engine,
    ordering: Ordering,
    /// Whether a pull of [`Engine::Solo`] is outstanding.
    is_pull_outstanding: bool,
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
            ordering: Ordering {
                config,
                last_block_elapsed_usecs: clock.source().elapsed_usecs(),
                clock,
                recorder,
                reporter,
                peers,
                is_stopped: false,
                in_flight: 0,
                is_paused: false,
            },
            is_pull_outstanding: false,
        }
    }

    /// Pulls the next batch of a node alone, if no pull is outstanding and another block may be in
    /// flight.
    fn pull_if_below_limit(&mut self) {
        let Ordering {
            config,
            peers,
            in_flight,
            is_stopped,
            ..
        } = &self.ordering;
        let is_at_limit = *in_flight >= config.blocks_in_flight_max;
        if *is_stopped || self.is_pull_outstanding || is_at_limit {
            return;
        }
        self.is_pull_outstanding = true;
        peers.mempool.send(PullBatch {
            limits: batch_limits(config),
            is_immediate: false,
            reply_to: peers.batches.clone(),
        });
    }

    /// Continues with the next block, if one may be ordered.
    fn advance(&mut self) {
        match &mut self.engine {
            Engine::Solo(_) => self.pull_if_below_limit(),
            Engine::Bft(bft) => bft.start_next_height(&mut self.ordering),
        }
    }

    /// Orders an empty block if no block was ordered for `heartbeat_secs`.
    fn order_heartbeat_if_due(&mut self) {
        let Self {
            engine, ordering, ..
        } = self;
        let may_order = !ordering.is_stopped && !ordering.is_paused && ordering.clock.is_trusted();
        if !ordering.is_heartbeat_due() || !may_order || ordering.in_flight > 0 {
            return;
        }
        match engine {
            Engine::Solo(solo) => solo.order(Vec::new(), ordering),
            Engine::Bft(bft) => bft.start_next_height(ordering),
        }
    }
}

impl Actor for Sequencer {
    const NAME: &'static str = NAME;
    const CAPACITY: &'static str = "actors.sequencer.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        Batch::LABEL,
        BlockCommitted::LABEL,
        EngineRequest::LABEL,
        BlockChecked::LABEL,
        DecisionDurable::LABEL,
        TransactionsReady::LABEL,
        SetPaused::LABEL,
        Stop::LABEL,
        CheckHeartbeat::LABEL,
    ];

    /// Begins to order blocks. A node runs the sequencer last, so a start that fails has ordered no
    /// block.
    fn started(&mut self) {
        match &mut self.engine {
            Engine::Solo(_) => self.pull_if_below_limit(),
            Engine::Bft(bft) => bft.started(&mut self.ordering),
        }
    }
}

impl TimedActor for Sequencer {
    fn timers(&self) -> Vec<Timer<Self>> {
        if self.ordering.config.heartbeat_secs == 0 {
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
    fn handle(&mut self, Batch(transactions): Batch) {
        let ordering = &mut self.ordering;
        self.is_pull_outstanding = false;
        if ordering.is_stopped {
            return;
        }
        match &mut self.engine {
            Engine::Solo(solo) => solo.order(transactions, ordering),
            Engine::Bft(bft) => return bft.handle_batch(transactions, ordering),
        }
        self.pull_if_below_limit();
    }
}

impl Handler<BlockCommitted> for Sequencer {
    fn handle(&mut self, committed: BlockCommitted) {
        let ordering = &mut self.ordering;
        // A stopped sequencer orders no block, so it needs no count.
        if ordering.is_stopped {
            return;
        }
        match ordering.in_flight.checked_sub(1) {
            Some(in_flight) => ordering.in_flight = in_flight,
            None => return ordering.report(&"a block was committed that was not ordered"),
        }
        if let Engine::Bft(bft) = &mut self.engine {
            bft.record_committed(&committed.block);
        }
        self.advance();
    }
}

impl Handler<SetPaused> for Sequencer {
    fn handle(&mut self, pause: SetPaused) {
        self.ordering.is_paused = pause.0;
        if let Engine::Bft(bft) = &mut self.engine {
            bft.start_next_height(&mut self.ordering);
        }
    }
}

impl Handler<EngineRequest> for Sequencer {
    fn handle(&mut self, request: EngineRequest) {
        // A node alone has no engine that sends requests. A stopped node drops the reply.
        if let Engine::Bft(bft) = &mut self.engine
            && !self.ordering.is_stopped
        {
            bft.handle(request, &mut self.ordering);
        }
    }
}

impl Handler<BlockChecked> for Sequencer {
    fn handle(&mut self, checked: BlockChecked) {
        if let Engine::Bft(bft) = &mut self.engine {
            bft.handle_checked(checked, &mut self.ordering);
        }
    }
}

impl Handler<DecisionDurable> for Sequencer {
    fn handle(&mut self, DecisionDurable { height }: DecisionDurable) {
        if let Engine::Bft(bft) = &mut self.engine
            && !self.ordering.is_stopped
        {
            bft.execute_decided(height, &mut self.ordering);
        }
    }
}

impl Handler<TransactionsReady> for Sequencer {
    fn handle(&mut self, _: TransactionsReady) {
        if let Engine::Bft(bft) = &mut self.engine {
            bft.handle_ready(&mut self.ordering);
        }
    }
}

impl Handler<Stop> for Sequencer {
    fn handle(&mut self, stop: Stop) {
        self.ordering.is_stopped = true;
        // An error means that the receiver was dropped: the stop was canceled.
        let _ = stop.done.send(());
    }
}

#[cfg(test)]
mod tests;
