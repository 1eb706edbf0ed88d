//! Holds what the node says and does against the model: keeps the record, and asks the properties.

use super::{
    disk::Disk,
    figures::Figures,
    fixture::{Draft, Fixture, STORE_OPTIONS},
    model::{Block, Floor, Model, Sent},
    properties::{self, Answer},
    scheduler::Scheduler,
};
use crate::{Accepted, Head, LeaveReason, Lookup, ReadError, SubmitError, committer::HeadCell};
use ledger::{CheckedTransaction, HashValue, LedgerInfo};
use ledger_store::{Store, StoreError};
use std::{
    cell::{Cell, RefCell, RefMut},
    rc::Rc,
    sync::Arc,
};

/// How often the synced disk is opened when the Head has moved, in thousandths.
const DISK_LOOKS: u32 = 60;

/// When a question was asked, and the newest that anyone had been told then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) at: u64,
    pub(super) floor: Floor,
}

/// The judge of one simulation. Shared by all of its clients.
pub(super) struct Judge {
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) fixture: &'static Fixture,
    pub(super) window_versions: Cell<Option<u64>>,
    model: RefCell<Model>,
    figures: RefCell<Figures>,
    /// Of the node that runs.
    running: RefCell<Option<(HeadCell, Disk)>>,
}

impl Judge {
    pub(super) fn new(scheduler: Rc<Scheduler>, fixture: &'static Fixture) -> Rc<Self> {
        Rc::new(Self {
            scheduler,
            fixture,
            window_versions: Cell::new(None),
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
    pub(super) fn watch(&self, node: Option<(HeadCell, Disk)>) {
        self.running.replace(node);
    }

    /// Takes in the blocks that the Head shows.
    pub(super) fn sync(&self) {
        let running = self.running.borrow();
        let Some((head, disk)) = running.as_ref() else {
            return;
        };
        if self.scheduler.is_halted() {
            return;
        }
        let head = head.load();
        let known = self.model().height();
        let new = head.recent_blocks().filter(|block| block.height() > known);
        for block in new {
            self.show(Block::from(&**block));
        }
        self.hold(
            properties::HEAD_IS_SHOWN,
            properties::head_is_the_newest_block(&self.model(), head.ledger_info()),
        );
        if self.model().height() > known && self.scheduler.chance(DISK_LOOKS) {
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
                .filter(|discarded| discarded.is_left_out() == left_out)
                .count() as u64
        };
        self.figures().add("discarded by a block", count(false));
        self.figures().add("left out by a full block", count(true));
        let verdict = self.model().push(block);
        self.hold(properties::RULES_OF_THE_CHAIN, verdict);
    }

    /// What the Head shows survives a power failure at this moment.
    fn look_at_disk(&self, head: &Head, disk: &Disk) {
        self.count("looks at the synced disk");
        let store = Store::open_backend(Disk::new(disk.synced()), &STORE_OPTIONS);
        let verdict = store.map(|store| store.height());
        self.hold(
            properties::COMMITTED_IS_DURABLE,
            properties::disk_has_the_head(verdict, head.ledger_info()),
        );
    }

    /// Begins a question.
    pub(super) fn ask(&self) -> Asked {
        self.sync();
        Asked {
            at: self.scheduler.now(),
            floor: self.model().floor,
        }
    }

    /// Begins a submission.
    pub(super) fn ask_to_submit(&self, draft: Draft, transaction: &Arc<CheckedTransaction>) -> Asked {
        let asked = self.ask();
        let mut model = self.model();
        let sent = model.sent.entry(transaction.hash()).or_insert_with(|| Sent {
            draft,
            transaction: Arc::clone(transaction),
            open_submits: 0,
            submitted: 0,
            is_held: false,
            version: None,
            told_committed: None,
            told_left: None,
        });
        sent.open_submits += 1;
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
        self.hold(properties::NEVER_AHEAD, properties::is_not_ahead(&model, info));
        if self.scheduler.is_halted() {
            return false;
        }
        self.hold(
            properties::WINDOW,
            properties::window_is_kept(&model, info, self.window_versions.get()),
        );
        model.floor.raise(info);
        !self.scheduler.is_halted()
    }

    /// A question had no answer; the store may be the reason only where the disk has failed.
    pub(super) fn unanswered(&self, error: &ReadError) {
        self.count(no_answer(error));
        let is_store = matches!(error, ReadError::Store(_));
        let has_failed = |(_, disk): &(HeadCell, Disk)| disk.failures() > 0;
        if is_store && !self.running.borrow().as_ref().is_some_and(has_failed) {
            self.hold(properties::NO_FAILURE, Err(error.to_string()));
        }
    }

    /// A submission was answered.
    pub(super) fn submitted(&self, asked: Asked, hash: HashValue, answer: Result<Accepted, SubmitError>) {
        let now = self.scheduler.now();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            sent.open_submits = sent.open_submits.saturating_sub(1);
            sent.submitted = now;
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
                let verdict = properties::may_be_accepted(&model, asked, &ledger_info, &transaction);
                self.hold(properties::ADMISSION, verdict);
                if let Some(sent) = model.sent.get_mut(&transaction.hash()) {
                    sent.is_held = true;
                    sent.submitted = now;
                }
            }
            Err(error) => match &error {
                SubmitError::Unanswered(error) => self.unanswered(error),
                refused => self.count(refusal(refused)),
            },
        }
    }

    /// What a look-up or a wait gave.
    pub(super) fn looked_up(
        &self,
        asked: Asked,
        hash: HashValue,
        answer: Result<(LedgerInfo, Lookup), ReadError>,
    ) {
        let (info, lookup) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(&error),
        };
        if !self.told(asked, &info) {
            return;
        }
        self.count(match &lookup {
            Lookup::Pending(_) => "answers: pending",
            Lookup::Committed(_) => "answers: committed",
            Lookup::Pruned { .. } => "answers: pruned by hash",
            Lookup::Left(LeaveReason::Expired { .. }) => "answers: expired",
            Lookup::Left(LeaveReason::Evicted(_)) => "answers: evicted",
            Lookup::Left(LeaveReason::Replaced(_)) => "answers: replaced",
            Lookup::Left(LeaveReason::Rejected(_)) => "answers: rejected",
            Lookup::Unknown => "answers: unknown",
        });
        let answer = Answer {
            asked,
            hash,
            info,
            lookup: &lookup,
        };
        let verdict = properties::lookup_is_true(&self.model(), &answer);
        self.hold(properties::NO_FALSE_ANSWER, verdict);
        let now = self.scheduler.now();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            match lookup {
                Lookup::Committed(_) | Lookup::Pruned { .. } => {
                    sent.told_committed.get_or_insert(now);
                }
                Lookup::Left(_) => sent.told_left = Some((asked.at, now)),
                Lookup::Pending(_) | Lookup::Unknown => {}
            }
        }
    }

    /// What a read of a version gave.
    pub(super) fn read(
        &self,
        asked: Asked,
        wallet: usize,
        version: u64,
        answer: Result<(LedgerInfo, super::reads::Page), ReadError>,
    ) {
        let (info, page) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(&error),
        };
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

/// What is counted for a refused submission.
fn refusal(error: &SubmitError) -> &'static str {
    match error {
        SubmitError::Invalid(_) => "refused: invalid",
        SubmitError::SequenceNumberTooOld { .. } => "refused: number given to a block",
        SubmitError::InvalidUpdate(_) => "refused: place taken",
        SubmitError::AccountFull { .. } => "refused: account full",
        SubmitError::Full { .. } => "refused: pool full",
        SubmitError::Unanswered(error) => no_answer(error),
    }
}

/// What is counted for a question without an answer.
fn no_answer(error: &ReadError) -> &'static str {
    match error {
        ReadError::Overloaded { actor: "mempool" } => "overloaded: mempool",
        ReadError::Overloaded { actor: "committer" } => "overloaded: committer",
        ReadError::Overloaded { .. } => "overloaded: storage",
        ReadError::Stopping => "no answer: stopping",
        ReadError::Store(StoreError::NoSuchMoment { .. }) => "no answer: pruned meanwhile",
        ReadError::Store(_) => "no answer: the disk failed",
        ReadError::Unwritable(_) => "no answer: unwritable",
    }
}
