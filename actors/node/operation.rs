//! Status of a node and changes while it runs, for its operator.

use super::{
    handle::{Mailboxes, NodeHandle, RequestQueues},
    meters::MeterStatus,
    stalls::Stall,
};
use crate::{
    FlightRecorder, LaneStatus, MailboxStatus, TuneError,
    runtime::{
        mailbox::MailboxControl,
        progress::{Progress, QueueProgress, Watch},
        work_queue::{Budget, BudgetStatus},
    },
    storage::readers::ReadQueues,
};
use ledger_store::StoreUsage;
use std::{collections::BTreeMap, sync::Arc};

impl Mailboxes {
    /// Returns the mailbox of the actor with this name.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::UnknownActor`] if there is no such actor.
    fn find(&self, actor: &str) -> Result<&dyn MailboxControl, TuneError> {
        let all = self.all();
        let found = all.into_iter().find(|mailbox| mailbox.actor() == actor);
        found.ok_or_else(|| TuneError::UnknownActor {
            name: actor.to_owned(),
            actors: all.map(MailboxControl::actor).into(),
        })
    }
}

impl RequestQueues {
    /// Returns the budget of every queue.
    fn budgets(&self) -> [&dyn Budget; 3] {
        let ReadQueues { point_reads, reads } = &self.reads;
        [point_reads, reads, &self.renderers.queue]
    }

    /// Returns the budget with this name.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::UnknownBudget`] if there is no such budget.
    fn find_budget(&self, name: &str) -> Result<&dyn Budget, TuneError> {
        let all = self.budgets();
        let found = all.into_iter().find(|budget| budget.name() == name);
        found.ok_or_else(|| TuneError::UnknownBudget {
            name: name.to_owned(),
            budgets: all.map(Budget::name).into(),
        })
    }
}

impl NodeHandle {
    /// Returns the metrics of each mailbox, in the order of the settings
    /// `actors.*.mailbox_capacity`.
    pub fn mailboxes(&self) -> Vec<MailboxStatus> {
        let all = self.node().mailboxes.all();
        all.map(MailboxControl::status).into()
    }

    /// Returns the metrics of the mailbox of an actor.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::UnknownActor`] if there is no actor with this name.
    pub fn mailbox(&self, actor: &str) -> Result<MailboxStatus, TuneError> {
        let mailbox = self.node().mailboxes.find(actor)?;
        Ok(mailbox.status())
    }

    /// Returns the size of the store's content at the last checkpoint that was measured.
    pub fn store_usage(&self) -> StoreUsage {
        self.node().mailboxes.meters.usage.usage()
    }

    /// Returns whether `pruner.window_bytes` decides the window, so that the ledger grows no more.
    pub fn is_window_limited(&self) -> bool {
        self.node().size.is_window_limited()
    }

    /// Returns the metrics that belong to no mailbox: pool, threads with queues, commits, waits,
    /// syncs.
    pub fn meters(&self) -> MeterStatus {
        let node = self.node();
        node.mailboxes.meters.status(
            node.queues.signatures.work_status(),
            node.wait_limit.held(),
            node.size.saved_pool_bytes(),
        )
    }

    /// Returns the age of the oldest transaction in the pool, in seconds, as of the last second.
    /// Returns `None` if all of them wait for an earlier one of their account, so that no block is
    /// due.
    pub fn oldest_waiting_secs(&self) -> Option<u64> {
        let pool = self.meters().pool;
        (pool.transactions > pool.parked).then_some(pool.oldest_secs as u64)
    }

    /// Returns the recorder of the times of the newest blocks.
    pub fn flight_recorder(&self) -> FlightRecorder {
        self.node().mailboxes.meters.flight.clone()
    }

    /// Returns the metrics of the lanes in which transactions wait for the check of their
    /// signatures.
    pub fn signature_lanes(&self) -> [LaneStatus; 2] {
        self.node().queues.signatures.status()
    }

