//! Holds what the node says and does against the model: keeps the record, and asks the properties.

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

/// When a question was asked, and the newest that anyone had been told then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) at: u64,
    pub(super) floor: Floor,
    /// The newest version that was shown.
    pub(super) version: u64,
    /// The last time of quiet.
    pub(super) quiet: u64,
    /// Whether the node had said that nothing is written.
    pub(super) is_unwritable: bool,
}

/// The node that runs.
pub(super) struct Watched {
    pub(super) head: HeadReader,
    pub(super) disk: Disk,
    pub(super) storage_health: StorageHealth,
    pub(super) clock: LedgerClock,
    /// Whether it was started while the clock was wrong.
    pub(super) had_clock_fault: bool,
    /// Whether the clock has been wrong ever since.
    pub(super) has_clock_fault: Cell<bool>,
}

/// The judge of one simulation. Shared by all of its clients.
pub(super) struct Oracle {
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) fixture: &'static Fixture,
    window_versions: Option<u64>,
    limits: MempoolConfig,
    disk_looks: u32,
    /// The latest that the ledger's time has been, Unix seconds.
    latest_secs: Cell<u64>,
    /// The latest that a clock without a fault can show, in microseconds.
    latest_true_usecs: Cell<u64>,
    /// The last time of quiet.
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

    pub(super) fn count(&self, what: &'static str) {
        self.figures.borrow_mut().count(what);
    }

    pub(super) fn figures(&self) -> RefMut<'_, Figures> {
        self.figures.borrow_mut()
    }

    /// Tells of a property that does not hold.
    pub(super) fn hold(&self, property: &'static str, verdict: Result<(), String>) {
        if let Err(what) = verdict {
            self.scheduler.violate(property, what);
        }
    }

    /// From now on this node is looked at.
    pub(super) fn watch(&self, node: Option<Watched>) {
        self.running.replace(node);
        self.room.reset();
        self.clock_moved();
    }

    /// Returns the ledger's time of the node that runs, Unix seconds.
    pub(super) fn now_secs(&self) -> u64 {
        let running = self.running.borrow();
        running
            .as_ref()
            .map_or(self.latest_secs.get(), |node| node.clock.now_secs())
    }

    /// Notes that the clock is right again.
    pub(super) fn clock_is_right(&self) {
        if let Some(node) = self.running.borrow().as_ref() {
            node.has_clock_fault.set(false);
        }
    }

    /// Notes that time passed, and which time a clock without a fault shows.
    pub(super) fn true_time_moved(&self, passed_usecs: u64, now_usecs: u64) {
        let latest_usecs = self.latest_true_usecs.get() + passed_usecs;
        self.latest_true_usecs.set(latest_usecs.max(now_usecs));
    }

    /// Notes the ledger's time. To be called before and after the clock is moved.
    pub(super) fn clock_moved(&self) {
        let now_secs = self.now_secs();
        self.latest_secs.set(self.latest_secs.get().max(now_secs));
        for sent in self.model().sent.values_mut() {
            if sent.open_submits > 0 {
                sent.inserted_secs.include(now_secs);
            }
        }
    }

    /// Nothing can happen but by time or a client.
    pub(super) fn is_quiet(&self) {
        self.count("times of quiet");
        self.quiet.set(self.scheduler.now());
        self.room.is_quiet();
    }

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

    /// Takes in the blocks that the Head shows.
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

    /// Takes in a block that was shown, or is found durable.
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

    /// What the Head shows survives a power failure at this moment.
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

    /// Begins a question.
    pub(super) fn ask(&self) -> Asked {
        self.sync();
        let at = self.scheduler.now();
        let has_failed = |node: &Watched| node.storage_health.fault().is_some();
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

    /// Begins a submission.
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

    /// An answer of this moment came. Gives false when it came too late: the simulation is over, or the node
    /// crashed while the client was at it.
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

    /// A question had no answer. The store is the reason only where the disk does not read: one failed read is
    /// tried again, and after a failed write reads go on.
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

    /// A submission was answered.
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

    /// What a look-up or a wait gave.
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

    /// What a read of a version gave.
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
