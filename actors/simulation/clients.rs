//! Requests of clients, each as a future that passes its response to the oracle.

use super::{
    fixture::{Draft, ReplayProtection, WALLETS, random_draft, unknown_hash},
    host::Task,
    model::Model,
    node::NodeUnderTest,
    oracle::Oracle,
    properties,
    reads::ReadAccount,
    retries::{Retries, is_decisive},
    scheduler::Scheduler,
};
use crate::{
    Accepted, NodeHandle, SubmitError, node::handle::point_read, protocol::mempool::Submit,
};
use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Maximum delay of a timer after its deadline.
pub(super) const TIMER_RESOLUTION: Duration = Duration::from_millis(1);

/// Wait for one transaction or for several.
#[derive(Clone)]
pub(super) struct Wait {
    pub(super) hashes: Vec<HashValue>,
    /// Latest time at which the wait ends. Set when it begins.
    pub(super) deadline: Rc<Cell<Option<Instant>>>,
}

/// A request of a client.
pub(super) struct OpenRequest {
    /// Description for the trace and for violations.
    pub(super) description: String,
    /// The long poll, if the request is one.
    pub(super) wait: Option<Wait>,
    pub(super) is_complete: Cell<bool>,
    /// False after the client has canceled the request.
    is_active: Rc<Cell<bool>>,
}

/// Clients of one simulation.
pub(super) struct Clients {
    pub(super) oracle: Rc<Oracle>,
    pub(super) random: RefCell<Rng>,
    requests: RefCell<Vec<Rc<OpenRequest>>>,
    retries: Retries,
    /// Sequence number of each wallet's next transaction, as the clients count them.
    next_sequence_numbers: RefCell<[u64; WALLETS]>,
}

impl Clients {
    pub(super) fn new(oracle: Rc<Oracle>, random: Rng) -> Self {
        Self {
            oracle,
            random: RefCell::new(random),
            requests: RefCell::default(),
            retries: Retries::default(),
            next_sequence_numbers: RefCell::new([0; WALLETS]),
        }
    }

    /// Returns the open requests.
    pub(super) fn open(&self) -> Vec<Rc<OpenRequest>> {
        let mut requests = self.requests.borrow_mut();
        requests.retain(|request| !request.is_complete.get() && request.is_active.get());
        requests.clone()
    }

    /// Discards all open requests, because the node and all its connections have ended.
    pub(super) fn discard_all(&self) {
        self.requests.borrow_mut().clear();
        let model = self.oracle.model();
        let numbers = model.accounts.iter().map(|account| account.sequence_number);
        for (next, number) in self
            .next_sequence_numbers
            .borrow_mut()
            .iter_mut()
            .zip(numbers)
        {
            *next = number;
        }
    }

    /// Cancels a random open request.
    pub(super) fn cancel_one(&self) {
        let open = self.open();
        if let Some(request) = self.random.borrow_mut().choice(open) {
            self.oracle.count("canceled requests");
            request.is_active.set(false);
        }
    }

    /// Begins a random request.
    pub(super) fn begin_random(&self, scheduler: &Scheduler, handle: &NodeHandle, now_secs: u64) {
        let choice = self.random.borrow_mut().u8(..24);
        match choice {
            0..=8 => self.begin_submit(scheduler, handle, now_secs),
            9 => self.begin_batch(scheduler, handle, now_secs),
            10 | 11 => self.begin_lookup(scheduler, handle),
            12..=14 => self.begin_wait(scheduler, handle),
            15 => self.begin_gas(scheduler, handle),
            20..=22 => self.begin_verdict(scheduler, handle),
            23 => self.begin_wait_for_many(scheduler, handle),
            _ => self.begin_read(scheduler, handle),
        }
    }

    pub(super) fn start(
        &self,
        scheduler: &Scheduler,
        description: String,
        wait: Option<Wait>,
        future: impl Future<Output = ()> + 'static,
    ) {
        let request = Rc::new(OpenRequest {
            description: description.clone(),
            wait,
            is_complete: Cell::new(false),
            is_active: Rc::new(Cell::new(true)),
        });
        self.requests.borrow_mut().push(Rc::clone(&request));
        let is_active = Rc::clone(&request.is_active);
        let task = Task::new(description, is_active, async move {
            future.await;
            request.is_complete.set(true);
        });
        scheduler.add(task);
    }

