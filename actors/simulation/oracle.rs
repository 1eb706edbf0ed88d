//! Compares the responses and state of the node with the model.
//!
//! The oracle records observations and checks the properties. `responses` checks the responses.

use super::{
    findings::Findings,
    fixture::{Draft, Fixture, START_SECS, STORE_OPTIONS},
    low_disk_space::LowDiskSpace,
    model::{Block, LedgerInfoFloor, SentTransaction},
    options::Options,
    pool_rules::PoolRules,
    properties,
    scheduler::Scheduler,
};
use crate::{
    Head, MempoolConfig, NodeConfig, PrunerConfig,
    runtime::clock::LedgerClock,
    state::{head::HeadReader, storage_health::StorageHealth},
};
use ledger_store::Store;
use ledger_test_support::Disk;
use ledger_types::CheckedTransaction;
use std::{
    cell::{Cell, RefCell},
    ops::Deref,
    rc::Rc,
    sync::Arc,
};

/// Begin of a request: the step, and the state of knowledge at that time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestStart {
    /// Step at which the request began.
    pub(super) step: u64,
    /// Highest ledger info of all responses before the request.
    pub(super) floor: LedgerInfoFloor,
    /// Newest visible version.
    pub(super) version: u64,
    /// Step at which the node was last idle.
    pub(super) last_idle_step: u64,
    /// Whether the node had reported a failure, after which it accepts no submissions.
    pub(super) is_unwritable: bool,
}

/// The running node.
pub(super) struct ObservedNode {
    pub(super) head: HeadReader,
    pub(super) disk: Disk,
    pub(super) storage_health: StorageHealth,
    pub(super) clock: LedgerClock,
    /// Whether the clock was wrong when the node started.
    pub(super) had_clock_fault: bool,
    /// Whether the clock has been wrong since the node started.
    pub(super) has_clock_fault: Cell<bool>,
}

/// Oracle of one simulation, shared by all of its clients.
pub(super) struct Oracle {
    findings: Findings,
    /// The versions that the node does not prune.
    pub(super) pruner: PrunerConfig,
    limits: MempoolConfig,
    /// Probability that the oracle opens the synced disk after the head has changed, in
    /// thousandths.
    disk_check_rate: u32,
    /// Latest value of the ledger's time, in Unix seconds.
    latest_secs: Cell<u64>,
    /// Latest possible time of a clock without a fault, in microseconds since the Unix epoch.
    latest_true_usecs: Cell<u64>,
    /// Step at which the node was last idle.
    last_idle_step: Cell<u64>,
    pub(super) disk_space: LowDiskSpace,
    pub(super) observed: RefCell<Option<ObservedNode>>,
}

impl Deref for Oracle {
    type Target = Findings;

    fn deref(&self) -> &Findings {
        &self.findings
    }
}

impl Oracle {
    pub(super) fn new(scheduler: &Rc<Scheduler>, options: &Options) -> Rc<Self> {
        let NodeConfig {
            mempool, pruner, ..
        } = &options.node;
        Rc::new(Self {
            findings: Findings::new(scheduler, Fixture::of(options.has_small_blocks)),
            pruner: pruner.clone(),
            limits: mempool.clone(),
            disk_check_rate: options.disk_check_rate,
            latest_secs: Cell::new(START_SECS),
            latest_true_usecs: Cell::new(START_SECS * 1_000_000),
            last_idle_step: Cell::new(0),
            disk_space: LowDiskSpace::default(),
            observed: RefCell::default(),
        })
    }

    /// Sets the node that the oracle observes, or none.
    pub(super) fn observe(&self, node: Option<ObservedNode>) {
        self.observed.replace(node);
        self.disk_space.clear();
        self.record_clock();
    }

    /// Returns the ledger's time of the running node, in Unix seconds. Without a node, returns the
    /// latest value.
    pub(super) fn now_secs(&self) -> u64 {
        let observed = self.observed.borrow();
        observed
            .as_ref()
            .map_or(self.latest_secs.get(), |node| node.clock.now_secs())
    }

    /// Records that the clock is right again.
    pub(super) fn clear_clock_fault(&self) {
        if let Some(node) = self.observed.borrow().as_ref() {
            node.has_clock_fault.set(false);
        }
    }

    /// Records that `passed_usecs` microseconds passed, and that a clock without a fault then reads
    /// `now_usecs`.
    pub(super) fn advance_true_time(&self, passed_usecs: u64, now_usecs: u64) {
        let latest_usecs = self.latest_true_usecs.get() + passed_usecs;
        self.latest_true_usecs.set(latest_usecs.max(now_usecs));
    }

