//! Storage: the health of the store, the threads that access the disk, and their bounded queues.

pub(crate) mod applier;
pub(crate) mod health;
pub(crate) mod inline_reader;
pub(crate) mod meter;
pub(crate) mod readers;
pub(crate) mod scrub_schedule;
pub(crate) mod scrubber;
mod write_timer;
pub(crate) mod writer;

use crate::{
    protocol::{
        broadcast::SetPaused,
        commit_queue::CommitQueue,
        committer::CancelWaiters,
        storage::{
            CheckScrub, DiscardBlocks, DiskSpaceChanged, FirstFault, PruneStep, Read, STORAGE,
            ScrubDone,
        },
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        mailbox::Recipient,
        timer::{TimedActor, Timer},
    },
    state::storage_health::StorageHealth,
};
use inline_reader::InlineStore;
use ledger_store::{Query, Snapshot, StoreError};
use readers::{ReadQueues, ReadTurns};
use scrub_schedule::{CHECK_INTERVAL, ScrubSchedule};

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

/// The storage actor, which owns the queues of the writer, of the readers and of the scrubber.
///
/// Dropping it revokes the store of the inline reader and disconnects the queues. The readers end
/// after they have run the queued queries, the scrubber at its next read.
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
    /// `None` if scrubbing is off.
    scrub_schedule: Option<ScrubSchedule>,
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
        scrub_schedule: Option<ScrubSchedule>,
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
            scrub_schedule,
        }
    }

    /// Begins a pass of the scrubber if one is due.
    fn check_scrub(&mut self) {
        if let Some(schedule) = &mut self.scrub_schedule {
            schedule.check();
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
        CheckScrub::LABEL,
        ScrubDone::LABEL,
    ];

    fn started(&mut self) {
        self.check_scrub();
    }
}

impl TimedActor for Storage {
    fn timers(&self) -> Vec<Timer<Self>> {
        match self.scrub_schedule {
            Some(_) => vec![Timer::every(CHECK_INTERVAL, CheckScrub)],
            None => Vec::new(),
        }
    }
}

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

impl Handler<CheckScrub> for Storage {
    fn handle(&mut self, CheckScrub(turn): CheckScrub) {
        self.check_scrub();
        drop(turn);
    }
}

impl Handler<ScrubDone> for Storage {
    fn handle(&mut self, ScrubDone { is_complete }: ScrubDone) {
        if let Some(schedule) = &mut self.scrub_schedule {
            schedule.end_pass(is_complete);
        }
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
