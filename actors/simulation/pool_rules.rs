//! Checks of rejections and removals by the pool.
//!
//! The checks use the limits of the pool, the clock, and the model. They report only certain
//! errors, because the model has no pool of its own.

use super::{
    fixture::Once,
    model::{Model, Sent},
    oracle::Asked,
};
use crate::{MempoolConfig, RemovalReason, SubmitError};
use ledger_crypto::HashValue;
use ledger_types::{Discard, ValidationStatus};

/// Longest lifetime that the simulation gives an orderless transaction, in seconds.
///
/// Up to this lifetime, a rejection because of a late expiration is wrong. The ledger accepts up to
/// 100 seconds, as the reference node does (docs/reference/reference-node.md#r34).
const ORDERLESS_LIFETIME_SECS: u64 = 60;
/// Gas limit of a transaction, in gas units, that validation never rejects as too low.
const GAS_FOR_ANY_FORM: u64 = 1_000;

/// Inputs of the checks.
pub(super) struct PoolRules {
    pub(super) limits: MempoolConfig,
    /// Latest time of the ledger's clock or of a block, in Unix seconds.
    pub(super) latest_secs: u64,
}

/// Result of a check. The error is the reason of the violation.
type Verdict = Result<(), String>;

fn require(holds: bool, why: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(why()) }
}

impl PoolRules {
    /// Checks the error of a submission that began with `asked`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the error is certainly wrong.
    pub(super) fn may_refuse(
        &self,
        model: &Model,
        asked: &Asked,
        sent: &Sent,
        error: &SubmitError,
    ) -> Verdict {
        match error {
            SubmitError::Invalid(discard) => {
                self.may_be_invalid(model, asked.version, sent, discard)
            }
            SubmitError::SequenceNumberTooOld { given, current } => {
                let is_right = sent.draft.once == Once::Number(*given) && given < current;
                require(is_right && has_rival(model, sent), || {
                    "nobody has its number".to_owned()
                })
            }
            SubmitError::InvalidUpdate(_) => {
                require(has_rival(model, sent), || "nobody has its place".to_owned())
            }
            SubmitError::OtherSignature { pending } => {
                let pending = model.sent.get(pending);
                let is_same =
                    pending.is_some_and(|pending| pending.differs_only_in_signature(sent));
                require(is_same, || format!("the pending one is {pending:?}"))
            }
            SubmitError::AccountFull { .. } => self.may_be_full_for_account(model, asked, sent),
            SubmitError::Full { .. } => self.may_be_full(model, asked, sent),
            SubmitError::Node(_) => Ok(()),
        }
    }

    /// Checks the removal reason that the node reports for a transaction.
    ///
    /// # Errors
    ///
    /// Returns why the reason is certainly wrong.
    pub(super) fn may_leave(&self, model: &Model, sent: &Sent, reason: &RemovalReason) -> Verdict {
        match reason {
            RemovalReason::Expired { at_secs } => self.may_expire(sent, *at_secs),
            RemovalReason::Evicted(why) if why.contains("its account") => {
                self.may_be_full_for_account(model, &sent.first, sent)
            }
            RemovalReason::Evicted(_) => self.may_be_full(model, &sent.first, sent),
            RemovalReason::Replaced(by) => may_be_replaced(model, sent, by),
            RemovalReason::Rejected(discard) => {
                self.may_be_invalid(model, sent.first.version, sent, discard)
            }
        }
    }

    /// Checks a removal of a transaction that expired at `at_secs`, in Unix seconds: its own
    /// expiration, or its insertion plus the pool's time to live. The time must have passed.
    fn may_expire(&self, sent: &Sent, at_secs: u64) -> Verdict {
        let (own_secs, ttl_secs) = (sent.draft.expiration_secs, self.limits.ttl_secs);
        let is_own = at_secs == own_secs && own_secs <= sent.inserted_secs.high + ttl_secs;
        let is_of_pool = at_secs < own_secs
            && at_secs
                .checked_sub(ttl_secs)
                .is_some_and(|inserted_secs| sent.inserted_secs.contains(inserted_secs));
        require(is_own || is_of_pool, || {
            format!("another time to live than {ttl_secs}")
        })?;
        require(at_secs <= self.latest_secs, || {
            format!("it was {} at the latest", self.latest_secs)
        })
    }

