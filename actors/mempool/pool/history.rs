//! Random histories of submissions, batches, blocks, expirations and restarts.
//!
//! A history applies each step to the pool and to its model, and compares contents, order, results,
//! batches and removal reasons.

use super::{
    invariants::check_indices,
    model::{Item, Model},
    *,
};
use crate::{
    GroupEnd, SubmitError,
    mempool::persistence::{file, restore},
};
use fastrand::Rng;
use ledger_metrics::DurationRecorder;
use ledger_test_support::{
    block::{block, leaving_out},
    development_chain,
    draft::{Draft, draft, orderless},
};
use ledger_types::{
    ExecutedBlock, ReplayProtector::SequenceNumber, TransactionInfo, ValidationStatus,
};
use std::collections::{HashSet, VecDeque};

/// Number of occurrences of each kind of event.
pub(super) type Counts = BTreeMap<String, usize>;

/// A random sequence of operations on a pool, compared with its model.
pub(super) struct History<'a> {
    random: Rng,
    pool: Pool,
    model: Model,
    /// Hashes of the transactions that the ledger has executed.
    executed: HashSet<HashValue>,
    used_nonces: HashSet<PoolKey>,
    now_secs: u64,
    blocks: VecDeque<Vec<Arc<CheckedTransaction>>>,
    pub(super) height: u64,
    /// Lowest nonce of new transactions. It rises occasionally, because the ledger accepts each
    /// nonce only once.
    nonce_base: u64,
    counts: &'a mut Counts,
}

/// Returns random limits of a pool.
fn limits(random: &mut Rng) -> MempoolConfig {
    let size = draft(1, 0).checked().size_bytes();
    // A history reaches a limit of the whole pool, or none of them, more often than those of
    // accounts.
    let (transactions, bytes, time_ms) = match random.u8(..4) {
        0 => (random.usize(1..=24), usize::MAX, u64::MAX / 1_000),
        1 => (1_000, size * random.usize(2..26), u64::MAX / 1_000),
        2 => (1_000, usize::MAX, random.u64(1..5)),
        _ => (1_000, usize::MAX, u64::MAX / 1_000),
    };
    MempoolConfig {
        capacity_transactions: transactions,
        capacity_bytes: bytes,
        capacity_time_ms: time_ms,
        capacity_per_account: random.usize(1..=7),
        capacity_per_account_orderless: random.usize(1..=7),
        ttl_secs: random.u64(10..50),
    }
}

impl<'a> History<'a> {
    pub(super) fn new(seed: u64, counts: &'a mut Counts) -> Self {
        let mut random = Rng::with_seed(seed);
        let limits = limits(&mut random);
        Self {
            random,
            pool: Pool::new(limits.clone()),
            model: Model::new(limits),
            executed: HashSet::new(),
            used_nonces: HashSet::new(),
            now_secs: 1_000,
            blocks: VecDeque::new(),
            height: 0,
            nonce_base: 0,
            counts,
        }
    }

    fn count(&mut self, event: impl Into<String>) {
        *self.counts.entry(event.into()).or_default() += 1;
    }

    pub(super) fn step(&mut self) {
        match self.random.u8(..100) {
            0..60 => {
                let transaction = self.draft().checked();
                self.submit(&transaction);
            }
            60..75 => self.take(),
            75..86 => self.commit_next(),
            86..89 => self.decide_foreign(),
            89..91 => self.return_batch(),
            91..92 => self.commit_foreign(),
            92..99 => {
                self.now_secs += self.random.u64(..8);
                self.pool.expire(self.now_secs);
                self.model.expire(self.now_secs);
            }
            _ => self.restart_node(),
        }
        self.check_equality();
    }

    /// Returns a random transaction. Senders, numbers, prices and contents vary little, so that
    /// transactions often conflict.
    fn draft(&mut self) -> Draft {
        let sender = self.random.u64(1..=5);
        let random = &mut self.random;
        let number = self.model.number(AccountAddress::from_low_u64(sender));
        let mut draft = if random.bool() {
            if random.u8(..20) == 0 {
                self.nonce_base += 1;
            }
            Draft {
                number: random.u64(..2),
                ..orderless(sender, self.nonce_base + random.u64(..8))
            }
        } else if random.u8(..20) == 0 {
            draft(sender, number.saturating_sub(1))
        } else {
            draft(sender, number + random.u64(..7))
        };
        draft.price = 100 * random.u64(1..=3);
        draft.expiration_secs = self.now_secs / 16 * 16 + 16 + 16 * random.u64(..4);
        if random.u8(..40) == 0 {
            draft.expiration_secs = self.now_secs;
        }
        draft.signature = random.u8(..3);
        if random.u8(..8) == 0 {
            let bytes_max = random.choice([400, 16_000]).expect("not empty");
            draft.argument = vec![1; random.usize(..bytes_max)];
        }
        if random.u8(..10) == 0 {
            draft.max_gas = 2_000;
        }
        draft
    }

