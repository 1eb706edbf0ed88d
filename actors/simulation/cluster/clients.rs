//! Clients, each of which submits a transaction to a validator and waits for its commit there.

use super::{
    super::{
        fixture::{Draft, ReplayProtection, WALLETS, random_draft},
        host::Task,
        model::SentTransaction,
        oracle::RequestStart,
    },
    record::Record,
};
use crate::{NodeHandle, TransactionStatus};
use fastrand::Rng;
use ledger_limits::ClientKey;
use ledger_types::CheckedTransaction;
use std::{cell::Cell, rc::Rc, sync::Arc};

/// Number of wallets that most transactions are of, so that they depend on each other.
const BUSY_WALLETS: usize = 3;

/// The clients of all validators.
pub(super) struct Clients {
    record: Rc<Record>,
    random: Rng,
    /// Sequence number of each wallet's next transaction, as the clients count them.
    next_sequence_numbers: [u64; WALLETS],
    /// A transaction that was sent to one validator, to be sent to another.
    last: Option<(Draft, Arc<CheckedTransaction>)>,
}

impl Clients {
    pub(super) fn new(record: &Rc<Record>, random: Rng) -> Self {
        Self {
            record: Rc::clone(record),
            random,
            next_sequence_numbers: [0; WALLETS],
            last: None,
        }
    }

    fn choose(&mut self, now_secs: u64) -> (Draft, Arc<CheckedTransaction>) {
        if self.random.u8(..4) == 0
            && let Some(last) = self.last.take()
        {
            self.record.count("transactions sent to two validators");
            return last;
        }
        let model = self.record.model();
        let sender = match self.random.u8(..10) {
            0 => self.random.usize(..WALLETS),
            _ => self.random.usize(..BUSY_WALLETS),
        };
        let next = &mut self.next_sequence_numbers[sender];
        let account = &model.accounts[sender];
        if self.random.u8(..3) == 0 {
            *next = account.sequence_number;
        }
        let random = &mut self.random;
        let draft = random_draft(random, sender, *next, now_secs, account.balance);
        if draft.replay_protection == ReplayProtection::SequenceNumber(*next) {
            *next += 1;
        }
        let transaction = draft.build_signed(&self.record.fixture.chain);
        self.last = Some((draft, Arc::clone(&transaction)));
        (draft, transaction)
    }

    /// Begins a submission to `node`.
    pub(super) fn begin_submit(&mut self, node: &NodeHandle, now_secs: u64) {
        let (draft, transaction) = self.choose(now_secs);
        let hash = transaction.hash();
        self.record.model().sent.entry(hash).or_insert_with(|| {
            SentTransaction::new(draft, &transaction, RequestStart::default(), now_secs)
        });
        let (record, node) = (Rc::clone(&self.record), node.clone());
        let submit = async move {
            let submitted = node.submit((*transaction).clone(), ClientKey::NODE).await;
            if submitted.is_err() {
                return record.count("submissions rejected");
            }
            record.count("submissions accepted");
            let waited = node.wait_for_commit(hash, ClientKey::NODE).await;
            if let Ok((_, TransactionStatus::Committed(committed))) = waited {
                record.acknowledge_commit(hash, committed.version);
            }
        };
        let name = format!("submit {hash}");
        let task = Task::new(name, Rc::new(Cell::new(true)), submit);
        self.record.scheduler.add(task);
    }
}
