//! The committer: sends ordered blocks to the executor, publishes durable blocks, completes waits.
//!
//! Several blocks are in flight concurrently: queued for the executor, in execution (one block), or
//! queued for the writer thread. The writer appends all queued blocks to the write-ahead log (WAL)
//! as one group, and sends them to the committer once they are durable.

pub(crate) mod executor;
mod many_waiters;
mod state_cache;
mod waiters;

use crate::{
    protocol::{
        broadcast::{BlockCommitted, GroupEnd},
        committer::{
            BlocksDurable, CancelWaiters, ExecuteBlock, Finish, NotPending, Subscribe,
            SubscribeVersion, TransactionsRemoved, Unsubscribe, Wait,
        },
        mempool::{CheckPending, Removed},
        notifier::DurableBlock,
        wait::{Hashes, WaitOutcome, WaiterId},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        fatal::FatalErrorReporter,
        mailbox::Recipient,
        timer::TimedActor,
    },
    state::{
        committed::BlockHandle,
        flight_recorder::{BlockStage, FlightRecorder},
        head::HeadPublisher,
        storage_health::StorageHealth,
    },
};
pub(crate) use executor::Executor;

use crossbeam_channel::{Sender, TrySendError};
use ledger_types::OrderedBlock;
use std::{iter::repeat, sync::Arc};
use waiters::Waiters;

/// The recipients of the committer's messages.
#[derive(Debug)]
pub(crate) struct CommitterPeers {
    pub(crate) pool: Recipient<CheckPending>,
    /// Receivers of each durable block, in the order of notification.
    pub(crate) committed: Vec<Recipient<BlockCommitted>>,
}

/// The committer actor.
#[derive(Debug)]
pub(crate) struct Committer {
    /// Queue of the executor.
    executor: Sender<OrderedBlock>,
    peers: CommitterPeers,
    /// Height of the newest ordered block. The blocks above the Head are in flight.
    newest_ordered: u64,
    head: HeadPublisher,
    waiters: Waiters,
    /// Pending request to reply once no block is in flight.
    finish: Option<Finish>,
    health: StorageHealth,
    recorder: FlightRecorder,
    reporter: FatalErrorReporter,
}

impl Committer {
    /// Creates the actor. A block beyond the capacity of the queue `executor` breaks an invariant,
    /// which is reported to `reporter`.
    pub(crate) fn new(
        executor: Sender<OrderedBlock>,
        head: HeadPublisher,
        peers: CommitterPeers,
        health: StorageHealth,
        recorder: FlightRecorder,
        reporter: FatalErrorReporter,
    ) -> Self {
        Self {
            executor,
            peers,
            newest_ordered: head.load().ledger_info().block_height,
            head,
            waiters: Waiters::new(),
            finish: None,
            health,
            recorder,
            reporter,
        }
    }

    /// Publishes durable blocks: in the Head, then to the receivers of [`BlockCommitted`], then to
    /// the waiters.
    ///
    /// Look-ups and waits depend on the order, see `node/wait.rs`.
    fn publish_blocks(&mut self, durable: BlocksDurable) {
        let BlocksDurable {
            blocks,
            wal_blocks,
            write_usecs,
        } = durable;
        let blocks = &blocks[..];
        // The previous Head references blocks that the new Head drops. It defers freeing them until
        // the waiters are notified, because that takes time.
        let _previous_head = self.head.load();
        let ledger_info = *self.head.publish(blocks).ledger_info();
        let heights = blocks.iter().map(|indexed| indexed.block().height());
        self.recorder.record(BlockStage::Visible, heights);
        for (number, indexed) in (1..).zip(blocks) {
            for receiver in &self.peers.committed {
                receiver.send(BlockCommitted {
                    block: Arc::clone(indexed.block()),
                    execution_usecs: indexed.execution_usecs(),
                    group_end: (number == blocks.len()).then_some(GroupEnd { write_usecs }),
                });
            }
        }
        let wal_blocks = wal_blocks.into_iter().map(Arc::new).map(Some);
        for (indexed, wal_block) in blocks.iter().zip(wal_blocks.chain(repeat(None))) {
            let block = indexed.block();
            if !self.waiters.is_empty() {
                let block = Arc::new(BlockHandle {
                    block: Arc::clone(block),
                    wal_block,
                });
                let durable = DurableBlock { ledger_info, block };
                self.waiters.notify_block(&durable);
            }
        }
    }

    /// Replies to [`Finish`] if all ordered blocks are published or discarded, or if a fault of the
    /// disk prevents further blocks from becoming durable.
    fn finish_if_done(&mut self) {
        let Self {
            head,
            health,
            newest_ordered,
            ..
        } = &*self;
        let is_visible = || head.load().ledger_info().block_height >= *newest_ordered;
        let is_over = self.finish.as_ref().is_some_and(|finish| {
            finish.are_blocks_discarded || is_visible() || health.failed().is_some()
        });
        let finish = self.finish.take_if(|_| is_over);
        if let Some(Finish { done, .. }) = finish {
            // An error means that the receiver was dropped: the stop was canceled.
            let _ = done.send(());
        }
    }
}