    fn submit(&mut self, transaction: &Arc<CheckedTransaction>) {
        let key = PoolKey::of(transaction.raw());
        let pending = Pending {
            transaction: Arc::clone(transaction),
            inserted_at_secs: self.now_secs,
        };
        let before = self.model.find(key).map(Item::hash);
        let number = self.model.number(key.sender);
        let cost_usecs = self.pool.costs.estimate_usecs(transaction);
        let outcome = self.pool.submit(pending, number, self.now_secs);
        if let Ok(accepted) = &outcome {
            self.pool.track_client(accepted);
        }
        let outcome = outcome.map(|accepted| accepted.hash());
        let now_secs = self.now_secs;
        let expected = self
            .model
            .submit(transaction, cost_usecs, now_secs, now_secs);
        assert_eq!(format!("{outcome:?}"), format!("{expected:?}"));
        let kind = if matches!(key.protector, Nonce(_)) {
            "orderless"
        } else {
            "sequence"
        };
        self.count(match outcome {
            Ok(accepted) if Some(accepted) == before => format!("{kind}: resubmitted"),
            Ok(_) if before.is_some() => format!("{kind}: replaces"),
            Ok(_) => format!("{kind}: new"),
            Err(SubmitError::Full { reason } | SubmitError::AccountFull { reason }) => {
                format!("{kind}: {}", without_digits(&reason))
            }
            Err(SubmitError::Invalid(discard)) => format!("{kind}: {}", discard.status),
            Err(error) => format!("{kind}: {}", without_digits(&error.to_string())),
        });
    }

    fn take(&mut self) {
        let limits = BatchLimits {
            transactions_max: self.random.usize(1..=8),
            bytes_max: if self.random.bool() {
                self.random.usize(..1_000)
            } else {
                usize::MAX
            },
            usecs_max: if self.random.bool() {
                let bits = self.random.u32(8..16);
                self.random.u64(..1 << bits)
            } else {
                u64::MAX
            },
        };
        let batch = self.pool.take_batch(limits);
        let hashes: Vec<_> = batch.iter().map(|transaction| transaction.hash()).collect();
        assert_eq!(hashes, self.model.batch(limits));
        let bytes: usize = batch
            .iter()
            .map(|transaction| transaction.size_bytes())
            .sum();
        let usecs = batch.iter().map(|transaction| {
            let item = self.model.find(PoolKey::of(transaction.raw()));
            item.expect("the pool holds it").cost_usecs
        });
        let usecs: u64 = usecs.sum();
        self.count(match batch.len() {
            0 => "batch: empty",
            _ if bytes > limits.bytes_max => "batch: one transaction above the byte limit",
            _ if usecs > limits.usecs_max => "batch: one transaction above the time limit",
            n if n == limits.transactions_max => "batch: ended by the transaction limit",
            _ if self.pool.has_ready() && limits.usecs_max == u64::MAX => {
                "batch: ended by the byte limit"
            }
            _ if self.pool.has_ready() && limits.bytes_max == usize::MAX => {
                "batch: ended by the time limit"
            }
            _ if self.pool.has_ready() => "batch: ended by one of two limits",
            _ => "batch: all ready transactions",
        });
        if !batch.is_empty() {
            self.blocks.push_back(batch);
        }
    }

    /// Executes a transaction on the simulated ledger, or returns the status that rejects it.
    fn execute(&mut self, transaction: &CheckedTransaction) -> Result<(), ValidationStatus> {
        let key = PoolKey::of(transaction.raw());
        let expected = self.model.number(key.sender);
        if transaction.raw().expiration_timestamp_secs <= self.now_secs {
            return Err(ValidationStatus::TransactionExpired);
        }
        match key.protector {
            SequenceNumber(number) if number > expected => {
                Err(ValidationStatus::SequenceNumberTooNew)
            }
            SequenceNumber(number) if number < expected => {
                Err(ValidationStatus::SequenceNumberTooOld)
            }
            Nonce(_) if self.used_nonces.contains(&key) => Err(ValidationStatus::NonceAlreadyUsed),
            _ if self.random.u8(..12) == 0 => Err(ValidationStatus::InvalidAuthKey),
            protector => {
                match protector {
                    Nonce(_) => drop(self.used_nonces.insert(key)),
                    SequenceNumber(_) => drop(self.model.numbers.insert(key.sender, expected + 1)),
                }
                assert!(self.executed.insert(transaction.hash()), "executed twice");
                Ok(())
            }
        }
    }

