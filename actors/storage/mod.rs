//! Storage: the health of the store, the threads that access the disk, and their bounded queues.

pub(crate) mod applier;
pub(crate) mod health;
pub(crate) mod inline_reader;
pub(crate) mod meter;
pub(crate) mod readers;
pub(crate) mod scrubber;
mod write_timer;
pub(crate) mod writer;

use crate::{
    protocol::{
        broadcast::SetPaused,
        commit_queue::CommitQueue,
        committer::CancelWaiters,
        storage::{DiscardBlocks, DiskSpaceChanged, FirstFault, PruneStep, Read, STORAGE},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        mailbox::Recipient,
        timer::TimedActor,
    },
    state::storage_health::StorageHealth,
};
use inline_reader::InlineStore;
use ledger_store::{Query, Snapshot, StoreError};
use readers::{ReadQueues, ReadTurns};

/// Maximum number of queued prune steps. The pruner has at most one in flight.
const PRUNE_STEPS_MAX: usize = 1;

/// Returns the maximum number of jobs of the writer, if at most `blocks_in_flight_max` blocks are
/// in flight.
pub(crate) fn write_jobs_max(blocks_in_flight_max: usize) -> usize {
    blocks_in_flight_max.saturating_add(PRUNE_STEPS_MAX)
}

/// The recipients of the storage's messages.
#[derive(Debug)]
pub(crate) struct StoragePeers {
    pub(crate) committer: Recipient<CancelWaiters>,
    /// Actors that start writes to the disk, in the order of notification.
    pub(crate) paused: Vec<Recipient<SetPaused>>,
}

/// The storage actor, which owns the queues of the writer and of the readers.
///
/// Dropping it revokes the store of the inline reader and disconnects the read queues. The readers
/// end after they have run the queued queries.
pub(crate) struct Storage {
    commits: CommitQueue,
    reads: ReadQueues,
    read_turns: ReadTurns,
    inline_store: InlineStore,
    health: StorageHealth,
    peers: StoragePeers,
    /// Whether the other actors were notified that writes are paused.
    is_paused: bool,
    /// Prune step that waits for the end of the pause. The pruner has at most one in flight.
    waiting_step: Option<PruneStep>,
}

impl Storage {
    /// Creates the actor, which assumes that writes are not paused.
    pub(crate) fn new(
        commits: CommitQueue,
        reads: ReadQueues,
        read_turns: ReadTurns,
        inline_store: InlineStore,
        health: StorageHealth,
        peers: StoragePeers,
    ) -> Self {
        Self {
            commits,
            reads,
            read_turns,
            inline_store,
            health,
            peers,
            is_paused: false,
            waiting_step: None,
        }
    }

    /// Pauses or resumes writes according to the published health. Notifies the other actors if
    /// that is a change.
    fn update_pause(&mut self) {
        let is_paused = self.health.is_paused();
        if std::mem::replace(&mut self.is_paused, is_paused) == is_paused {
            return;
        }
        for receiver in &self.peers.paused {
            receiver.send(SetPaused(is_paused));
        }
        if !is_paused && let Some(step) = self.waiting_step.take() {
            self.commits.prune(step);
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.inline_store.revoke();
    }
}

/// A read of any type. All types have the same label.
type AnyRead = Read<fn(&Snapshot) -> Result<(), StoreError>>;

impl Actor for Storage {
    const NAME: &'static str = STORAGE;
    const CAPACITY: &'static str = "actors.storage.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        AnyRead::LABEL,
        PruneStep::LABEL,
        FirstFault::LABEL,
        DiskSpaceChanged::LABEL,
        DiscardBlocks::LABEL,
    ];
}

impl TimedActor for Storage {}

impl Handler<PruneStep> for Storage {
    /// Queues the step, or holds it back while writes are paused: the pruner may have sent it
    /// before it was notified.
    fn handle(&mut self, step: PruneStep) {
        if self.is_paused {
            self.waiting_step = Some(step);
        } else {
            self.commits.prune(step);
        }
    }
}

impl Handler<DiscardBlocks> for Storage {
    fn handle(&mut self, DiscardBlocks { done }: DiscardBlocks) {
        self.commits.discard();
        self.waiting_step = None;
        // An error means that the receiver was dropped: the stop was canceled.
        let _ = done.send(());
    }
}

impl Handler<FirstFault> for Storage {
    fn handle(&mut self, _: FirstFault) {
        self.peers.committer.send(CancelWaiters);
        self.update_pause();
    }
}

impl Handler<DiskSpaceChanged> for Storage {
    fn handle(&mut self, _: DiskSpaceChanged) {
        self.update_pause();
    }
}

impl<Q: Query> Handler<Read<Q>> for Storage {
    fn handle(&mut self, read: Read<Q>) {
        if !read.reply.is_closed() {
            self.reads.push(&self.read_turns, read);
        }
    }
}

#[cfg(test)]
mod tests;
