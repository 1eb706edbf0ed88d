//! The submission of the transactions of a batch, each of whose steps is done for all of them.
//!
//! The steps and their order are those of a single submission (`submit.rs`), so a transaction has
//! the same outcome alone and in a batch. The signatures wait in the queue of the connection
//! together, and the mempool receives the valid transactions in one message.

use super::submit::{HASH_SPEED, check_call};
use crate::{
    context::RequestContext,
    error::ErrorKind,
    limits::{RequestWork, Subject},
};
use ledger_actors::{Accepted, Candidate, SubmitError};
use ledger_crypto::HashValue;
use ledger_limits::{Demand, WorkKind};
use ledger_types::SignedTransaction;
use tokio::task::yield_now;

/// Maximum number of transactions that an HTTP worker checks, or whose outcomes it converts,
/// between two polls of its event loop. Each takes less than a microsecond.
const CHECKS_PER_YIELD: usize = 128;

/// Maximum number of transactions of a batch that it is charged to. The record of each takes less
/// than a microsecond of the HTTP worker.
const CHARGED_MAX: usize = 64;

/// A transaction of a batch before the check of its signatures.
struct Entry {
    /// Index in the batch.
    index: usize,
    signed: SignedTransaction,
    /// Hash of the transaction, if it may be committed.
    hash: Option<HashValue>,
}

impl Entry {
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            transaction: &self.signed,
            hash: self.hash,
        }
    }
}

/// The submission of a batch, and the outcomes that are known.
struct Submission<'a> {
    cx: &'a RequestContext,
    /// The outcome of each transaction, in order. That of an entry is set when it is known.
    outcomes: Vec<Result<(), ErrorKind>>,
}

/// Submits the transactions in the order of the batch, so that sequence numbers of an account are
/// ascending. Returns their outcomes, in order.
///
/// An element of `transactions` is an error if it could not be converted.
pub(super) async fn submit_all(
    cx: &RequestContext,
    transactions: Vec<Result<SignedTransaction, ErrorKind>>,
) -> Vec<Result<(), ErrorKind>> {
    let charged = cx.recorded_work().map(|work| charge(work, &transactions));
    let outcomes = Vec::with_capacity(transactions.len());
    let mut submission = Submission { cx, outcomes };
    let entries = submission.begin(transactions).await;
    let entries = submission.reject_denied(entries).await;
    let entries = submission.accept_unchecked(entries).await;
    submission.submit(entries).await;
    if let (Some(work), Some(charged)) = (cx.recorded_work(), charged) {
        let outcomes = charged.iter().map(|index| &submission.outcomes[*index]);
        work.set_rejected(outcomes.map(Result::is_err));
    }
    submission.outcomes
}

/// Charges a batch to some of its transactions at equal distances. Returns their indices.
fn charge(work: &RequestWork, transactions: &[Result<SignedTransaction, ErrorKind>]) -> Vec<usize> {
    let distance = transactions.len().div_ceil(CHARGED_MAX).max(1);
    // A client does not know which of its transactions are charged.
    let first = fastrand::usize(..distance);
    let mut charged = Vec::new();
    for (index, transaction) in transactions
        .iter()
        .enumerate()
        .skip(first)
        .step_by(distance)
    {
        if let Ok(signed) = transaction {
            work.charge(Subject::of_submission(signed), distance as u32);
            charged.push(index);
        }
    }
    charged
}