    /// Checks whether validation may have rejected the transaction in the state after
    /// `first_version` or a later version.
    fn may_be_invalid(
        &self,
        model: &Model,
        first_version: u64,
        sent: &Sent,
        discard: &Discard,
    ) -> Verdict {
        let draft = &sent.draft;
        let is_valid = |why: &str| Err(format!("{discard}: {why}"));
        match (discard.status, draft.once) {
            (ValidationStatus::SequenceNumberTooOld, Once::Number(number)) => {
                let next = model.accounts[draft.sender].sequence_number;
                require(number < next, || format!("{next} is next"))
            }
            (ValidationStatus::NonceAlreadyUsed, Once::Nonce(nonce)) => {
                let may_be_used = model.is_used(draft.sender, nonce) || has_rival(model, sent);
                require(may_be_used, || "nobody has used its nonce".to_owned())
            }
            (ValidationStatus::TransactionExpired, _) => {
                let latest_secs = self.latest_secs;
                require(draft.expiration_secs <= latest_secs, || {
                    format!("it was {latest_secs} at the latest")
                })
            }
            (ValidationStatus::TransactionExpirationTooFarInFuture, Once::Nonce(_)) => {
                let certain_secs = sent.inserted_secs.low + ORDERLESS_LIFETIME_SECS;
                require(draft.expiration_secs > certain_secs, || {
                    "it is not".to_owned()
                })
            }
            (ValidationStatus::InsufficientBalanceForTransactionFee, _) => {
                let least = model.least_balance(draft.sender, first_version);
                require(least < draft.max_gas * draft.price, || {
                    format!("it had {least} at the least")
                })
            }
            (ValidationStatus::MaxGasUnitsBelowMinTransactionGasUnits, _) => {
                require(draft.max_gas < GAS_FOR_ANY_FORM, || {
                    "it is enough".to_owned()
                })
            }
            _ => is_valid("no transaction here is that"),
        }
    }

    fn may_be_full_for_account(&self, model: &Model, since: &Asked, sent: &Sent) -> Verdict {
        let is_numbered = |once| matches!(once, Once::Number(_));
        let kind = is_numbered(sent.draft.once);
        let capacity = if kind {
            self.limits.capacity_per_account
        } else {
            self.limits.capacity_per_account_orderless
        };
        let (count, _) = others_in_pool(model, since, sent, |other| {
            other.draft.sender == sent.draft.sender && is_numbered(other.draft.once) == kind
        });
        require(count >= capacity, || {
            format!("its account had {count} others at the most")
        })
    }

    fn may_be_full(&self, model: &Model, since: &Asked, sent: &Sent) -> Verdict {
        let (count, bytes) = others_in_pool(model, since, sent, |_| true);
        let is_full = count >= self.limits.capacity_transactions
            || bytes + sent.transaction.size_bytes() > self.limits.capacity_bytes;
        require(is_full, || {
            format!("the pool had {count} others with {bytes} bytes at the most")
        })
    }
}

fn may_be_replaced(model: &Model, sent: &Sent, by: &HashValue) -> Verdict {
    match model.sent.get(by) {
        Some(by) if by.is_rival(sent) && by.draft.price >= sent.draft.price => Ok(()),
        other => Err(format!("it is replaced by {other:?}")),
    }
}

/// Returns whether a client has sent another transaction with the same sender and sequence number
/// or nonce.
fn has_rival(model: &Model, sent: &Sent) -> bool {
    model.sent.values().any(|other| other.is_rival(sent))
}

/// Returns an upper bound of the other transactions that the pool held at any time since `since`,
/// and their size in bytes.
///
/// `counts` selects the transactions to include. A committed transaction leaves the pool before the
/// node is next idle.
fn others_in_pool(
    model: &Model,
    since: &Asked,
    sent: &Sent,
    counts: impl Fn(&Sent) -> bool,
) -> (usize, usize) {
    let may_be_there = |other: &&Sent| {
        let has_come = other.is_held || other.open_submits > 0;
        let is_committed = other.shown.is_some_and(|shown| shown < since.quiet);
        let is_gone = is_committed || other.has_left(since.at);
        has_come && !is_gone && other.transaction.hash() != sent.transaction.hash()
    };
    let others = model
        .sent
        .values()
        .filter(may_be_there)
        .filter(|other| counts(other));
    others.fold((0, 0), |(count, bytes), other| {
        (count + 1, bytes + other.transaction.size_bytes())
    })
}
