//! What is measured of a running node: always on, and read when somebody asks.
//!
//! Whoever does the work counts it with a few relaxed atomic additions; nothing is locked,
//! allocated or ordered by it. Clocks here only measure how long something took. What is measured
//! of a mailbox stands in [`crate::mailbox`], that of the lanes of signatures in
//! [`crate::signatures`].

mod commit;
mod pool;
mod waits;
mod work;

pub(crate) use commit::CommitMeter;
pub use commit::CommitStatus;
pub(crate) use pool::PoolMeter;
pub use pool::PoolStatus;
pub use waits::WaitStatus;
pub(crate) use waits::{WaitMeter, Woken};
pub(crate) use work::WorkMeter;
pub use work::WorkStatus;

use crate::renderers;
use ledger_store::SyncTimer;
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The meters of a node that belong to no mailbox.
#[derive(Debug)]
pub(crate) struct Meters {
    pub(crate) pool: Arc<PoolMeter>,
    pub(crate) executor: Arc<WorkMeter>,
    pub(crate) writer: Arc<WorkMeter>,
    pub(crate) readers: Arc<WorkMeter>,
    pub(crate) renderers: Arc<WorkMeter>,
    pub(crate) commit: Arc<CommitMeter>,
    pub(crate) waits: WaitMeter,
    /// The store's own, once the writer has it.
    pub(crate) syncs: OnceLock<SyncTimer>,
}

impl Meters {
    /// Creates the meters of a node with this many reader threads and at most `wait_capacity`
    /// concurrent waits.
    pub(crate) fn new(readers: usize, wait_capacity: usize) -> Self {
        Self {
            pool: Arc::default(),
            executor: Arc::new(WorkMeter::new("executor", 1)),
            writer: Arc::new(WorkMeter::new("store-writer", 1)),
            readers: Arc::new(WorkMeter::new("store-reader", readers)),
            renderers: Arc::new(WorkMeter::new(renderers::THREAD, renderers::thread_count())),
            commit: Arc::default(),
            waits: WaitMeter::new(wait_capacity),
            syncs: OnceLock::new(),
        }
    }

    /// What they show now.
    pub(crate) fn status(&self) -> MeterStatus {
        MeterStatus {
            pool: self.pool.status(),
            work: [&self.executor, &self.writer, &self.readers, &self.renderers]
                .map(|meter| meter.status()),
            commit: self.commit.status(),
            waits: self.waits.status(),
            syncs: self.syncs.get().map_or(0, SyncTimer::count),
            sync_time: self
                .syncs
                .get()
                .map_or(Duration::ZERO, SyncTimer::time_taken),
        }
    }
}

/// What the meters of a node show. Counts are since its start.
#[derive(Clone, Debug)]
pub struct MeterStatus {
    /// The pool.
    pub pool: PoolStatus,
    /// The threads behind queues: executor, writer, readers, renderers.
    pub work: [WorkStatus; 4],
    /// What became durable, and what was pruned.
    pub commit: CommitStatus,
    /// The clients that wait for transactions.
    pub waits: WaitStatus,
    /// How often the store had its disk make things durable.
    pub syncs: u64,
    /// How long that took in sum.
    pub sync_time: Duration,
}