    /// Chooses a new transaction, or one that was sent before, possibly with another price or
    /// signature.
    pub(super) fn choose_draft(&self, now_secs: u64) -> Draft {
        let model = self.oracle.model();
        let mut random = self.random.borrow_mut();
        if random.u8(..4) == 0
            && let Some(draft) = self.retries.take(&mut random)
        {
            self.oracle.count("transactions retried");
            return draft;
        }
        if random.u8(..8) == 0
            && let Some(sent) = nth(&model, random.usize(..model.sent.len().max(1)))
        {
            let mut draft = model.sent[&sent].draft;
            match random.u8(..5) {
                0 => draft.price += 50,
                1 => draft.signature = 1 - draft.signature,
                2 => draft.price = draft.price.saturating_sub(50).max(100),
                _ => {}
            }
            return draft;
        }
        let sender = match random.u8(..10) {
            0 => random.usize(..WALLETS),
            _ => random.usize(..3),
        };
        let mut numbers = self.next_sequence_numbers.borrow_mut();
        if random.u8(..6) == 0 {
            numbers[sender] = model.accounts[sender].sequence_number;
        }
        let draft = random_draft(
            &mut random,
            sender,
            numbers[sender],
            now_secs,
            model.accounts[sender].balance,
        );
        if draft.replay_protection == ReplayProtection::SequenceNumber(numbers[sender]) {
            numbers[sender] += 1;
        }
        draft
    }