    /// Commits the oldest block in flight. In half of the cases the block is full after a random
    /// number of executed transactions.
    fn commit_next(&mut self) {
        let executions_max = if self.random.bool() {
            self.random.usize(..6)
        } else {
            usize::MAX
        };
        if let Some(batch) = self.blocks.pop_front() {
            self.commit(batch, executions_max);
        }
    }

    /// Decides a block of another validator, with some of the transactions of this pool. It is
    /// committed later.
    fn decide_foreign(&mut self) {
        let waiting = self.model.items.iter().filter(|item| !item.is_taken);
        let waiting: Vec<_> = waiting.map(|item| Arc::clone(&item.transaction)).collect();
        let mut block: Vec<_> = waiting.into_iter().filter(|_| self.random.bool()).collect();
        if self.random.bool() {
            self.random.shuffle(&mut block);
        }
        self.pool.take(&block);
        for transaction in &block {
            let taken = self.model.take(transaction.hash());
            self.count(match taken {
                true => "decided elsewhere: taken",
                false => "decided elsewhere: not next",
            });
        }
        if !block.is_empty() {
            self.blocks.push_back(block);
        }
    }

    /// Returns the newest batch, because validators decided another block.
    fn return_batch(&mut self) {
        let Some(batch) = self.blocks.pop_back() else {
            return;
        };
        self.pool.return_batch(&batch);
        for transaction in by_account(batch) {
            let item = self.model.find(PoolKey::of(transaction.raw()));
            if item.is_some_and(|item| item.hash() == transaction.hash() && item.is_taken) {
                self.count("batch: returned");
                self.model.set_taken(transaction.hash(), false);
            }
        }
    }

    /// Commits a block of another node, with transactions that this pool has not supplied.
    fn commit_foreign(&mut self) {
        let drafts = (0..3).map(|_| self.draft().signature(9).checked());
        let unexecuted: Vec<_> = drafts.collect();
        let unexecuted = unexecuted
            .into_iter()
            .filter(|one| !self.executed.contains(&one.hash()));
        let batch: Vec<_> = unexecuted.collect();
        self.commit(batch, usize::MAX);
    }

