//! Submission of transactions. An HTTP worker calls the steps in this order:
//!
//! 1. The look-up of committed bytes (`resubmit.rs`), which accepts them without the other steps.
//! 2. The filter of the operator, and the capacity of the mempool.
//! 3. The signatures.
//! 4. The health of the store, the validation against the newest state, and the mempool.
//!
//! A single submission is a list of one. A batch is validated in slices, between which the calling
//! thread serves other requests. The capacity is checked only if the mempool was full before.

use super::{
    handle::{NodeHandle, NodeParts, request},
    slices::{SLICE_TRANSACTIONS, Slices},
};
use crate::{
    Filtered, Lane, NodeError, SubmitError,
    protocol::mempool::{
        CheckCapacity, MESSAGE_TRANSACTIONS_MAX, PoolKey, Size, Submission, Submit,
    },
};
use ledger_crypto::HashValue;
use ledger_execution::validate_for_admission;
use ledger_limits::ClientKey;
use ledger_types::{CheckedTransaction, LedgerInfo, SignedTransaction, transaction::Executable};
use std::sync::{Arc, atomic::Ordering::Relaxed};
use tokio::task::yield_now;

/// The invariant of every list of outcomes.
const ONE_OUTCOME: &str = "one outcome of each transaction";

/// A transaction that the mempool has accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// Ledger info of the version that the transaction was validated against.
    pub ledger_info: LedgerInfo,
    /// The mempool's copy of the submitted transaction.
    pub transaction: Arc<CheckedTransaction>,
}

/// A transaction of a submission before the check of its signatures.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The transaction.
    pub transaction: &'a SignedTransaction,
    /// Hash of the transaction, or `None` if [`NodeHandle::may_be_committed`] excluded a commit.
    pub hash: Option<HashValue>,
}

impl NodeHandle {
    /// Returns the acceptance of a submission that needs no check of its signatures: its
    /// transaction is committed inside the window. Returns `None` if the signatures must be
    /// checked.
    ///
    /// `hash` is that of the transaction, or `None` if [`Self::may_be_committed`] excluded a
    /// commit.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::find_committed`] and [`Self::check_capacity`].
    pub async fn accept_unchecked(
        &self,
        transaction: &SignedTransaction,
        hash: Option<HashValue>,
        client: ClientKey,
    ) -> Result<Option<Accepted>, SubmitError> {
        if let Some(hash) = hash
            && let Some(accepted) = self.find_committed(transaction, hash, client).await?
        {
            return Ok(Some(accepted));
        }
        match self.check_capacity(transaction).await {
            Ok(()) => Ok(None),
            Err(error) => {
                let candidate = Candidate { transaction, hash };
                let accepted = self.committed_or(error, candidate, client).await?;
                Ok(Some(self.accepted_again(accepted, transaction)))
            }
        }
    }

