//! Compares the responses and state of the node with the model.
//!
//! The oracle records observations and checks the properties.

use super::{
    counters::{Counters, error_counter, rejection_counter, status_counter},
    fixture::{Draft, Fixture, START_SECS, STORE_OPTIONS},
    low_disk_space::LowDiskSpace,
    model::{Block, LedgerInfoFloor, Model, SentTransaction, Span},
    options::Options,
    pool_rules::PoolRules,
    properties::{self, LookupResponse},
    reads::ReadResult,
    scheduler::Scheduler,
};
use crate::{
    Accepted, Head, MempoolConfig, NodeConfig, NodeError, StorageUnavailable, SubmitError,
    TransactionStatus,
    runtime::clock::LedgerClock,
    state::{head::HeadReader, storage_health::StorageHealth},
};
use ledger_crypto::HashValue;
use ledger_store::Store;
use ledger_test_support::Disk;
use ledger_types::{CheckedTransaction, LedgerInfo};
use std::{
    cell::{Cell, RefCell, RefMut},
    rc::Rc,
    sync::Arc,
};

/// Begin of a request: the step, and the state of knowledge at that time.
#[derive(Clone, Copy, Debug)]
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
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) fixture: &'static Fixture,
    /// Number of versions that the node does not prune, or `None` if it does not prune.
    window_versions: Option<u64>,
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
    model: RefCell<Model>,
    counters: RefCell<Counters>,
    observed: RefCell<Option<ObservedNode>>,
}

impl Oracle {
    pub(super) fn new(scheduler: Rc<Scheduler>, options: &Options) -> Rc<Self> {
        let fixture = Fixture::of(options.has_small_blocks);
        let NodeConfig {
            mempool, pruner, ..
        } = &options.node;
        Rc::new(Self {
            scheduler,
            fixture,
            window_versions: pruner.enabled.then_some(pruner.window_versions),
            limits: mempool.clone(),
            disk_check_rate: options.disk_check_rate,
            latest_secs: Cell::new(START_SECS),
            latest_true_usecs: Cell::new(START_SECS * 1_000_000),
            last_idle_step: Cell::new(0),
            disk_space: LowDiskSpace::default(),
            model: RefCell::new(Model::new(fixture)),
            counters: RefCell::default(),
            observed: RefCell::default(),
        })
    }