    /// Records the ledger's time. The caller must call this before and after it moves the clock.
    pub(super) fn record_clock(&self) {
        let now_secs = self.now_secs();
        self.latest_secs.set(self.latest_secs.get().max(now_secs));
        for sent in self.model().sent.values_mut() {
            if sent.open_submits > 0 {
                sent.inserted_secs.include(now_secs);
            }
        }
    }

    /// Records that the node is idle.
    pub(super) fn record_idle(&self) {
        self.count("times idle");
        self.last_idle_step.set(self.scheduler.now_steps());
        self.disk_space.record_idle();
    }

    /// Returns the inputs of the checks of the pool.
    pub(super) fn pool_rules(&self) -> PoolRules {
        let block = self
            .model()
            .blocks
            .last()
            .map(|block| block.header.timestamp_usecs);
        PoolRules {
            limits: self.limits.clone(),
            latest_secs: self
                .latest_secs
                .get()
                .max(self.now_secs())
                .max(block.unwrap_or_default() / 1_000_000),
        }
    }

    /// Adds the blocks that the published head includes to the model, and checks the head.
    pub(super) fn add_visible_blocks(&self) {
        let observed = self.observed.borrow();
        let Some(ObservedNode {
            head,
            disk,
            has_clock_fault,
            ..
        }) = observed.as_ref()
        else {
            return;
        };
        if self.scheduler.is_halted() {
            return;
        }
        let head = head.load();
        let known_height = self.model().height();
        let new = head
            .recent_blocks()
            .filter(|block| block.height() > known_height);
        for block in new {
            self.report(
                properties::NO_BLOCK_WITHOUT_SPACE,
                self.disk_space.check_block_may_commit(block.height()),
            );
            if has_clock_fault.get() {
                let verdict = Err(format!(
                    "block {} was built while the clock was wrong since the start",
                    block.height()
                ));
                self.report(properties::BLOCK_TIME, verdict);
            }
            self.add_block(Block::from(&**block));
        }
        self.report(
            properties::HEAD_IS_NEWEST_VISIBLE,
            properties::check_head_is_newest(&self.model(), head.ledger_info()),
        );
        if self.model().height() > known_height && self.scheduler.chance(self.disk_check_rate) {
            self.check_synced_disk(&head, disk);
        }
    }

    /// Adds a block to the model that became visible, or that a restart found durable.
    pub(super) fn add_block(&self, block: Block) {
        self.counters()
            .add("transactions committed", block.transactions.len() as u64);
        let count = |is_left_out: bool| {
            let discarded = block.discarded.iter();
            discarded
                .filter(|discarded| discarded.is_not_included() == is_left_out)
                .count() as u64
        };
        self.counters().add("discarded by a block", count(false));
        self.counters().add("left out by a full block", count(true));
        let header = &block.header;
        let latest_usecs = self.latest_true_usecs.get();
        self.report(
            properties::BLOCK_TIME,
            properties::check_block_time(header.height, header.timestamp_usecs, latest_usecs),
        );
        let verdict = self.model().push_block(block, self.scheduler.now_steps());
        self.report(properties::RULES_OF_THE_CHAIN, verdict);
    }

    /// Checks that the blocks of the head survive a power failure now.
    fn check_synced_disk(&self, head: &Head, disk: &Disk) {
        self.count("checks of the synced disk");
        let disk = Disk::new(disk.synced());
        let store = Store::open_backend(disk.clone(), disk.log(), &STORE_OPTIONS);
        let verdict = store.map(|store| store.height());
        self.report(
            properties::COMMITTED_IS_DURABLE,
            properties::check_disk_has_head(verdict, head.ledger_info()),
        );
    }

    /// Records that a request begins.
    pub(super) fn begin_request(&self) -> RequestStart {
        self.add_visible_blocks();
        let step = self.scheduler.now_steps();
        let has_failed = |node: &ObservedNode| node.storage_health.fault().is_some();
        let has_failed = self.observed.borrow().as_ref().is_some_and(has_failed);
        let model = self.model();
        RequestStart {
            step,
            floor: model.floor,
            version: model.newest_version(),
            last_idle_step: self.last_idle_step.get(),
            is_unwritable: has_failed,
        }
    }

    /// Records that a submission begins.
    pub(super) fn begin_submission(
        &self,
        draft: Draft,
        transaction: &Arc<CheckedTransaction>,
    ) -> RequestStart {
        let start = self.begin_request();
        let now_secs = self.now_secs();
        let mut model = self.model();
        let sent = model
            .sent
            .entry(transaction.hash())
            .or_insert_with(|| SentTransaction::new(draft, transaction, start, now_secs));
        sent.open_submits += 1;
        sent.inserted_secs.include(now_secs);
        sent.last_submit_step = start.step;
        start
    }
}
