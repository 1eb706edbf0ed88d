//! Requests of clients, each as a future that passes its response to the oracle.

use super::{
    fixture::{Draft, Once, WALLETS, draft, unknown_hash},
    host::Task,
    model::Model,
    node::NodeUnderTest,
    oracle::Oracle,
    properties,
    reads::ReadPage,
    scheduler::Scheduler,
};
use crate::{Accepted, NodeHandle, SubmitError, protocol::mempool::Submit};
use fastrand::Rng;
use ledger_crypto::HashValue;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Maximum delay of a timer after its deadline.
const TIMER_STEP: Duration = Duration::from_millis(1);

/// Long poll for a transaction.
#[derive(Clone)]
pub(super) struct Wait {
    pub(super) hash: HashValue,
    /// Latest time at which the wait ends. Set when it begins.
    pub(super) deadline: Rc<Cell<Option<Instant>>>,
}

/// A request of a client.
pub(super) struct Question {
    /// Description for the trace and for violations.
    pub(super) what: String,
    /// The long poll, if the request is one.
    pub(super) wait: Option<Wait>,
    pub(super) is_answered: Cell<bool>,
    /// False after the client has canceled the request.
    is_wanted: Rc<Cell<bool>>,
}

/// Clients of one simulation.
pub(super) struct Clients {
    oracle: Rc<Oracle>,
    random: RefCell<Rng>,
    questions: RefCell<Vec<Rc<Question>>>,
    /// Sequence number of each wallet's next transaction, as the clients count them.
    next_numbers: RefCell<[u64; WALLETS]>,
}

impl Clients {
    pub(super) fn new(oracle: Rc<Oracle>, random: Rng) -> Self {
        Self {
            oracle,
            random: RefCell::new(random),
            questions: RefCell::default(),
            next_numbers: RefCell::new([0; WALLETS]),
        }
    }

    /// Returns the open requests.
    pub(super) fn open(&self) -> Vec<Rc<Question>> {
        let mut questions = self.questions.borrow_mut();
        questions.retain(|question| !question.is_answered.get() && question.is_wanted.get());
        questions.clone()
    }

    /// Discards all open requests, because the node and all its connections have ended.
    pub(super) fn forget(&self) {
        self.questions.borrow_mut().clear();
        let model = self.oracle.model();
        let numbers = model.accounts.iter().map(|account| account.sequence_number);
        for (next, number) in self.next_numbers.borrow_mut().iter_mut().zip(numbers) {
            *next = number;
        }
    }

    /// Cancels a random open request.
    pub(super) fn abandon_one(&self) {
        let open = self.open();
        if let Some(question) = self.random.borrow_mut().choice(open) {
            self.oracle.count("clients that went away");
            question.is_wanted.set(false);
        }
    }

    /// Begins a random request.
    pub(super) fn begin(&self, scheduler: &Scheduler, handle: &NodeHandle, now_secs: u64) {
        let choice = self.random.borrow_mut().u8(..20);
        match choice {
            0..=9 => self.begin_submit(scheduler, handle, now_secs),
            10 | 11 => self.begin_lookup(scheduler, handle),
            12..=14 => self.begin_wait(scheduler, handle),
            15 => self.begin_gas(scheduler, handle),
            _ => self.begin_read(scheduler, handle),
        }
    }

    fn start(
        &self,
        scheduler: &Scheduler,
        what: String,
        wait: Option<Wait>,
        asking: impl Future<Output = ()> + 'static,
    ) {
        let question = Rc::new(Question {
            what: what.clone(),
            wait,
            is_answered: Cell::new(false),
            is_wanted: Rc::new(Cell::new(true)),
        });
        self.questions.borrow_mut().push(Rc::clone(&question));
        let is_wanted = Rc::clone(&question.is_wanted);
        let task = Task::new(what, is_wanted, async move {
            asking.await;
            question.is_answered.set(true);
        });
        scheduler.add(task);
    }