impl Submission<'_> {
    /// Checks the number of arguments of each call, and computes the hashes of the transactions
    /// that may be committed.
    async fn begin(
        &mut self,
        transactions: Vec<Result<SignedTransaction, ErrorKind>>,
    ) -> Vec<Entry> {
        let (mut new, mut maybe_committed) = (Vec::new(), Vec::new());
        for (index, transaction) in transactions.into_iter().enumerate() {
            yield_before(index).await;
            let checked = transaction.and_then(|signed| check_call(&signed).map(|()| signed));
            match checked {
                Ok(signed) => {
                    let entries = match self.cx.node().may_be_committed(&signed) {
                        true => &mut maybe_committed,
                        false => &mut new,
                    };
                    entries.push(Entry {
                        index,
                        signed,
                        hash: None,
                    });
                    self.outcomes.push(Ok(()));
                }
                Err(problem) => self.outcomes.push(Err(problem)),
            }
        }
        new.extend(self.with_hashes(maybe_committed).await);
        new.sort_unstable_by_key(|entry| entry.index);
        new
    }

    /// Returns the entries with their hashes, which a renderer computes if that takes longer than
    /// an HTTP worker may work at once. Without capacity for it, all of them are rejected.
    async fn with_hashes(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let sizes = entries.iter().map(|entry| entry.signed.size_bytes());
        let demand = Demand::bytes(sizes.sum::<usize>() / HASH_SPEED);
        let indices: Vec<_> = entries.iter().map(|entry| entry.index).collect();
        let chain = self.cx.chain().clone();
        let hash = move || {
            for entry in &mut entries {
                entry.hash = Some(entry.signed.hash(chain.vendor()));
            }
            entries
        };
        match self.cx.run(WorkKind::Parse, demand, hash).await {
            Ok(entries) => entries,
            Err(problem) => {
                for index in indices {
                    self.outcomes[index] = Err(problem.clone());
                }
                Vec::new()
            }
        }
    }

    /// Rejects the transactions that the filter of the operator denies, except those that are
    /// committed: the filter may have changed since they were accepted.
    async fn reject_denied(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let node = self.cx.node();
        let (mut admitted, mut denied, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for (number, entry) in entries.into_iter().enumerate() {
            yield_before(number).await;
            match node.check_filter(&entry.signed) {
                Ok(()) => admitted.push(entry),
                Err(filtered) => {
                    denied.push(entry);
                    reasons.push(filtered);
                }
            }
        }
        let candidates: Vec<_> = denied.iter().map(Entry::candidate).collect();
        let found = node.find_all_committed(&candidates, self.cx.client()).await;
        for ((entry, reason), found) in denied.iter().zip(reasons).zip(found) {
            self.outcomes[entry.index] = match found {
                Ok(true) => Ok(()),
                Ok(false) => Err(reason.into()),
                Err(error) => Err(error.into()),
            };
        }
        admitted
    }

    /// Returns the entries whose signatures must be checked: they are not committed, and the
    /// mempool may have capacity for them.
    async fn accept_unchecked(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let candidates: Vec<_> = entries.iter().map(Entry::candidate).collect();
        let (node, client) = (self.cx.node(), self.cx.client());
        let found = node.accept_all_unchecked(&candidates, client).await;
        let mut found = found.into_iter();
        entries.retain(|entry| match found.next() {
            Some(Ok(false)) => true,
            Some(Err(error)) => {
                self.outcomes[entry.index] = Err(error.into());
                false
            }
            Some(Ok(true)) | None => false,
        });
        entries
    }

    /// Checks the signatures in the queue of the connection, and submits the transactions with
    /// valid ones. Records the outcomes for the connection, in the order of the batch.
    async fn submit(&mut self, entries: Vec<Entry>) {
        let (cx, mut results) = (self.cx, Vec::with_capacity(entries.len()));
        let (indices, signed): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .map(|entry| (entry.index, entry.signed))
            .unzip();
        let (node, client) = (cx.node(), cx.client());
        let verdicts = node.check_all_signatures(signed, cx.lane(), client).await;
        let (mut valid, mut checked) = (Vec::new(), Vec::new());
        for (index, verdict) in indices.into_iter().zip(verdicts) {
            match verdict {
                Ok(transaction) => {
                    valid.push(index);
                    checked.push(transaction);
                }
                Err(error) => results.push((index, Err(error))),
            }
        }
        let submitted = node.submit_all(checked, client).await;
        results.extend(valid.into_iter().zip(submitted));
        results.sort_unstable_by_key(|(index, _)| *index);
        self.record(results).await;
    }

    async fn record(&mut self, results: Vec<(usize, Result<Accepted, SubmitError>)>) {
        for (number, (index, result)) in results.into_iter().enumerate() {
            yield_before(number).await;
            self.cx.remember_outcome(&result);
            self.outcomes[index] = result.map(|_| ()).map_err(ErrorKind::from);
        }
    }
}

/// Yields to the other requests of the worker before each [`CHECKS_PER_YIELD`] transactions but
/// the first ones.
async fn yield_before(number: usize) {
    if number > 0 && number.is_multiple_of(CHECKS_PER_YIELD) {
        yield_now().await;
    }
}
