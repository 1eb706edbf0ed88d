//! Checks of rejections and removals by the pool.
//!
//! The checks use the limits of the pool, the clock, and the model. They report only certain
//! errors, because the model has no pool of its own.

use super::{
    fixture::ReplayProtection,
    model::{Model, SentTransaction},
    oracle::RequestStart,
};
use crate::{MempoolConfig, RemovalReason, SubmitError, protocol::mempool::Pending};
use ledger_crypto::HashValue;
use ledger_types::{Discard, ValidationStatus};

/// Maximum estimated time of a transaction of the simulation in a block, in microseconds.
const COST_USECS_MAX: u64 = 500;

/// Minimum estimated time of a transaction of the simulation in a block, in microseconds: one in the
/// executor, one in the writer.
const COST_USECS_MIN: u64 = 2;

/// Longest lifetime that the simulation gives an orderless transaction, in seconds.
///
/// Up to this lifetime, a rejection because of a late expiration is wrong. The ledger accepts up to
/// 100 seconds, as the reference node does (docs/reference/reference-node.md#r34).
const ORDERLESS_LIFETIME_SECS: u64 = 60;
/// Gas limit of a transaction, in gas units, that validation never rejects as too low, without the
/// deposit of a new account.
const ADMISSIBLE_MAX_GAS: u64 = 1_000;
/// Storage deposit of an account resource, in the coin's smallest unit. The gas limit of a
/// transaction with the sequence number 0 must cover it.
const ACCOUNT_DEPOSIT: u64 = 491_600;

/// Inputs of the checks.
pub(super) struct PoolRules {
    pub(super) limits: MempoolConfig,
    /// Latest time of the ledger's clock or of a block, in Unix seconds.
    pub(super) latest_secs: u64,
}

/// Result of a check. The error is the reason of the violation.
type Verdict = Result<(), String>;

fn require(holds: bool, reason: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(reason()) }
}

impl PoolRules {
    /// Checks the error of a submission that began with `start`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the error is certainly wrong.
    pub(super) fn check_rejection(
        &self,
        model: &Model,
        start: &RequestStart,
        sent: &SentTransaction,
        error: &SubmitError,
    ) -> Verdict {
        match error {
            SubmitError::Invalid(discard) => {
                self.check_invalid(model, start.version, sent, discard)
            }
            SubmitError::SequenceNumberTooOld {
                given,
                current,
                used_by,
            } => {
                let is_consistent = sent.draft.replay_protection
                    == ReplayProtection::SequenceNumber(*given)
                    && given < current;
                let user = model.sent.get(used_by);
                let is_used = user.is_some_and(|user| user.competes_with(sent));
                require(is_consistent && is_used, || {
                    format!("its sequence number is used by {user:?}")
                })
            }
            SubmitError::InvalidUpdate(_) => require(has_competitor(model, sent), || {
                "no other transaction has its sequence number or nonce".to_owned()
            }),
            SubmitError::OtherSignature { pending } => {
                let pending = model.sent.get(pending);
                let has_same_content =
                    pending.is_some_and(|pending| pending.differs_only_in_signature(sent));
                require(has_same_content, || {
                    format!("the pending transaction is {pending:?}")
                })
            }
            SubmitError::AccountFull { .. } => self.check_account_full(model, start, sent),
            SubmitError::Full { .. } => self.check_full(model, start, sent),
            SubmitError::Node(_) => Ok(()),
        }
    }

    /// Checks the removal reason that the node reports for a transaction.
    ///
    /// # Errors
    ///
    /// Returns why the reason is certainly wrong.
    pub(super) fn check_removal(
        &self,
        model: &Model,
        sent: &SentTransaction,
        reason: &RemovalReason,
    ) -> Verdict {
        match reason {
            RemovalReason::Expired { at_secs } => self.check_expiration(sent, *at_secs),
            RemovalReason::Evicted(reason) if reason.contains("its account") => {
                self.check_account_full(model, &sent.first_request, sent)
            }
            RemovalReason::Evicted(_) => self.check_full(model, &sent.first_request, sent),
            RemovalReason::Replaced(by) => check_replaced(model, sent, by),
            RemovalReason::Rejected(discard) => {
                self.check_invalid(model, sent.first_request.version, sent, discard)
            }
        }
    }

    /// Checks a removal of a transaction that expired at `at_secs`, in Unix seconds: its own
    /// expiration, or its insertion plus the pool's time to live. The time must have passed.
    fn check_expiration(&self, sent: &SentTransaction, at_secs: u64) -> Verdict {
        let (own_secs, ttl_secs) = (sent.draft.expiration_secs, self.limits.ttl_secs);
        let is_own_expiration =
            at_secs == own_secs && own_secs <= sent.inserted_secs.high + ttl_secs;
        let is_pool_expiration = at_secs < own_secs
            && at_secs
                .checked_sub(ttl_secs)
                .is_some_and(|inserted_secs| sent.inserted_secs.contains(inserted_secs));
        require(is_own_expiration || is_pool_expiration, || {
            format!("the time to live is not {ttl_secs} s")
        })?;
        require(at_secs <= self.latest_secs, || {
            format!("the time was at most {}", self.latest_secs)
        })
    }

