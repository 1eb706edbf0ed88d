//! The committer: has ordered blocks executed and stored, and tells everyone when they are durable.
//!
//! Several blocks are on their way at once, each in one place: waiting for the executor, in it
//! (one at a time), or in the storage. The storage makes all that wait durable in one go.

pub(crate) mod executor;
mod facts;
mod feed;
mod head;
pub(crate) mod messages;
mod state_cache;
mod waiters;

pub(crate) use executor::Executor;
pub(crate) use facts::Facts;
pub use feed::BlockFeed;
pub use head::Head;
pub(crate) use head::{HeadCell, IndexedBlock};
pub(crate) use waiters::WaiterId;
#[cfg(test)]
pub(crate) use waiters::waiter_ids;

use crate::{
    Committed,
    failure::Failure,
    mailbox::{Mailbox, receives_mail},
    mempool::messages::AskAbsent,
    storage::Writes,
    worker::Worker,
};
use actix::{Actor, Context, Handler};
use crossbeam_channel::{Receiver, Sender};
pub(crate) use executor::Job;
use feed::Feed;
use ledger::OrderedBlock;
use messages::{
    Absent, BlockCommitted, BlockStored, Connect, Dropped, Execute, Executed, Finish, Listeners, Subscribe,
    SubscribeBlocks, WaitEnd,
};
use std::{collections::VecDeque, sync::Arc};
use waiters::Waiters;

/// The actor's name.
pub(crate) const NAME: &str = "committer";

/// The actor.
#[derive(Debug)]
pub(crate) struct Committer {
    jobs: Sender<Job>,
    /// Ordered, not given to the executor yet.
    ordered: VecDeque<OrderedBlock>,
    is_executing: bool,
    /// Executed, not announced yet.
    unannounced: VecDeque<Executed>,
    /// All blocks up to this height are durable. It may be told before the block is known here.
    stored_height: u64,
    head: HeadCell,
    waiters: Waiters,
    feed: Feed,
    listeners: Option<Listeners>,
    finish: Option<Finish>,
    failure: Failure,
}

/// The other end of a committer's executor queue, until the executor is started.
#[derive(Debug)]
pub(crate) struct Jobs(Receiver<Job>);

impl Jobs {
    /// Has the executor do them; it tells `committer` what it has executed, and has it written by `writes`.
    pub(crate) fn worker(
        self,
        executor: Executor,
        committer: &Mailbox<Committer>,
        writes: Writes,
        failure: &Failure,
    ) -> Worker<Job> {
        executor.work_on(self.0, (committer.port(), writes), failure)
    }
}

impl Committer {
    /// A committer that publishes to `head`.
    pub(crate) fn new(head: HeadCell, failure: Failure) -> (Self, Jobs) {
        // One job is in flight at a time; the queue only hands it over.
        let (jobs, queue) = crossbeam_channel::bounded(1);
        let stored_height = head.load().ledger_info().block_height;
        let committer = Self {
            jobs,
            ordered: VecDeque::new(),
            is_executing: false,
            unannounced: VecDeque::new(),
            stored_height,
            head,
            waiters: Waiters::new(),
            feed: Feed::new(),
            listeners: None,
            finish: None,
            failure,
        };
        (committer, Jobs(queue))
    }

    /// Gives the executor the next block, if it has none.
    fn execute_next(&mut self) {
        if self.is_executing {
            return;
        }
        let Some(block) = self.ordered.pop_front() else {
            return;
        };
        let job = Job {
            block,
            durable_height: self.head.load().ledger_info().block_height,
        };
        if self.jobs.try_send(job).is_err() {
            self.failure
                .report(NAME, &"the executor takes no block although it has none");
        }
        self.is_executing = true;
    }