    pub(super) fn model(&self) -> RefMut<'_, Model> {
        self.model.borrow_mut()
    }

    /// Adds 1 to a counter.
    pub(super) fn count(&self, counter: &'static str) {
        self.counters.borrow_mut().count(counter);
    }

    pub(super) fn counters(&self) -> RefMut<'_, Counters> {
        self.counters.borrow_mut()
    }

    /// Reports a violation of `property` if the verdict is an error.
    pub(super) fn report(&self, property: &'static str, verdict: Result<(), String>) {
        if let Err(message) = verdict {
            self.scheduler.record_violation(property, message);
        }
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
            .or_insert_with(|| SentTransaction {
                draft,
                transaction: Arc::clone(transaction),
                open_submits: 0,
                last_submit_step: 0,
                first_request: start,
                inserted_secs: Span::at(now_secs),
                is_accepted: false,
                version: None,
                visible_at: None,
                reported_committed_at: None,
                reported_removed: None,
            });
        sent.open_submits += 1;
        sent.inserted_secs.include(now_secs);
        sent.last_submit_step = start.step;
        start
    }

    /// Checks the ledger info of a response that arrived now.
    ///
    /// Returns false if the simulation has ended or the node has crashed; the response is then
    /// ignored.
    fn check_ledger_info(&self, start: RequestStart, info: &LedgerInfo) -> bool {
        if self.scheduler.is_halted() {
            return false;
        }
        self.add_visible_blocks();
        self.report(
            properties::LEDGER_INFO_IS_MONOTONIC,
            properties::check_monotonic(&start.floor, info),
        );
        let mut model = self.model();
        self.report(
            properties::RESPONSE_IS_NOT_AHEAD,
            properties::check_not_ahead(&model, info),
        );
        if self.scheduler.is_halted() {
            return false;
        }
        self.report(
            properties::WINDOW,
            properties::check_window(&model, info, self.window_versions),
        );
        model.floor.raise(info);
        !self.scheduler.is_halted()
    }

    /// Checks the error of a request.
    ///
    /// Storage is a valid reason only after a disk fault. The node retries a single failed read,
    /// and reads continue after a failed write.
    pub(super) fn check_error(&self, start: RequestStart, error: &NodeError) {
        self.count(error_counter(error));
        let is_caused_by = |is_faulty: fn(&Disk) -> bool| {
            let observed = self.observed.borrow();
            observed.as_ref().is_none_or(|node| is_faulty(&node.disk))
        };
        let is_permitted = match error {
            NodeError::Store(_)
            | NodeError::StorageUnavailable(StorageUnavailable::ReadFailed(_)) => {
                is_caused_by(|disk| disk.failed_reads() > 1)
            }
            NodeError::StorageUnavailable(StorageUnavailable::WriteFailed(_)) => {
                is_caused_by(|disk| disk.failures() > 0)
            }
            NodeError::StorageUnavailable(StorageUnavailable::LowDiskSpace(_)) => {
                self.disk_space.was_low_since(start.step)
                    || is_caused_by(|disk| disk.failures() > 0)
            }
            NodeError::StorageUnavailable(StorageUnavailable::ClockUntrusted(_)) => {
                let observed = self.observed.borrow();
                observed.as_ref().is_none_or(|node| node.had_clock_fault)
            }
            // A reader runs only when the newest block is applied.
            NodeError::NotApplied => false,
            NodeError::Overloaded(_) | NodeError::Stopping => true,
        };
        if !is_permitted && !self.scheduler.is_halted() {
            self.report(properties::NO_FAILURE, Err(error.to_string()));
        }
    }

    /// Checks the response to a submission.
    pub(super) fn check_submission(
        &self,
        start: RequestStart,
        hash: HashValue,
        response: Result<Accepted, SubmitError>,
    ) {
        let (now, now_secs) = (self.scheduler.now_steps(), self.now_secs());
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            sent.open_submits = sent.open_submits.saturating_sub(1);
            sent.last_submit_step = now;
            sent.inserted_secs.include(now_secs);
        }
        match response {
            Ok(Accepted {
                ledger_info,
                transaction,
            }) => {
                self.count("transactions accepted");
                if !self.check_ledger_info(start, &ledger_info) {
                    return;
                }
                let mut model = self.model();
                let verdict =
                    properties::check_acceptance(&model, start, &ledger_info, &transaction);
                self.report(properties::ADMISSION, verdict);
                let verdict = properties::check_accepted_hash(&hash, &transaction);
                self.report(properties::ACCEPTED_IS_ACCOUNTED_FOR, verdict);
                self.report(
                    properties::ADMISSION,
                    self.disk_space.check_submission_may_be_accepted(start.step),
                );
                if let Some(sent) = model.sent.get_mut(&transaction.hash()) {
                    sent.is_accepted = true;
                    sent.last_submit_step = now;
                }
            }
            Err(error) => match &error {
                SubmitError::Node(error) => self.check_error(start, error),
                rejection => self.check_rejection(start, hash, rejection),
            },
        }
    }

    /// Checks the rejection of a submission.
    fn check_rejection(&self, start: RequestStart, hash: HashValue, error: &SubmitError) {
        self.count(rejection_counter(error));
        if self.scheduler.is_halted() {
            return;
        }
        self.add_visible_blocks();
        let rules = self.pool_rules();
        let model = self.model();
        let Some(sent) = model.sent.get(&hash) else {
            return;
        };
        let verdict = rules.check_rejection(&model, &start, sent, error);
        let verdict = verdict
            .map_err(|reason| format!("{hash} is rejected with {error}: {reason}: {sent:?}"));
        self.report(properties::REJECTION, verdict);
    }

    /// Checks the response to a look-up or a wait.
    pub(super) fn check_lookup(
        &self,
        start: RequestStart,
        hash: HashValue,
        response: Result<(LedgerInfo, TransactionStatus), NodeError>,
    ) {
        let (info, status) = match response {
            Ok(response) => response,
            Err(error) => return self.check_error(start, &error),
        };
        let counter = status_counter(&status);
        self.scheduler
            .trace(format_args!("{hash} at {}: {counter}", info.version));
        if !self.check_ledger_info(start, &info) {
            return;
        }
        self.count(counter);
        let response = LookupResponse {
            start,
            hash,
            info,
            status: &status,
        };
        let rules = self.pool_rules();
        let verdict = properties::check_status(&self.model(), &rules, &response);
        self.report(properties::STATUS_IS_TRUE, verdict);
        let now = self.scheduler.now_steps();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            match status {
                TransactionStatus::Committed(_) | TransactionStatus::Pruned { .. } => {
                    sent.reported_committed_at.get_or_insert(now);
                }
                TransactionStatus::Removed(_) => sent.reported_removed = Some((start.step, now)),
                TransactionStatus::Pending(_) | TransactionStatus::Unknown => {}
            }
        }
    }

    /// Checks the response to a read of a version.
    pub(super) fn check_read(
        &self,
        start: RequestStart,
        wallet: usize,
        version: u64,
        response: Result<(LedgerInfo, ReadResult), NodeError>,
    ) {
        let (info, result) = match response {
            Ok(response) => response,
            Err(error) => return self.check_error(start, &error),
        };
        self.scheduler
            .trace(format_args!("{version} at {}: {result:?}", info.version));
        if !self.check_ledger_info(start, &info) {
            return;
        }
        self.count(match result {
            ReadResult::InWindow { .. } => "reads inside the window",
            ReadResult::Pruned => "reads below the window",
            ReadResult::TooNew => "reads above the head",
        });
        let verdict = properties::check_read(&self.model(), &info, wallet, version, &result);
        self.report(properties::READS_ARE_CONSISTENT, verdict);
    }
}