    /// Checks the transactions of a batch as [`Self::accept_unchecked`] does, with one message to
    /// the mempool. `Ok(true)` means that the transaction is committed already, and `Ok(false)`
    /// that its signatures must be checked. The outcomes are in order.
    pub async fn accept_all_unchecked(
        &self,
        candidates: &[Candidate<'_>],
        client: ClientKey,
    ) -> Vec<Result<bool, SubmitError>> {
        let mut outcomes = self.find_all_committed(candidates, client).await;
        let mut asked: Vec<_> = candidates.iter().zip(&mut outcomes).collect();
        asked.retain(|(_, outcome)| matches!(outcome, Ok(false)));
        let transactions: Vec<_> = asked.iter().map(|(asked, _)| asked.transaction).collect();
        let capacity = self.check_all_capacity(&transactions).await;
        let mut slices = Slices::default();
        for ((candidate, outcome), capacity) in asked.into_iter().zip(capacity) {
            if let Err(error) = capacity {
                slices.begin_next().await;
                let committed = self.committed_or(error, *candidate, client).await;
                *outcome = committed.map(|_| true);
            }
        }
        outcomes
    }

    /// Checks a client's submission against the operator's filter, and counts a rejection; see
    /// [`crate::SubmissionFilter`].
    ///
    /// The check is cheap, so it precedes that of the signatures. The node's own senders skip it.
    ///
    /// # Errors
    ///
    /// Returns [`Filtered`] with the rule that denies the transaction.
    pub fn check_filter(&self, transaction: &SignedTransaction) -> Result<(), Filtered> {
        let checked = self.shared.filter.load().check(transaction);
        if checked.is_err() {
            self.node().mailboxes.meters.filter_denied.increment();
        }
        checked
    }

    /// Checks whether the mempool has capacity for a client's transaction.
    ///
    /// The check precedes that of the signatures. It sends a request to the mempool only after the
    /// mempool has rejected a transaction for lack of capacity. A submission that a full mempool
    /// rejects then costs one request instead of a check of its signatures.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Full`] or [`SubmitError::AccountFull`] if there is no capacity, and
    /// [`SubmitError::Node`] if the mempool has too many requests or the node is stopping.
    pub async fn check_capacity(&self, transaction: &SignedTransaction) -> Result<(), SubmitError> {
        if !self.was_pool_full() {
            return Ok(());
        }
        let mut outcomes = self.check_all_capacity(&[transaction]).await;
        outcomes.pop().expect(ONE_OUTCOME)
    }

    /// Returns whether the mempool had no capacity for the transaction that was checked last.
    fn was_pool_full(&self) -> bool {
        self.shared.pool_was_full.load(Relaxed)
    }

    /// Checks the capacity for each of the transactions alone, in one message for at most
    /// [`MESSAGE_TRANSACTIONS_MAX`] of them. The outcomes are those of [`Self::check_capacity`], in
    /// order.
    pub(super) async fn check_all_capacity(
        &self,
        transactions: &[&SignedTransaction],
    ) -> Vec<Result<(), SubmitError>> {
        if !self.was_pool_full() {
            return transactions.iter().map(|_| Ok(())).collect();
        }
        let mut outcomes = Vec::with_capacity(transactions.len());
        for part in transactions.chunks(MESSAGE_TRANSACTIONS_MAX) {
            let sizes = part.iter().map(|transaction| Size {
                key: PoolKey::of(&transaction.raw),
                size_bytes: transaction.size_bytes(),
            });
            let sizes = sizes.collect();
            let reply = request(&self.node().mailboxes.mempool, |reply| CheckCapacity {
                sizes,
                reply,
            });
            match reply.await {
                Ok(of_part) => {
                    let is_full = of_part.iter().any(is_pool_full);
                    self.shared.pool_was_full.store(is_full, Relaxed);
                    outcomes.extend(of_part);
                }
                Err(error) => outcomes.extend(part.iter().map(|_| Err(error.clone().into()))),
            }
        }
        outcomes
    }

    /// Checks the signatures of a transaction of `client`, usually in a batch on a
    /// `signature-check` thread. Clients take turns in each lane.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Invalid`] if a signature or the form of the transaction is invalid,
    /// and [`SubmitError::Node`] if the lane is full, the client holds its part of it, or the node
    /// is stopping.
    pub async fn check_signatures(
        &self,
        transaction: SignedTransaction,
        lane: Lane,
        client: ClientKey,
    ) -> Result<CheckedTransaction, SubmitError> {
        let NodeParts { queues, chain, .. } = self.node();
        let checked = queues.signatures.check(chain, transaction, lane, client);
        checked.await
    }

    /// Checks the signatures of several transactions of `client`, which wait in the lane together.
    /// The outcomes are those of [`Self::check_signatures`], in order.
    pub async fn check_all_signatures(
        &self,
        mut transactions: Vec<SignedTransaction>,
        lane: Lane,
        client: ClientKey,
    ) -> Vec<Result<CheckedTransaction, SubmitError>> {
        if transactions.len() > 1 {
            let signatures = &self.node().queues.signatures;
            return signatures.check_all(transactions, lane, client).await;
        }
        match transactions.pop() {
            Some(alone) => vec![self.check_signatures(alone, lane, client).await],
            None => Vec::new(),
        }
    }

    /// Validates a transaction of `client` against the newest state and adds it to the mempool.
    ///
    /// A transaction that was committed while it was validated is accepted.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Node`] if the ledger is not written at present, an actor has too many
    /// requests, the node is stopping, or the store cannot be read. Any other variant is a
    /// rejection by validation or by the mempool.
    pub async fn submit(
        &self,
        transaction: CheckedTransaction,
        client: ClientKey,
    ) -> Result<Accepted, SubmitError> {
        let mut outcomes = self.submit_all(vec![transaction], client).await;
        outcomes.pop().expect(ONE_OUTCOME)
    }

    /// Validates transactions of `client` in order, and adds the valid ones to the mempool, in one
    /// message for at most `MESSAGE_TRANSACTIONS_MAX` of them.
    ///
    /// The outcomes are those of [`Self::submit`], in order. A rejected transaction does not affect
    /// the others.
    pub async fn submit_all(
        &self,
        transactions: Vec<CheckedTransaction>,
        client: ClientKey,
    ) -> Vec<Result<Accepted, SubmitError>> {
        self.submit_all_from(transactions, client, false).await
    }

    /// Submits transactions as [`Self::submit_all`] does. `is_relayed` says whether another node
    /// sent them.
    pub(super) async fn submit_all_from(
        &self,
        transactions: Vec<CheckedTransaction>,
        client: ClientKey,
        is_relayed: bool,
    ) -> Vec<Result<Accepted, SubmitError>> {
        if let Some(cause) = self.not_writable() {
            let error = SubmitError::from(NodeError::from(cause));
            return transactions.iter().map(|_| Err(error.clone())).collect();
        }
        let transactions: Vec<_> = transactions.into_iter().map(Arc::new).collect();
        let mut outcomes = Vec::with_capacity(transactions.len());
        for part in transactions.chunks(MESSAGE_TRANSACTIONS_MAX) {
            outcomes.extend(self.validate_and_add(part, client, is_relayed).await);
        }
        let mut slices = Slices::default();
        for (transaction, outcome) in transactions.iter().zip(&mut outcomes) {
            if let Err(rejection) = outcome {
                slices.begin_next().await;
                let rejection = rejection.clone();
                let after = self.outcome_after_rejection(transaction, rejection, client);
                *outcome = after.await;
            }
        }
        outcomes
    }

    /// Validates at most [`MESSAGE_TRANSACTIONS_MAX`] transactions and adds the valid ones to the
    /// mempool in one message. Returns their outcomes, in order.
    async fn validate_and_add(
        &self,
        transactions: &[Arc<CheckedTransaction>],
        client: ClientKey,
        is_relayed: bool,
    ) -> Vec<Result<Accepted, SubmitError>> {
        let mut validated = Vec::with_capacity(transactions.len());
        for (number, slice) in transactions.chunks(SLICE_TRANSACTIONS).enumerate() {
            if number > 0 {
                yield_now().await;
            }
            match self.validate(slice, client).await {
                Ok(of_slice) => validated.extend(of_slice),
                Err(error) => validated.extend(slice.iter().map(|_| Err(error.clone().into()))),
            }
        }
        let valid = transactions.iter().zip(&validated);
        let submissions = valid.filter_map(|(transaction, validated)| {
            Some(Submission {
                transaction: Arc::clone(transaction),
                sequence_number: validated.as_ref().ok()?.sequence_number,
                is_relayed,
            })
        });
        let mut replies = self.add_to_pool(submissions.collect()).await.into_iter();
        let outcomes = validated.into_iter().map(|validated| {
            let ledger_info = validated?.ledger_info;
            let transaction = replies.next().expect(ONE_OUTCOME)?;
            Ok(Accepted {
                ledger_info,
                transaction,
            })
        });
        outcomes.collect()
    }

    /// Validates the transactions of a slice against the newest state, in order.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if an actor has too many requests, the node is stopping, or the store
    /// cannot be read. No transaction of the slice is validated then.
    async fn validate(
        &self,
        slice: &[Arc<CheckedTransaction>],
        client: ClientKey,
    ) -> Result<Vec<Result<Validated, SubmitError>>, NodeError> {
        let (head, inputs) = self.validation_inputs(slice, client).await?;
        let NodeParts { chain, clock, .. } = self.node();
        let ledger_info = *head.ledger_info();
        let validated = slice.iter().zip(&inputs).map(|(transaction, inputs)| {
            validate_for_admission(chain, inputs, transaction, clock.now_secs())?;
            Ok(Validated {
                ledger_info,
                sequence_number: inputs.sender.sequence_number,
            })
        });
        let mut validated: Vec<Result<_, SubmitError>> = validated.collect();
        let with_multisig = slice.iter().zip(&mut validated);
        let (of_multisig, outcomes): (Vec<_>, Vec<_>) = with_multisig
            .filter(|(transaction, outcome)| outcome.is_ok() && is_multisig(transaction))
            .map(|(transaction, outcome)| (Arc::clone(transaction), outcome))
            .unzip();
        if !of_multisig.is_empty() {
            let verdicts = self.multisig_verdicts(of_multisig, client).await?;
            for (outcome, verdict) in outcomes.into_iter().zip(verdicts) {
                if let Err(discard) = verdict {
                    *outcome = Err(discard.into());
                }
            }
        }
        Ok(validated)
    }

    /// Adds transactions to the mempool in one message. Returns its copy of each, or the error that
    /// rejects it.
    async fn add_to_pool(
        &self,
        submissions: Vec<Submission>,
    ) -> Vec<Result<Arc<CheckedTransaction>, SubmitError>> {
        let count = submissions.len();
        if count == 0 {
            return Vec::new();
        }
        let reply = request(&self.node().mailboxes.mempool, |reply| Submit {
            submissions,
            reply,
        });
        let outcomes = match reply.await {
            Ok(outcomes) => outcomes,
            Err(error) => (0..count).map(|_| Err(error.clone().into())).collect(),
        };
        if outcomes.iter().any(is_pool_full) {
            self.shared.pool_was_full.store(true, Relaxed);
        }
        outcomes
    }
}

/// A transaction that validation has admitted.
struct Validated {
    /// Ledger info of the version that it was validated against.
    ledger_info: LedgerInfo,
    /// Sequence number of the sender at that version.
    sequence_number: u64,
}

fn is_multisig(transaction: &CheckedTransaction) -> bool {
    let executable = transaction.raw().payload.executable();
    matches!(executable, Ok(Executable::Multisig { .. }))
}

/// Returns whether the mempool would also reject transactions of other accounts. The capacity of
/// one account does not concern them.
fn is_pool_full<T>(outcome: &Result<T, SubmitError>) -> bool {
    matches!(outcome, Err(SubmitError::Full { .. }))
}
