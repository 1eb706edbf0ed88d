//! The types of the wires of a node, and the opened store for which they are created.

use super::{
    meters::Meters,
    renderers::{Renderers, RenderersGuard},
};
use crate::{
    NodeConfig,
    committer::{Committer, CommitterPeers},
    mempool::{Mempool, MempoolPeers, Pool},
    protocol::{
        commit_queue::{CommitQueue, WriteJobs},
        durable_reader::{ApplyRequest, ApplyRequests},
    },
    pruner::{Pruner, PrunerPeers},
    relay::RelaySender,
    runtime::{arbiters::ActorHost, clock::LedgerClock, work_queue::JobTurn},
    sequencer::{
        Sequencer, SequencerPeers,
        bft::{
            BftStart,
            worker::{ConsensusJob, ConsensusLogPeers},
        },
        blocks_in_flight_max,
    },
    signatures::{SignatureChecks, SignatureQueues},
    state::{
        directory_size::DirectorySize, head::HeadPublisher, prune_horizon::PruneHorizonPublisher,
    },
    storage::{
        Storage, StoragePeers,
        health::HealthReporter,
        inline_reader::InlineStore,
        readers::{ReadQueues, ReadTurns, ReaderTurns},
        scrubber::{BeginPass, ScrubberPeers},
        writer::WriterPeers,
    },
};
use crossbeam_channel::{Receiver, Sender};
use ledger_store::{ConsensusLog, StoreFiles, StoreReader, StoreScrubber, StoreWriter, UsageMeter};
use ledger_types::{ChainTip, LedgerInfo, OrderedBlock};
use ledger_vm::Chain;
use std::sync::Arc;

/// An opened store, and the values that a node begins with.
pub(crate) struct Opened {
    pub(crate) chain: Chain,
    pub(crate) config: NodeConfig,
    pub(crate) clock: LedgerClock,
    pub(crate) pool: Pool,
    pub(crate) writer: StoreWriter,
    pub(crate) reader: StoreReader,
    pub(crate) files: StoreFiles,
    pub(crate) scrubber: StoreScrubber,
    /// Size of the store's content.
    pub(crate) usage: UsageMeter,
    pub(crate) tip: ChainTip,
    pub(crate) ledger_info: LedgerInfo,
    /// `None` on a chain of one node.
    pub(crate) consensus: Option<OpenedConsensus>,
    /// `None` on a chain of one node.
    pub(crate) relay: Option<RelaySender>,
}

/// The consensus log, and what it holds.
#[derive(Debug)]
pub(crate) struct OpenedConsensus {
    pub(crate) start: BftStart,
    pub(crate) log: ConsensusLog,
}

impl Opened {
    /// Returns the maximum number of blocks that are ordered and not yet durable. The consensus log
    /// may hold more decided blocks than the configuration allows now, and all of them are executed
    /// at the start.
    pub(super) fn blocks_in_flight_max(&self) -> usize {
        let decided = |consensus: &OpenedConsensus| consensus.start.decided.len();
        let decided = self.consensus.as_ref().map_or(0, decided);
        blocks_in_flight_max(&self.config.sequencer).max(decided)
    }

    /// Creates the metrics of the node.
    pub(super) fn meters(&self) -> Meters {
        Meters::new(
            self.config.storage.readers,
            self.clock.source().clone(),
            Arc::clone(self.pool.cost_model()),
            self.usage.clone(),
            self.writer.sync_timer(),
        )
    }
}

/// Returns the values of a node without pending transactions.
#[cfg(test)]
pub(super) fn opened(
    chain: Chain,
    store: ledger_store::Store,
    config: NodeConfig,
    clock: LedgerClock,
) -> Opened {
    let (files, scrubber) = (store.files(), store.scrubber());
    let (writer, reader) = store.split();
    Opened {
        pool: Pool::new(config.mempool.clone()),
        tip: reader.chain_tip().unwrap(),
        ledger_info: *reader.snapshot().unwrap().ledger_info(),
        usage: UsageMeter::default(),
        chain,
        config,
        clock,
        writer,
        reader,
        files,
        scrubber,
        consensus: None,
        relay: None,
    }
}

/// The receiving sides of the mailboxes.
pub(crate) struct Inboxes<H: ActorHost> {
    pub(super) mempool: H::Inbox<Mempool>,
    pub(super) sequencer: H::Inbox<Sequencer>,
    pub(super) committer: H::Inbox<Committer>,
    pub(super) storage: H::Inbox<Storage>,
    pub(super) pruner: H::Inbox<Pruner>,
}

/// The recipients of the messages of each part.
pub(crate) struct Peers {
    pub(super) mempool: MempoolPeers,
    pub(super) sequencer: SequencerPeers,
    pub(super) committer: CommitterPeers,
    pub(super) storage: StoragePeers,
    pub(super) pruner: PrunerPeers,
    pub(super) writer: WriterPeers,
    pub(super) scrubber: ScrubberPeers,
    pub(super) consensus_log: ConsensusLogPeers,
}

/// The sending and the receiving sides of the queues.
pub(crate) struct Queues {
    /// From the committer to the executor.
    pub(super) ordered: (Sender<OrderedBlock>, Receiver<OrderedBlock>),
    /// From the executor and the storage to the writer.
    pub(super) commits: (CommitQueue, WriteJobs),
    /// From the threads that read durable blocks to the applier.
    pub(super) applies: (ApplyRequests, Receiver<ApplyRequest>),
    /// From the storage to the readers.
    pub(super) reads: (ReadQueues, ReadTurns, ReaderTurns),
    /// From the storage to the scrubber.
    pub(super) passes: (Sender<BeginPass>, Receiver<BeginPass>),
    /// From the handle to the signature threads.
    pub(super) signatures: (SignatureChecks, SignatureQueues),
    /// From the handle to the renderers.
    pub(super) renderers: (Renderers, RenderersGuard, Receiver<JobTurn>),
    /// From the sequencer to the thread of the consensus log.
    pub(super) consensus: (Sender<ConsensusJob>, Receiver<ConsensusJob>),
}

/// The published values.
pub(crate) struct Cells {
    /// Written by the committer.
    pub(super) head: HeadPublisher,
    /// Written by the writer.
    pub(super) horizon: PruneHorizonPublisher,
    /// Written by the threads that meet a fault or measure the disk.
    pub(super) health: HealthReporter,
    /// Revoked by the storage.
    pub(super) inline_store: InlineStore,
    /// Written by mempool and pruner.
    pub(super) size: DirectorySize,
}