    /// Checks whether validation may have rejected the transaction in the state after
    /// `first_version` or a later version.
    fn check_invalid(
        &self,
        model: &Model,
        first_version: u64,
        sent: &SentTransaction,
        discard: &Discard,
    ) -> Verdict {
        let draft = &sent.draft;
        match (discard.status, draft.replay_protection) {
            (ValidationStatus::SequenceNumberTooOld, ReplayProtection::SequenceNumber(number)) => {
                let next = model.accounts[draft.sender].sequence_number;
                require(number < next, || format!("{next} is next"))
            }
            (ValidationStatus::NonceAlreadyUsed, ReplayProtection::Nonce(nonce)) => {
                let may_be_used =
                    model.is_nonce_used(draft.sender, nonce) || has_competitor(model, sent);
                require(may_be_used, || "its nonce is unused".to_owned())
            }
            (ValidationStatus::TransactionExpired, _) => {
                let latest_secs = self.latest_secs;
                require(draft.expiration_secs <= latest_secs, || {
                    format!("the time was at most {latest_secs}")
                })
            }
            (ValidationStatus::TransactionExpirationTooFarInFuture, ReplayProtection::Nonce(_)) => {
                let certain_secs = sent.inserted_secs.low + ORDERLESS_LIFETIME_SECS;
                require(draft.expiration_secs > certain_secs, || {
                    "the expiration is near".to_owned()
                })
            }
            (ValidationStatus::InsufficientBalanceForTransactionFee, _) => {
                let lowest = model.lowest_balance(draft.sender, first_version);
                require(lowest < draft.max_gas * draft.price, || {
                    format!("its balance was at least {lowest}")
                })
            }
            (ValidationStatus::MaxGasUnitsBelowMinTransactionGasUnits, replay_protection) => {
                let deposit_gas = match replay_protection {
                    ReplayProtection::SequenceNumber(0) => ACCOUNT_DEPOSIT.div_ceil(draft.price),
                    _ => 0,
                };
                require(draft.max_gas < ADMISSIBLE_MAX_GAS + deposit_gas, || {
                    "the gas limit is sufficient".to_owned()
                })
            }
            _ => Err(format!(
                "{discard}: no transaction of the simulation has this status"
            )),
        }
    }

    /// Checks the content of a pool whose estimated time is `usecs`, in microseconds.
    ///
    /// # Errors
    ///
    /// Returns the limit that the content exceeds, or why the estimated time is certainly wrong.
    pub(super) fn check_content(&self, pending: &[Pending], usecs: usize) -> Verdict {
        let usecs = usecs as u64;
        let count = pending.len();
        let sizes = pending.iter().map(|one| one.transaction.size_bytes());
        let bytes: usize = sizes.sum();
        let MempoolConfig {
            capacity_transactions,
            capacity_bytes,
            capacity_time_ms,
            ..
        } = self.limits;
        let fits = count <= capacity_transactions
            && bytes <= capacity_bytes
            && usecs <= capacity_time_ms * 1_000;
        require(fits, || {
            format!("the pool has {count} transactions with {bytes} bytes and {usecs} us")
        })?;
        let possible = count as u64 * COST_USECS_MIN..=count as u64 * COST_USECS_MAX;
        require(possible.contains(&usecs), || {
            format!("{count} transactions are estimated at {usecs} us")
        })
    }

    fn check_account_full(
        &self,
        model: &Model,
        since: &RequestStart,
        sent: &SentTransaction,
    ) -> Verdict {
        let is_sequence_number =
            |replay_protection| matches!(replay_protection, ReplayProtection::SequenceNumber(_));
        let is_sequenced = is_sequence_number(sent.draft.replay_protection);
        let capacity = if is_sequenced {
            self.limits.capacity_per_account
        } else {
            self.limits.capacity_per_account_orderless
        };
        let (count, _) = others_in_pool(model, since, sent, |other| {
            other.draft.sender == sent.draft.sender
                && is_sequence_number(other.draft.replay_protection) == is_sequenced
        });
        require(count >= capacity, || {
            format!("its account had at most {count} others")
        })
    }

    fn check_full(&self, model: &Model, since: &RequestStart, sent: &SentTransaction) -> Verdict {
        let (count, bytes) = others_in_pool(model, since, sent, |_| true);
        let cost_usecs = (count + 1) as u64 * COST_USECS_MAX;
        let is_full = count >= self.limits.capacity_transactions
            || bytes + sent.transaction.size_bytes() > self.limits.capacity_bytes
            || cost_usecs > self.limits.capacity_time_ms * 1_000;
        require(is_full, || {
            format!("the pool had at most {count} others with {bytes} bytes")
        })
    }
}

fn check_replaced(model: &Model, sent: &SentTransaction, by: &HashValue) -> Verdict {
    match model.sent.get(by) {
        Some(by) if by.competes_with(sent) && by.draft.price >= sent.draft.price => Ok(()),
        other => Err(format!("it is replaced by {other:?}")),
    }
}

/// Returns whether a client has sent another transaction with the same sender and sequence number
/// or nonce.
fn has_competitor(model: &Model, sent: &SentTransaction) -> bool {
    model.sent.values().any(|other| other.competes_with(sent))
}

/// Returns an upper bound of the other transactions that the pool held at any time since `since`,
/// and their size in bytes.
///
/// `counts` selects the transactions to include. A committed transaction leaves the pool before the
/// node is next idle.
fn others_in_pool(
    model: &Model,
    since: &RequestStart,
    sent: &SentTransaction,
    counts: impl Fn(&SentTransaction) -> bool,
) -> (usize, usize) {
    let may_be_pending = |other: &&SentTransaction| {
        let was_submitted = other.is_accepted || other.open_submits > 0;
        let is_committed = other
            .visible_at
            .is_some_and(|step| step < since.last_idle_step);
        let was_removed = is_committed || other.is_known_removed(since.step);
        was_submitted && !was_removed && other.transaction.hash() != sent.transaction.hash()
    };
    let others = model
        .sent
        .values()
        .filter(may_be_pending)
        .filter(|other| counts(other));
    others.fold((0, 0), |(count, bytes), other| {
        (count + 1, bytes + other.transaction.size_bytes())
    })
}