    /// Begins a submission, which is repeated until its client has received a decisive response.
    fn begin_submit(&self, scheduler: &Scheduler, handle: &NodeHandle, now_secs: u64) {
        let draft = self.choose_draft(now_secs);
        let attempt = self.retries.begin(draft);
        let is_response_lost = self.random.borrow_mut().u8(..4) == 0;
        let transaction = draft.build_checked(&self.oracle.fixture.chain);
        let description = format!("submit {draft:?}");
        self.oracle.count("transactions sent");
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, description, None, async move {
            let start = oracle.begin_submission(draft, &transaction);
            let signed = transaction.transaction();
            let may_be_committed = handle.may_be_committed(signed);
            let hash = may_be_committed.then(|| transaction.hash());
            let accepted = handle.accept_unchecked(signed, hash, ClientKey::NODE);
            let response = match accepted.await {
                Ok(Some(committed)) => {
                    oracle.count("accepted without signature verification");
                    Ok(committed)
                }
                Ok(None) => handle.submit((*transaction).clone(), ClientKey::NODE).await,
                Err(error) => {
                    oracle.count("rejected before signature verification");
                    Err(error)
                }
            };
            if let Err(error) = &response {
                oracle.check_not_committed(&handle, &start, transaction.hash(), error);
            }
            if !is_response_lost && response.as_ref().err().is_none_or(is_decisive) {
                attempt.decide();
            }
            let text = match &response {
                Ok(_) => "accepted".to_owned(),
                Err(error) => error.to_string(),
            };
            oracle
                .scheduler
                .trace(format_args!("{}: {text}", transaction.hash()));
            oracle.check_submission(start, transaction.hash(), response);
        });
    }

    /// Begins a request that checks the pool's capacity on an idle node, and submits in any case.
    ///
    /// The pool must reject the submission if the capacity check has reported that the pool or the
    /// account is full.
    pub(super) fn begin_submit_beyond_capacity(
        &self,
        scheduler: &Scheduler,
        handle: &NodeHandle,
        now_secs: u64,
    ) {
        let draft = self.choose_draft(now_secs);
        let transaction = draft.build_checked(&self.oracle.fixture.chain);
        let description = format!("submit beyond capacity {draft:?}");
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, description, None, async move {
            let start = oracle.begin_submission(draft, &transaction);
            let capacity = handle.check_capacity(transaction.transaction()).await;
            let response = handle.submit((*transaction).clone(), ClientKey::NODE).await;
            if let Err(SubmitError::Full { .. } | SubmitError::AccountFull { .. }) = &capacity {
                oracle.count("submissions beyond capacity");
                let is_committed = oracle.model().is_committed(&transaction.hash());
                let verdict = match &response {
                    Ok(_) if !is_committed => {
                        Err(format!("{capacity:?}, then accepted: {draft:?}"))
                    }
                    _ => Ok(()),
                };
                oracle.report(properties::REJECTION, verdict);
            }
            oracle.check_submission(start, transaction.hash(), response);
        });
    }

    /// Begins a submission whose checks passed before disk space ran low, and which now reaches the
    /// pool.
    ///
    /// Only transactions with a sequence number that have not expired are submitted.
    pub(super) fn begin_late_submit(
        &self,
        scheduler: &Scheduler,
        node: &NodeUnderTest,
        now_secs: u64,
    ) {
        let draft = self.choose_draft(now_secs);
        let transaction = draft.build_checked(&self.oracle.fixture.chain);
        let sequence_number = self.oracle.model().accounts[draft.sender].sequence_number;
        let (oracle, mempool) = (Rc::clone(&self.oracle), node.mailboxes.mempool.clone());
        let handle = node.handle.clone();
        let latest_secs = now_secs.max(handle.head().ledger_info().timestamp_usecs / 1_000_000);
        let is_checked = matches!(draft.replay_protection, ReplayProtection::SequenceNumber(_))
            && draft.expiration_secs > latest_secs;
        if !is_checked {
            return;
        }
        self.start(
            scheduler,
            format!("late submit {draft:?}"),
            None,
            async move {
                let (reply, response) = oneshot::channel();
                let mut start = oracle.begin_submission(draft, &transaction);
                // Loaded after the request is recorded, as in a submission through the handle. An
                // earlier head could be older than responses that were sent before the request.
                let ledger_info = *handle.head().ledger_info();
                start.step = oracle.disk_space.low_since().unwrap_or(start.step);
                start.is_unwritable = false;
                let submitted = Arc::clone(&transaction);
                mempool.send(Submit::one(submitted, sequence_number, reply));
                let accepted = |transaction| Accepted {
                    ledger_info,
                    transaction,
                };
                if let Ok(mut responses) = response.await {
                    let response = responses.remove(0);
                    oracle.count("late submissions");
                    oracle.check_submission(start, transaction.hash(), response.map(accepted));
                }
            },
        );
    }

    /// Chooses the hash of an accepted or committed transaction, in most cases.
    pub(super) fn choose_hash(&self) -> HashValue {
        let model = self.oracle.model();
        let mut random = self.random.borrow_mut();
        if random.u8(..20) == 0 {
            return unknown_hash(random.u64(..3));
        }
        let accepted = model.sent.iter();
        let accepted = accepted.filter(|(_, sent)| sent.is_accepted || sent.version.is_some());
        let accepted: Vec<HashValue> = accepted.map(|(hash, _)| *hash).collect();
        let chosen = match accepted.len() {
            count @ 1.. if random.u8(..6) > 0 => Some(accepted[random.usize(..count)]),
            _ => nth(&model, random.usize(..model.sent.len().max(1))),
        };
        chosen.unwrap_or_else(|| unknown_hash(0))
    }

    /// Chooses a transaction that was sent, in half of the cases one that is sent again.
    pub(super) fn choose_sent(&self) -> Option<HashValue> {
        let mut random = self.random.borrow_mut();
        if random.bool()
            && let Some(draft) = self.retries.peek(&mut random)
        {
            return Some(draft.build_checked(&self.oracle.fixture.chain).hash());
        }
        let model = self.oracle.model();
        nth(&model, random.usize(..model.sent.len().max(1)))
    }

    fn begin_lookup(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let hash = self.choose_hash();
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, format!("look up {hash}"), None, async move {
            let start = oracle.begin_request();
            let response = handle.transaction_by_hash(hash, ClientKey::NODE).await;
            oracle.check_lookup(start, hash, response);
        });
    }

    fn begin_wait(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let hash = self.choose_hash();
        let timeout = Duration::from_millis(handle.config().wait.timeout_ms);
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let deadline = Rc::new(Cell::new(None));
        let wait = Wait {
            hashes: vec![hash],
            deadline: Rc::clone(&deadline),
        };
        self.start(
            scheduler,
            format!("wait for {hash}"),
            Some(wait),
            async move {
                let start = oracle.begin_request();
                let started_at = Instant::now();
                deadline.set(Some(started_at + timeout + TIMER_RESOLUTION));
                let response = handle.wait_for_commit(hash, ClientKey::NODE).await;
                oracle.count(if started_at.elapsed() >= timeout {
                    "waits that timed out"
                } else {
                    "waits that ended early"
                });
                oracle.check_lookup(start, hash, response);
            },
        );
    }

    fn begin_gas(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, "gas estimate".to_owned(), None, async move {
            let start = oracle.begin_request();
            match handle.gas_estimate().await {
                Ok(_) => oracle.count("gas estimates"),
                Err(error) => oracle.check_error(start, &error),
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
        let description = format!("read wallet {wallet} at {version}");
        self.start(scheduler, description, None, async move {
            let start = oracle.begin_request();
            let query = ReadAccount {
                chain: handle.chain().clone(),
                wallet,
                version,
            };
            let response = handle.read(point_read(ClientKey::NODE), query).await;
            oracle.check_read(start, wallet, version, response);
        });
    }
}

/// Returns the hash of the sent transaction at `index`, in the order of hashes.
fn nth(model: &Model, index: usize) -> Option<HashValue> {
    model.sent.keys().nth(index).copied()
}