    /// Tells everyone of durable blocks, in the order on which waiting rests (design section 3): the
    /// Head, then the mempool, then those who wait. So a look into the mempool that misses finds
    /// the block in the Head, and who subscribes too late to be told finds the mempool told.
    fn announce(&mut self, blocks: &[Executed]) {
        let ledger_info = *self.head.publish(blocks).ledger_info();
        for Executed { block: indexed, .. } in blocks {
            let committed = BlockCommitted(Arc::clone(&indexed.block));
            if let Some(listeners) = &self.listeners {
                listeners.mempool.tell(committed.clone());
                listeners.sequencer.tell(committed.clone());
                listeners.pruner.tell(committed);
            }
        }
        for Executed { block: indexed, .. } in blocks {
            let block = &indexed.block;
            if !self.waiters.is_empty() {
                for (index, executed) in block.transactions.iter().enumerate() {
                    self.waiters.resolve(&executed.hash, || {
                        let committed = Committed::in_block(block, index);
                        WaitEnd::Committed(ledger_info, committed.expect("the index is the block's own"))
                    });
                }
            }
            self.feed.tell(block);
        }
    }

    /// Announces the blocks that are executed and durable, of which the executor and the writer tell in any order.
    fn announce_stored(&mut self) {
        let is_durable = |executed: &&Executed| executed.block.block.height() <= self.stored_height;
        let count = self.unannounced.iter().take_while(is_durable).count();
        if count > 0 {
            let stored: Vec<_> = self.unannounced.drain(..count).collect();
            self.announce(&stored);
        }
        self.finish_if_done();
    }

    /// Answers who waits for the end of the work, if this is it.
    fn finish_if_done(&mut self) {
        let is_done = self.ordered.is_empty() && !self.is_executing && self.unannounced.is_empty();
        if is_done && let Some(Finish { done }) = self.finish.take() {
            let _ = done.send(());
        }
    }
}

impl Actor for Committer {
    type Context = Context<Self>;
}

receives_mail!(Committer);

impl Handler<Connect> for Committer {
    type Result = ();

    fn handle(&mut self, connect: Connect, _: &mut Self::Context) {
        self.listeners = Some(connect.0);
    }
}

impl Handler<Execute> for Committer {
    type Result = ();

    fn handle(&mut self, execute: Execute, _: &mut Self::Context) {
        self.ordered.push_back(execute.0);
        self.execute_next();
    }
}

impl Handler<Executed> for Committer {
    type Result = ();

    fn handle(&mut self, executed: Executed, _: &mut Self::Context) {
        self.is_executing = false;
        self.unannounced.push_back(executed);
        self.execute_next();
        self.announce_stored();
    }
}

impl Handler<BlockStored> for Committer {
    type Result = ();

    fn handle(&mut self, stored: BlockStored, _: &mut Self::Context) {
        self.stored_height = self.stored_height.max(stored.height);
        self.announce_stored();
    }
}

impl Handler<Dropped> for Committer {
    type Result = ();

    fn handle(&mut self, dropped: Dropped, _: &mut Self::Context) {
        for (hash, reason) in dropped.0 {
            self.waiters.resolve(&hash, || WaitEnd::Left(reason.clone()));
        }
    }
}

impl Handler<Subscribe> for Committer {
    type Result = ();

    fn handle(&mut self, subscribe: Subscribe, _: &mut Self::Context) {
        let Subscribe { hash, end } = subscribe;
        if end.is_closed() {
            return;
        }
        let waiter = self.waiters.insert(hash, end);
        // After the insertion, so that the pool is looked into when no commitment can be missed any more.
        if let Some(listeners) = &self.listeners {
            listeners.pool.tell(AskAbsent { hash, waiter });
        }
    }
}

impl Handler<Absent> for Committer {
    type Result = ();

    fn handle(&mut self, absent: Absent, _: &mut Self::Context) {
        let Absent { hash, waiter, reason } = absent;
        self.waiters.dismiss(&hash, waiter, WaitEnd::NotPending(reason));
    }
}

impl Handler<SubscribeBlocks> for Committer {
    type Result = ();

    fn handle(&mut self, subscribe: SubscribeBlocks, _: &mut Self::Context) {
        let _ = subscribe.reply.send(self.feed.subscribe());
    }
}

impl Handler<Finish> for Committer {
    type Result = ();

    fn handle(&mut self, finish: Finish, _: &mut Self::Context) {
        self.finish = Some(finish);
        self.finish_if_done();
    }
}

#[cfg(test)]
mod tests;