impl Actor for Committer {
    const NAME: &'static str = "committer";
    const CAPACITY: &'static str = "actors.committer.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        ExecuteBlock::LABEL,
        BlocksDurable::LABEL,
        TransactionsRemoved::LABEL,
        CancelWaiters::LABEL,
        Subscribe::LABEL,
        Unsubscribe::LABEL,
        SubscribeVersion::LABEL,
        NotPending::LABEL,
        Finish::LABEL,
    ];
}

impl TimedActor for Committer {}

impl Handler<ExecuteBlock> for Committer {
    fn handle(&mut self, execute: ExecuteBlock) {
        self.newest_ordered = execute.0.height;
        // A disconnected queue needs no report: the executor reported the failure that ended it.
        if let Err(TrySendError::Full(_)) = self.executor.try_send(execute.0) {
            self.reporter
                .report(Self::NAME, &"the queue of the executor is full");
        }
    }
}

impl Handler<BlocksDurable> for Committer {
    fn handle(&mut self, durable: BlocksDurable) {
        self.publish_blocks(durable);
        self.finish_if_done();
    }
}

impl Handler<TransactionsRemoved> for Committer {
    fn handle(&mut self, TransactionsRemoved(removed): TransactionsRemoved) {
        for Removed { hash, reason } in &removed {
            self.waiters
                .complete_all(hash, || WaitOutcome::Removed(reason.clone()));
        }
        self.waiters.many.remove_all(&removed);
    }
}

impl Handler<Subscribe> for Committer {
    fn handle(&mut self, subscribe: Subscribe) {
        let Subscribe { wait, notifier } = subscribe;
        let (hashes, waiter) = match wait {
            Wait::One { hash, reply } => {
                // After a fault of the disk no block becomes durable. Dropping the reply cancels
                // the wait.
                if reply.is_closed() || self.health.failed().is_some() {
                    return;
                }
                let waiter = self.waiters.insert(hash, reply, notifier);
                (Hashes::One(hash), waiter)
            }
            // After a fault of the disk, the wait ends when the mempool has checked its hashes.
            Wait::Many { id, hashes, events } => {
                if events.is_closed() {
                    return;
                }
                let many = &mut self.waiters.many;
                many.insert(id, Arc::clone(&hashes), events, notifier);
                (Hashes::Many(hashes), WaiterId::Many(id))
            }
        };
        // After the insertion, because from then on no commitment of the transactions can be
        // missed.
        self.peers.pool.send(CheckPending { hashes, waiter });
    }
}

impl Handler<Unsubscribe> for Committer {
    fn handle(&mut self, Unsubscribe(id): Unsubscribe) {
        let ledger_info = *self.head.load().ledger_info();
        self.waiters.many.end(id, ledger_info);
    }
}

impl Handler<SubscribeVersion> for Committer {
    fn handle(&mut self, subscribe: SubscribeVersion) {
        let SubscribeVersion {
            version,
            reply,
            notifier,
        } = subscribe;
        // Only this actor publishes the Head, so no version is reached between this comparison and
        // the insertion.
        if self.head.load().ledger_info().version >= version {
            // An error means that the receiver was dropped: the wait was canceled.
            let _ = reply.send(());
            return;
        }
        // After a fault of the disk no block becomes durable. Dropping the reply cancels the wait.
        if reply.is_closed() || self.health.failed().is_some() {
            return;
        }
        self.waiters.insert_version(version, reply, notifier);
    }
}

impl Handler<NotPending> for Committer {
    fn handle(&mut self, not_pending: NotPending) {
        let NotPending {
            hashes,
            waiter,
            absent,
        } = not_pending;
        match waiter {
            WaiterId::One(_) => {
                for (hash, absent) in hashes.iter().zip(absent) {
                    let outcome = WaitOutcome::NotPending(absent.reason);
                    self.waiters.complete(hash, waiter, outcome);
                }
            }
            WaiterId::Many(id) => {
                let ledger_info = *self.head.load().ledger_info();
                let many = &mut self.waiters.many;
                many.end_check(id, absent, ledger_info.version);
                if self.health.failed().is_some() {
                    many.end(id, ledger_info);
                }
            }
        }
    }
}

impl Handler<CancelWaiters> for Committer {
    fn handle(&mut self, _: CancelWaiters) {
        let ledger_info = *self.head.load().ledger_info();
        self.waiters.cancel_all(ledger_info);
        self.finish_if_done();
    }
}

impl Handler<Finish> for Committer {
    fn handle(&mut self, finish: Finish) {
        self.finish = Some(finish);
        self.finish_if_done();
    }
}

#[cfg(test)]
mod tests;
