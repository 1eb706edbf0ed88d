//! The wires of a node: its mailboxes, queues and cells, which exist before the parts that they
//! connect. So each part is constructed complete and waits for no other.
//!
//! `tests/tidy/wiring.rs` compares it with the table of messages in `docs/internals/actors.md`.

use super::{handle::Mailboxes, meters::Meters, renderers::Renderers, wires::*};
use crate::protocol::{
    broadcast::*, committer::*, consensus::*, mempool::*, pruner::*, sequencer::*, storage::*,
};
use crate::{
    committer::CommitterPeers,
    mempool::MempoolPeers,
    protocol::{commit_queue::CommitQueue, durable_reader::ApplyRequests},
    pruner::PrunerPeers,
    runtime::{arbiters::*, fatal::*},
    sequencer::{SequencerPeers, bft::worker::*},
    signatures::SignatureChecks,
    state::{head::*, prune_horizon::*, storage_health::*},
    storage::{health::*, inline_reader::*, readers::*, scrubber::*, writer::*, *},
};
use std::sync::Arc;

/// The wires of a node, each of which belongs to one part or is shared as a clone.
pub(crate) struct Wiring<H: ActorHost> {
    pub(crate) mailboxes: Mailboxes,
    pub(crate) inboxes: Inboxes<H>,
    pub(crate) peers: Peers,
    pub(crate) queues: Queues,
    pub(crate) cells: Cells,
}

impl<H: ActorHost> Wiring<H> {
    /// Creates the wires, with mailboxes of `host`.
    pub(crate) fn new(opened: &Opened, host: &H, reporter: &FatalErrorReporter) -> Self {
        let capacities = &opened.config.mailboxes;
        let (mempool, mempool_inbox) = host.open(ArbiterGroup::Mempool, capacities.mempool);
        let (sequencer, sequencer_inbox) = host.open(ArbiterGroup::Commit, capacities.sequencer);
        let (committer, committer_inbox) = host.open(ArbiterGroup::Commit, capacities.committer);
        let (storage, storage_inbox) = host.open(ArbiterGroup::Storage, capacities.storage);
        let (pruner, pruner_inbox) = host.open(ArbiterGroup::Storage, capacities.pruner);
        let mailboxes = Mailboxes {
            mempool,
            sequencer,
            committer,
            storage,
            pruner,
            meters: Arc::new(opened.meters()),
        };
        Self {
            inboxes: Inboxes {
                mempool: mempool_inbox,
                sequencer: sequencer_inbox,
                committer: committer_inbox,
                storage: storage_inbox,
                pruner: pruner_inbox,
            },
            peers: peers(&mailboxes, opened),
            queues: queues(opened, &mailboxes.meters, reporter),
            cells: cells(opened, &mailboxes),
            mailboxes,
        }
    }
}

/// Returns the recipients of the messages of each part.
fn peers(to: &Mailboxes, opened: &Opened) -> Peers {
    Peers {
        mempool: MempoolPeers {
            removals: to.committer.recipient::<TransactionsRemoved>(),
            not_pending: to.committer.recipient::<NotPending>(),
            relay: opened.relay.clone(),
        },
        sequencer: SequencerPeers {
            mempool: to.mempool.recipient::<PullBatch>(),
            // The mempool sends its answers to the recipients in the requests.
            batches: to.sequencer.recipient::<Batch>(),
            watch_ready: to.mempool.recipient::<WatchReady>(),
            ready: to.sequencer.recipient::<TransactionsReady>(),
            decided: to.mempool.recipient::<TransactionsDecided>(),
            returned: to.mempool.recipient::<ReturnBatch>(),
            committer: to.committer.recipient::<ExecuteBlock>(),
        },
        committer: CommitterPeers {
            pool: to.mempool.recipient::<CheckPending>(),
            // The mempool is first, so it handles a block before the next pull of the sequencer.
            committed: vec![
                to.mempool.recipient::<BlockCommitted>(),
                to.sequencer.recipient::<BlockCommitted>(),
                to.pruner.recipient::<BlockCommitted>(),
            ],
        },
        storage: StoragePeers {
            committer: to.committer.recipient::<CancelWaiters>(),
            paused: vec![
                to.mempool.recipient::<SetPaused>(),
                to.sequencer.recipient::<SetPaused>(),
                to.pruner.recipient::<SetPaused>(),
            ],
        },
        pruner: PrunerPeers {
            storage: to.storage.recipient::<PruneStep>(),
        },
        writer: WriterPeers {
            committer: to.committer.recipient::<BlocksDurable>(),
            pruner: to.pruner.recipient::<PruneDone>(),
        },
        scrubber: ScrubberPeers {
            storage: to.storage.recipient::<ScrubDone>(),
        },
        consensus_log: ConsensusLogPeers {
            checked: to.sequencer.recipient::<BlockChecked>(),
            decisions: to.sequencer.recipient::<DecisionDurable>(),
        },
    }
}

/// Creates the queues of the threads.
fn queues(opened: &Opened, meters: &Meters, reporter: &FatalErrorReporter) -> Queues {
    let config = &opened.config;
    let blocks_max = opened.blocks_in_flight_max();
    let reads_max = config.storage.read_queue_capacity;
    let (work, costs, point) = (&config.work, &meters.costs, &meters.point_reader);
    Queues {
        ordered: crossbeam_channel::bounded(blocks_max),
        commits: CommitQueue::new(write_jobs_max(blocks_max), reporter.clone()),
        applies: ApplyRequests::new(),
        reads: ReadQueues::new(reads_max, work, costs, point, &meters.readers),
        // The storage requests a pass after the end of the one before.
        passes: crossbeam_channel::bounded(1),
        signatures: SignatureChecks::new(&config.signatures),
        renderers: Renderers::new(work, Arc::clone(costs), Arc::clone(&meters.renderers)),
        consensus: crossbeam_channel::bounded(JOBS_MAX),
    }
}

/// Creates the cells. Each is written by one part, or by compare-and-swap.
fn cells(opened: &Opened, to: &Mailboxes) -> Cells {
    let horizon = PruneHorizonPublisher::new(Horizon::of(&opened.ledger_info));
    Cells {
        head: HeadPublisher::new(opened.ledger_info, horizon.horizon()),
        horizon,
        health: HealthReporter::new(
            StorageHealthPublisher::default(),
            to.storage.recipient::<FirstFault>(),
            to.storage.recipient::<DiskSpaceChanged>(),
        ),
        inline_store: InlineStore::new(opened.reader.clone()),
        size: Default::default(),
    }
}