    /// Chooses a new transaction, or one that was sent before, possibly with another price or
    /// signature.
    fn choose_draft(&self, now_secs: u64) -> Draft {
        let model = self.oracle.model();
        let mut random = self.random.borrow_mut();
        if random.u8(..8) == 0
            && let Some(sent) = nth(&model, random.usize(..model.sent.len().max(1)))
        {
            let mut again = model.sent[&sent].draft;
            match random.u8(..5) {
                0 => again.price += 50,
                1 => again.signature = 1 - again.signature,
                2 => again.price = again.price.saturating_sub(50).max(100),
                _ => {}
            }
            return again;
        }
        let sender = match random.u8(..10) {
            0 => random.usize(..WALLETS),
            _ => random.usize(..3),
        };
        let mut numbers = self.next_numbers.borrow_mut();
        if random.u8(..6) == 0 {
            numbers[sender] = model.accounts[sender].sequence_number;
        }
        let draft = draft(
            &mut random,
            sender,
            numbers[sender],
            now_secs,
            model.accounts[sender].balance,
        );
        if draft.once == Once::Number(numbers[sender]) {
            numbers[sender] += 1;
        }
        draft
    }

    fn begin_submit(&self, scheduler: &Scheduler, handle: &NodeHandle, now_secs: u64) {
        let draft = self.choose_draft(now_secs);
        let transaction = draft.checked(&self.oracle.fixture.chain);
        let what = format!("submit {draft:?}");
        self.oracle.count("transactions sent");
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, what, None, async move {
            let asked = oracle.ask_to_submit(draft, &transaction);
            let answer = match handle.check_capacity(transaction.transaction()).await {
                Ok(()) => handle.submit((*transaction).clone()).await,
                Err(error) => {
                    oracle.count("refused before the signatures are checked");
                    Err(error)
                }
            };
            let text = match &answer {
                Ok(_) => "accepted".to_owned(),
                Err(error) => error.to_string(),
            };
            oracle
                .scheduler
                .note(format_args!("{}: {text}", transaction.hash()));
            oracle.submitted(asked, transaction.hash(), answer);
        });
    }

    /// Begins a request that checks the pool's capacity on an idle node, and submits in any case.
    ///
    /// The pool must reject the submission if the capacity check has reported that the pool or the
    /// account is full.
    pub(super) fn begin_insisting(
        &self,
        scheduler: &Scheduler,
        handle: &NodeHandle,
        now_secs: u64,
    ) {
        let draft = self.choose_draft(now_secs);
        let transaction = draft.checked(&self.oracle.fixture.chain);
        let what = format!("submit with or without room {draft:?}");
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, what, None, async move {
            let asked = oracle.ask_to_submit(draft, &transaction);
            let room = handle.check_capacity(transaction.transaction()).await;
            let answer = handle.submit((*transaction).clone()).await;
            if let Err(SubmitError::Full { .. } | SubmitError::AccountFull { .. }) = &room {
                oracle.count("submissions without room");
                let verdict = match &answer {
                    Ok(_) => Err(format!("{room:?}, then it was accepted: {draft:?}")),
                    Err(_) => Ok(()),
                };
                oracle.hold(properties::REFUSAL, verdict);
            }
            oracle.submitted(asked, transaction.hash(), answer);
        });
    }

    /// Begins a submission whose checks passed before disk space ran low, and which now reaches the
    /// pool.
    ///
    /// Only transactions with a sequence number that have not expired are submitted.
    pub(super) fn begin_late(&self, scheduler: &Scheduler, node: &NodeUnderTest, now_secs: u64) {
        let draft = self.choose_draft(now_secs);
        let transaction = draft.checked(&self.oracle.fixture.chain);
        let sequence_number = self.oracle.model().accounts[draft.sender].sequence_number;
        let (oracle, mempool) = (Rc::clone(&self.oracle), node.mailboxes.mempool.clone());
        let handle = node.handle.clone();
        let latest_secs = now_secs.max(handle.head().ledger_info().timestamp_usecs / 1_000_000);
        let is_checked =
            matches!(draft.once, Once::Number(_)) && draft.expiration_secs > latest_secs;
        if !is_checked {
            return;
        }
        self.start(
            scheduler,
            format!("submit late {draft:?}"),
            None,
            async move {
                let (reply, answer) = oneshot::channel();
                let mut asked = oracle.ask_to_submit(draft, &transaction);
                // Loaded after the request is recorded, as in a submission through the handle. An
                // earlier head could be older than responses that were sent before the request.
                let ledger_info = *handle.head().ledger_info();
                asked.at = oracle.room.missing_since().unwrap_or(asked.at);
                asked.is_unwritable = false;
                mempool.send(Submit {
                    transaction: Arc::clone(&transaction),
                    sequence_number,
                    reply,
                });
                let accepted = |transaction| Accepted {
                    ledger_info,
                    transaction,
                };
                if let Ok(answer) = answer.await {
                    oracle.count("late submissions");
                    oracle.submitted(asked, transaction.hash(), answer.map(accepted));
                }
            },
        );
    }

    /// Chooses the hash of an accepted or committed transaction, in most cases.
    fn choose_hash(&self) -> HashValue {
        let model = self.oracle.model();
        let mut random = self.random.borrow_mut();
        if random.u8(..20) == 0 {
            return unknown_hash(random.u64(..3));
        }
        let accepted = model.sent.iter();
        let accepted = accepted.filter(|(_, sent)| sent.is_held || sent.version.is_some());
        let accepted: Vec<HashValue> = accepted.map(|(hash, _)| *hash).collect();
        let chosen = match accepted.len() {
            count @ 1.. if random.u8(..6) > 0 => Some(accepted[random.usize(..count)]),
            _ => nth(&model, random.usize(..model.sent.len().max(1))),
        };
        chosen.unwrap_or_else(|| unknown_hash(0))
    }

    fn begin_lookup(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let hash = self.choose_hash();
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, format!("look up {hash}"), None, async move {
            let asked = oracle.ask();
            let answer = handle.transaction_by_hash(hash).await;
            oracle.looked_up(asked, hash, answer);
        });
    }

    fn begin_wait(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let hash = self.choose_hash();
        let timeout = Duration::from_millis(handle.config().wait.timeout_ms);
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let deadline = Rc::new(Cell::new(None));
        let wait = Wait {
            hash,
            deadline: Rc::clone(&deadline),
        };
        self.start(
            scheduler,
            format!("wait for {hash}"),
            Some(wait),
            async move {
                let asked = oracle.ask();
                let begun = Instant::now();
                deadline.set(Some(begun + timeout + TIMER_STEP));
                let answer = handle.wait_for_commit(hash).await;
                oracle.count(if begun.elapsed() >= timeout {
                    "waits that ran out"
                } else {
                    "waits that ended early"
                });
                oracle.looked_up(asked, hash, answer);
            },
        );
    }

    fn begin_gas(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, "gas estimate".to_owned(), None, async move {
            let asked = oracle.ask();
            match handle.gas_estimate().await {
                Ok(_) => oracle.count("answers: gas"),
                Err(error) => oracle.unanswered(asked, &error),
            }
        });
    }

    fn begin_read(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let (wallet, version) = {
            let newest = self.oracle.model().newest_version();
            let mut random = self.random.borrow_mut();
            (random.usize(..WALLETS), random.u64(..newest + 3))
        };
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let what = format!("read wallet {wallet} at {version}");
        self.start(scheduler, what, None, async move {
            let asked = oracle.ask();
            let query = ReadPage {
                chain: handle.chain().clone(),
                wallet,
                version,
            };
            let answer = handle.read(query).await;
            oracle.read(asked, wallet, version, answer);
        });
    }

    /// Subscribes to new blocks until the node ends.
    pub(super) fn begin_feed(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let is_wanted = Rc::new(Cell::new(true));
        let listening = async move {
            let asked = oracle.ask();
            let mut feed = match handle.subscribe_blocks().await {
                Ok(feed) => feed,
                Err(error) => return oracle.unanswered(asked, &error),
            };
            let mut next = None;
            while let Some(block) = feed.next().await {
                oracle.sync();
                oracle.count("blocks from the feed");
                let first = asked.floor.block_height + 1;
                let expected = next.unwrap_or(block.height().max(first));
                let known = oracle
                    .model()
                    .blocks
                    .get(block.height() as usize - 1)
                    .map(|known| {
                        known.header == block.header && known.transactions == block.transactions
                    });
                let is_right = block.height() == expected && known == Some(true);
                let verdict = is_right.then_some(()).ok_or_else(|| {
                    format!(
                        "block {} in the place of {expected}: {known:?}",
                        block.height()
                    )
                });
                oracle.hold(properties::FEED, verdict);
                next = Some(block.height() + 1);
            }
        };
        scheduler.add(Task::new("feed".to_owned(), is_wanted, listening));
    }
}

/// Returns the hash of the sent transaction at `index`, in the order of hashes.
fn nth(model: &Model, index: usize) -> Option<HashValue> {
    model.sent.keys().nth(index).copied()
}
