//! Compares the responses and state of the node with the model.
//!
//! The oracle records observations and checks the properties.

use super::{
    figures::{Figures, found, no_answer, refusal},
    fixture::{Draft, Fixture, START_SECS, STORE_OPTIONS},
    model::{Block, Floor, Model, Sent, Span},
    options::Options,
    pool_rules::PoolRules,
    properties::{self, Answer},
    room::Room,
    scheduler::Scheduler,
};
use crate::{
    Accepted, Head, MempoolConfig, NodeConfig, NodeError, StorageUnavailable, SubmitError,
    TransactionStatus,
    runtime::{clock::LedgerClock, fatal::FatalErrorReporter},
    state::head::HeadCell,
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
pub(super) struct Asked {
    /// Step at which the request began.
    pub(super) at: u64,
    /// Highest ledger info of all responses before the request.
    pub(super) floor: Floor,
    /// Newest visible version.
    pub(super) version: u64,
    /// Step at which the node was last idle.
    pub(super) quiet: u64,
    /// Whether the node had reported a failure, after which it accepts no submissions.
    pub(super) is_unwritable: bool,
}

/// The running node.
pub(super) struct Watched {
    pub(super) head: HeadCell,
    pub(super) disk: Disk,
    pub(super) failure: FatalErrorReporter,
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
    /// Number of versions that the node does not prune, or `None` if it does not prune at all.
    window_versions: Option<u64>,
    limits: MempoolConfig,
    /// Probability that the oracle opens the synced disk after the head has changed, in
    /// thousandths.
    disk_looks: u32,
    /// Latest value of the ledger's time, in Unix seconds.
    latest_secs: Cell<u64>,
    /// Latest possible time of a clock without a fault, in microseconds since the Unix epoch.
    latest_true_usecs: Cell<u64>,
    /// Step at which the node was last idle.
    quiet: Cell<u64>,
    pub(super) room: Room,
    model: RefCell<Model>,
    figures: RefCell<Figures>,
    running: RefCell<Option<Watched>>,
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
            disk_looks: options.disk_looks,
            latest_secs: Cell::new(START_SECS),
            latest_true_usecs: Cell::new(START_SECS * 1_000_000),
            quiet: Cell::new(0),
            room: Room::default(),
            model: RefCell::new(Model::new(fixture)),
            figures: RefCell::default(),
            running: RefCell::default(),
        })
    }

    pub(super) fn model(&self) -> RefMut<'_, Model> {
        self.model.borrow_mut()
    }

    /// Adds 1 to a counter.
    pub(super) fn count(&self, what: &'static str) {
        self.figures.borrow_mut().count(what);
    }

    pub(super) fn figures(&self) -> RefMut<'_, Figures> {
        self.figures.borrow_mut()
    }

    /// Reports a violation of `property` if the verdict is an error.
    pub(super) fn hold(&self, property: &'static str, verdict: Result<(), String>) {
        if let Err(what) = verdict {
            self.scheduler.violate(property, what);
        }
    }

    /// Sets the node that the oracle observes, or none.
    pub(super) fn watch(&self, node: Option<Watched>) {
        self.running.replace(node);
        self.room.reset();
        self.clock_moved();
    }

    /// Returns the ledger's time of the running node, in Unix seconds. Without a node, returns the
    /// latest value.
    pub(super) fn now_secs(&self) -> u64 {
        let running = self.running.borrow();
        running
            .as_ref()
            .map_or(self.latest_secs.get(), |node| node.clock.now_secs())
    }

    /// Records that the clock is right again.
    pub(super) fn clock_is_right(&self) {
        if let Some(node) = self.running.borrow().as_ref() {
            node.has_clock_fault.set(false);
        }
    }

    /// Records that `passed_usecs` microseconds passed, and that a clock without a fault then reads
    /// `now_usecs`.
    pub(super) fn true_time_moved(&self, passed_usecs: u64, now_usecs: u64) {
        let latest_usecs = self.latest_true_usecs.get() + passed_usecs;
        self.latest_true_usecs.set(latest_usecs.max(now_usecs));
    }

    /// Records the ledger's time. The caller must call this before and after it moves the clock.
    pub(super) fn clock_moved(&self) {
        let now_secs = self.now_secs();
        self.latest_secs.set(self.latest_secs.get().max(now_secs));
        for sent in self.model().sent.values_mut() {
            if sent.open_submits > 0 {
                sent.inserted_secs.include(now_secs);
            }
        }
    }

    /// Records that the node is idle.
    pub(super) fn is_quiet(&self) {
        self.count("times of quiet");
        self.quiet.set(self.scheduler.now());
        self.room.is_quiet();
    }

    /// Returns the inputs of the checks of the pool.
    fn pool_rules(&self) -> PoolRules {
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
    pub(super) fn sync(&self) {
        let running = self.running.borrow();
        let Some(Watched {
            head,
            disk,
            has_clock_fault,
            ..
        }) = running.as_ref()
        else {
            return;
        };
        if self.scheduler.is_halted() {
            return;
        }
        let head = head.load();
        let known = self.model().height();
        let new = head.recent_blocks().filter(|block| block.height() > known);
        for block in new {
            self.hold(properties::PAUSE, self.room.may_begin(block.height()));
            if has_clock_fault.get() {
                let verdict = Err(format!(
                    "block {} was made by a clock that is wrong since the start",
                    block.height()
                ));
                self.hold(properties::BLOCK_TIME, verdict);
            }
            self.show(Block::from(&**block));
        }
        self.hold(
            properties::HEAD_IS_SHOWN,
            properties::head_is_the_newest_block(&self.model(), head.ledger_info()),
        );
        if self.model().height() > known && self.scheduler.chance(self.disk_looks) {
            self.look_at_disk(&head, disk);
        }
    }

    /// Adds a block to the model that became visible, or that a restart found durable.
    pub(super) fn show(&self, block: Block) {
        self.figures()
            .add("transactions committed", block.transactions.len() as u64);
        let count = |left_out: bool| {
            let discarded = block.discarded.iter();
            discarded
                .filter(|discarded| discarded.is_not_included() == left_out)
                .count() as u64
        };
        self.figures().add("discarded by a block", count(false));
        self.figures().add("left out by a full block", count(true));
        let header = &block.header;
        let latest_usecs = self.latest_true_usecs.get();
        self.hold(
            properties::BLOCK_TIME,
            properties::time_is_believable(header.height, header.timestamp_usecs, latest_usecs),
        );
        let verdict = self.model().push(block, self.scheduler.now());
        self.hold(properties::RULES_OF_THE_CHAIN, verdict);
    }

    /// Checks that the blocks of the head survive a power failure now.
    fn look_at_disk(&self, head: &Head, disk: &Disk) {
        self.count("looks at the synced disk");
        let disk = Disk::new(disk.synced());
        let store = Store::open_backend(disk.clone(), disk.log(), &STORE_OPTIONS);
        let verdict = store.map(|store| store.height());
        self.hold(
            properties::COMMITTED_IS_DURABLE,
            properties::disk_has_the_head(verdict, head.ledger_info()),
        );
    }

    /// Records that a request begins.
    pub(super) fn ask(&self) -> Asked {
        self.sync();
        let at = self.scheduler.now();
        let has_failed = |node: &Watched| node.failure.get().is_some();
        let has_failed = self.running.borrow().as_ref().is_some_and(has_failed);
        let model = self.model();
        Asked {
            at,
            floor: model.floor,
            version: model.newest_version(),
            quiet: self.quiet.get(),
            is_unwritable: has_failed,
        }
    }

    /// Records that a submission begins.
    pub(super) fn ask_to_submit(
        &self,
        draft: Draft,
        transaction: &Arc<CheckedTransaction>,
    ) -> Asked {
        let asked = self.ask();
        let now_secs = self.now_secs();
        let mut model = self.model();
        let sent = model
            .sent
            .entry(transaction.hash())
            .or_insert_with(|| Sent {
                draft,
                transaction: Arc::clone(transaction),
                open_submits: 0,
                submitted: 0,
                first: asked,
                inserted_secs: Span::at(now_secs),
                is_held: false,
                version: None,
                shown: None,
                told_committed: None,
                told_left: None,
            });
        sent.open_submits += 1;
        sent.inserted_secs.include(now_secs);
        sent.submitted = asked.at;
        asked
    }

    /// Checks the ledger info of a response that arrived now.
    ///
    /// Returns false if the simulation has ended or the node has crashed; the response is then
    /// ignored.
    fn told(&self, asked: Asked, info: &LedgerInfo) -> bool {
        if self.scheduler.is_halted() {
            return false;
        }
        self.sync();
        self.hold(
            properties::NEVER_BACK,
            properties::never_goes_back(&asked.floor, info),
        );
        let mut model = self.model();
        self.hold(
            properties::NEVER_AHEAD,
            properties::is_not_ahead(&model, info),
        );
        if self.scheduler.is_halted() {
            return false;
        }
        self.hold(
            properties::WINDOW,
            properties::window_is_kept(&model, info, self.window_versions),
        );
        model.floor.raise(info);
        !self.scheduler.is_halted()
    }

    /// Checks the error of a request.
    ///
    /// Storage is a valid reason only after a disk fault. The node retries a single failed read,
    /// and reads continue after a failed write.
    pub(super) fn unanswered(&self, asked: Asked, error: &NodeError) {
        self.count(no_answer(error));
        let is_reason = |is_it: fn(&Disk) -> bool| {
            let running = self.running.borrow();
            running.as_ref().is_none_or(|node| is_it(&node.disk))
        };
        let may_be = match error {
            NodeError::Store(_)
            | NodeError::StorageUnavailable(StorageUnavailable::ReadFailed(_)) => {
                is_reason(|disk| disk.failed_reads() > 1)
            }
            NodeError::StorageUnavailable(StorageUnavailable::WriteFailed(_)) => {
                is_reason(|disk| disk.failures() > 0)
            }
            NodeError::StorageUnavailable(StorageUnavailable::LowDiskSpace(_)) => {
                self.room.was_missing_since(asked.at)
            }
            NodeError::StorageUnavailable(StorageUnavailable::ClockUnbelieved(_)) => {
                let running = self.running.borrow();
                running.as_ref().is_none_or(|node| node.had_clock_fault)
            }
            NodeError::Overloaded { .. } | NodeError::Stopping => true,
        };
        if !may_be && !self.scheduler.is_halted() {
            self.hold(properties::NO_FAILURE, Err(error.to_string()));
        }
    }

    /// Checks the response to a submission.
    pub(super) fn submitted(
        &self,
        asked: Asked,
        hash: HashValue,
        answer: Result<Accepted, SubmitError>,
    ) {
        let (now, now_secs) = (self.scheduler.now(), self.now_secs());
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            sent.open_submits = sent.open_submits.saturating_sub(1);
            sent.submitted = now;
            sent.inserted_secs.include(now_secs);
        }
        match answer {
            Ok(Accepted {
                ledger_info,
                transaction,
            }) => {
                self.count("transactions accepted");
                if !self.told(asked, &ledger_info) {
                    return;
                }
                let mut model = self.model();
                let verdict =
                    properties::may_be_accepted(&model, asked, &ledger_info, &transaction);
                self.hold(properties::ADMISSION, verdict);
                let verdict = properties::accepts_what_was_submitted(&hash, &transaction);
                self.hold(properties::NOTHING_VANISHES, verdict);
                self.hold(properties::ADMISSION, self.room.may_accept(asked.at));
                if let Some(sent) = model.sent.get_mut(&transaction.hash()) {
                    sent.is_held = true;
                    sent.submitted = now;
                }
            }
            Err(error) => match &error {
                SubmitError::Node(error) => self.unanswered(asked, error),
                refused => self.refused(asked, hash, refused),
            },
        }
    }

    /// Checks the rejection of a submission.
    fn refused(&self, asked: Asked, hash: HashValue, error: &SubmitError) {
        self.count(refusal(error));
        if self.scheduler.is_halted() {
            return;
        }
        self.sync();
        let rules = self.pool_rules();
        let model = self.model();
        let Some(sent) = model.sent.get(&hash) else {
            return;
        };
        let verdict = rules.may_refuse(&model, &asked, sent, error);
        let verdict =
            verdict.map_err(|why| format!("{hash} is refused with {error}: {why}: {sent:?}"));
        self.hold(properties::REFUSAL, verdict);
    }

    /// Checks the response to a look-up or a wait.
    pub(super) fn looked_up(
        &self,
        asked: Asked,
        hash: HashValue,
        answer: Result<(LedgerInfo, TransactionStatus), NodeError>,
    ) {
        let (info, lookup) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(asked, &error),
        };
        let what = found(&lookup);
        self.scheduler
            .note(format_args!("{hash} at {}: {what}", info.version));
        if !self.told(asked, &info) {
            return;
        }
        self.count(what);
        let answer = Answer {
            asked,
            hash,
            info,
            lookup: &lookup,
        };
        let rules = self.pool_rules();
        let verdict = properties::lookup_is_true(&self.model(), &rules, &answer);
        self.hold(properties::NO_FALSE_ANSWER, verdict);
        let now = self.scheduler.now();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            match lookup {
                TransactionStatus::Committed(_) | TransactionStatus::Pruned { .. } => {
                    sent.told_committed.get_or_insert(now);
                }
                TransactionStatus::Removed(_) => sent.told_left = Some((asked.at, now)),
                TransactionStatus::Pending(_) | TransactionStatus::Unknown => {}
            }
        }
    }

    /// Checks the response to a read of a version.
    pub(super) fn read(
        &self,
        asked: Asked,
        wallet: usize,
        version: u64,
        answer: Result<(LedgerInfo, super::reads::Page), NodeError>,
    ) {
        let (info, page) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(asked, &error),
        };
        self.scheduler
            .note(format_args!("{version} at {}: {page:?}", info.version));
        if !self.told(asked, &info) {
            return;
        }
        self.count(match page {
            super::reads::Page::Inside { .. } => "reads inside the window",
            super::reads::Page::Gone => "reads below the window",
            super::reads::Page::Ahead => "reads above the head",
        });
        let verdict = properties::page_is_true(&self.model(), &info, wallet, version, &page);
        self.hold(properties::PAGES, verdict);
    }
}