    /// Changes the cost of the checks that may wait in each lane, in ed25519 signatures that are
    /// checked one by one. Checks that wait beyond it stay.
    pub fn set_signature_capacity(&self, capacity: usize) {
        self.node().queues.signatures.set_capacity(capacity);
    }

    /// Returns the maximum number of concurrent waits.
    pub fn wait_capacity(&self) -> usize {
        self.node().wait_limit.max()
    }

    /// Changes the maximum number of concurrent waits. Waits beyond it continue.
    pub fn set_wait_capacity(&self, capacity: usize) {
        self.node().wait_limit.set_max(capacity);
    }

    /// Returns a stall of an actor or thread without which no block is committed, if there is one.
    pub fn commit_stall(&self) -> Option<Stall> {
        let stalled = self.stalls();
        stalled
            .iter()
            .find(|stall| stall.is_on_commit_path())
            .cloned()
    }

    /// Returns the stalled actors and threads.
    pub fn stalls(&self) -> Arc<Vec<Stall>> {
        self.node().stalls.stalled()
    }

    /// Returns the number of stalled actors and threads by name. A name without a stall has 0.
    pub fn stalls_by_name(&self) -> BTreeMap<Arc<str>, usize> {
        self.node().stalls.count_by_name()
    }

    /// Watches a thread that counts its units of work, until the count is dropped. The thread is
    /// stalled if a unit takes longer than `process.stall_secs`.
    pub fn watch_thread(&self, name: &'static str) -> Arc<Progress> {
        self.node().stalls.watch_thread(name)
    }

    /// Watches an event loop, on whose thread the caller must run the returned task. The event loop
    /// is stalled if it does not run the task for `process.stall_secs`.
    #[must_use = "the task shows the progress of the event loop"]
    pub fn watch_event_loop(&self, name: Arc<str>) -> impl Future<Output = ()> + use<> {
        self.node().stalls.watch_event_loop(name)
    }

    /// Watches a queue. `sample` returns whether work waits or is being done, and a number that
    /// changes with each progress.
    pub fn watch_queue(
        &self,
        name: &'static str,
        sample: impl Fn() -> QueueProgress + Send + Sync + 'static,
    ) {
        self.node()
            .stalls
            .watch(&Watch::new(name, move || Some(sample().into())));
    }

    /// Returns the status of the budgets of all queues of work.
    pub fn budgets(&self) -> Vec<BudgetStatus> {
        self.node().queues.budgets().map(Budget::status).into()
    }

    /// Returns the status of the budget of a queue of work.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::UnknownBudget`] if there is no budget with this name.
    pub fn budget(&self, name: &str) -> Result<BudgetStatus, TuneError> {
        let budget = self.node().queues.find_budget(name)?;
        Ok(budget.status())
    }

    /// Changes the estimated duration of the work that may wait in a queue, in milliseconds.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::CapacityZero`] if the capacity is 0, and [`TuneError::UnknownBudget`]
    /// if there is no budget with this name.
    pub fn set_budget(&self, name: &str, capacity_ms: u64) -> Result<BudgetStatus, TuneError> {
        if capacity_ms == 0 {
            return Err(TuneError::CapacityZero);
        }
        let budget = self.node().queues.find_budget(name)?;
        Ok(budget.set_capacity_ms(capacity_ms))
    }

    /// Changes the maximum number of requests that wait for an actor.
    ///
    /// # Errors
    ///
    /// Returns [`TuneError::CapacityZero`] if the capacity is 0, and [`TuneError::UnknownActor`] if
    /// there is no actor with this name.
    pub fn set_mailbox_capacity(
        &self,
        actor: &str,
        capacity: usize,
    ) -> Result<MailboxStatus, TuneError> {
        if capacity == 0 {
            return Err(TuneError::CapacityZero);
        }
        let mailbox = self.node().mailboxes.find(actor)?;
        Ok(mailbox.set_capacity(capacity))
    }
}