    fn commit(&mut self, batch: Vec<Arc<CheckedTransaction>>, executions_max: usize) {
        let (mut executed, mut rejected, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for transaction in batch {
            if executed.len() >= executions_max {
                left_out.push(transaction);
                continue;
            }
            match self.execute(&transaction) {
                Ok(()) => executed.push(transaction),
                Err(status) => rejected.push((transaction, status)),
            }
        }
        self.height += 1;
        let block = leaving_out(block(self.height, &executed, &rejected), &left_out);
        let block = self.with_random_gas(block);
        let times = BlockTimes {
            execution_usecs: self.random.u64(..2_000),
            group_end: self.random.bool().then(|| GroupEnd {
                write_usecs: self.random.bool().then(|| self.random.u64(..20_000)),
            }),
        };
        self.pool
            .record_times(&block, times, &DurationRecorder::default());
        let pending_count = executed
            .iter()
            .filter(|one| self.pool.get(&one.hash()).is_some())
            .count();
        assert_eq!(
            self.pool.commit(&block),
            pending_count,
            "number of executed transactions"
        );
        for transaction in &executed {
            let (hash, key) = (transaction.hash(), PoolKey::of(transaction.raw()));
            if let Some(pending) = self.model.find(key).map(Item::hash) {
                let status = match key.protector {
                    Nonce(_) => ValidationStatus::NonceAlreadyUsed,
                    SequenceNumber(_) => ValidationStatus::SequenceNumberTooOld,
                };
                let reason = (pending != hash).then(|| RemovalReason::Rejected(status.into()));
                self.model.remove_item(pending, reason);
            }
        }
        self.model.retag_new_heads();
        let mut released = left_out;
        for (transaction, status) in rejected {
            let Some(item) = self.model.find(PoolKey::of(transaction.raw())) else {
                continue;
            };
            if item.hash() != transaction.hash() {
                continue;
            }
            let at_secs = item.expires_at_secs;
            let reason = match status {
                ValidationStatus::SequenceNumberTooNew => {
                    released.push(transaction);
                    continue;
                }
                ValidationStatus::TransactionExpired => RemovalReason::Expired { at_secs },
                status => RemovalReason::Rejected(status.into()),
            };
            self.model.remove_item(transaction.hash(), Some(reason));
        }
        for transaction in by_account(released) {
            self.count("commit: released");
            self.model.set_taken(transaction.hash(), false);
        }
    }

    /// Sets random gas for each transaction of a block, so that estimates change.
    fn with_random_gas(&mut self, block: Arc<ExecutedBlock>) -> Arc<ExecutedBlock> {
        let mut block = Arc::unwrap_or_clone(block);
        for executed in &mut block.transactions {
            let TransactionInfo::V0(info) = &mut executed.info;
            info.gas_used = self.random.u64(..10_000);
        }
        Arc::new(block)
    }

    /// Restarts the node: saves the pool, makes some of the blocks in flight durable, and restores
    /// the pool with new limits.
    fn restart_node(&mut self) {
        let saved = file::encode(&development_chain(), &self.pool.contents()).unwrap();
        while let Some(batch) = self.blocks.pop_front().filter(|_| self.random.u8(..3) > 0) {
            for transaction in batch {
                let _ = self.execute(&transaction);
            }
        }
        self.blocks.clear();
        let limits = limits(&mut self.random);
        self.pool = Pool::new(limits.clone());
        let items = std::mem::take(&mut self.model.items);
        let numbers = std::mem::take(&mut self.model.numbers);
        self.model = Model::new(limits);
        self.model.numbers = numbers;
        let pending = file::decode(&saved, &development_chain()).unwrap();
        assert_eq!(pending.len(), items.len());
        for (pending, item) in pending.into_iter().zip(items) {
            assert_eq!(pending.inserted_at_secs, item.inserted_at_secs);
            let hash = pending.transaction.hash();
            assert_eq!(hash, item.hash());
            if self.executed.contains(&hash) {
                self.count("restart: was executed");
                continue;
            }
            let number = self
                .model
                .number(PoolKey::of(pending.transaction.raw()).sender);
            let cost_usecs = self.pool.costs.estimate_usecs(&pending.transaction);
            restore::readmit(&mut self.pool, pending, number, self.now_secs);
            let outcome = self.model.submit(
                &item.transaction,
                cost_usecs,
                item.inserted_at_secs,
                self.now_secs,
            );
            let ttl_end = item.inserted_at_secs + self.model.limits.ttl_secs;
            let at_secs = item
                .transaction
                .raw()
                .expiration_timestamp_secs
                .min(ttl_end);
            let reason = match outcome {
                Ok(_) => continue,
                Err(SubmitError::Invalid(_)) if at_secs <= self.now_secs => {
                    RemovalReason::Expired { at_secs }
                }
                Err(SubmitError::Invalid(discard)) => RemovalReason::Rejected(discard),
                Err(other) => RemovalReason::Evicted(format!("at a restart: {other}")),
            };
            self.model.removed.push(Removed { hash, reason });
        }
        self.count("restart");
    }

    fn check_equality(&mut self) {
        check_indices(&self.pool);
        let removed = self.pool.drain_removed();
        assert_eq!(removed, std::mem::take(&mut self.model.removed));
        for Removed { hash, reason } in removed {
            if self.pool.get(&hash).is_none() {
                assert_eq!(self.pool.removal_reason(&hash), Some(&reason));
            }
            self.count(format!("removed: {}", without_digits(&reason.to_string())));
        }
        let hashes = |pending: &Pending| pending.transaction.hash();
        let costs = self.model.items.iter().map(|item| item.cost_usecs);
        assert_eq!(self.pool.total.usecs, costs.sum::<u64>());
        let pool: Vec<_> = self.pool.contents().iter().map(hashes).collect();
        let model: Vec<_> = self.model.items.iter().map(Item::hash).collect();
        assert_eq!(pool, model);
        for item in &self.model.items {
            assert!(self.pool.get(&item.hash()).is_some());
            assert_eq!(self.pool.removal_reason(&item.hash()), None);
        }
        assert_eq!(self.pool.has_ready(), self.model.has_ready());
    }
}

/// Returns transactions in the order in which the pool makes them wait again: those of an account
/// together.
fn by_account(transactions: Vec<Arc<CheckedTransaction>>) -> Vec<Arc<CheckedTransaction>> {
    let sender = |transaction: &Arc<CheckedTransaction>| transaction.raw().sender;
    let senders: Vec<_> = transactions.iter().map(sender).collect();
    let first = |of: AccountAddress| senders.iter().position(|&sender| sender == of);
    let mut ordered = transactions;
    ordered.sort_by_key(|transaction| first(sender(transaction)));
    ordered
}

/// Returns the text without numbers and hashes, so that texts of one kind are equal.
fn without_digits(text: &str) -> String {
    let words = text.split(' ').filter(|word| !word.starts_with("0x"));
    let words = words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
