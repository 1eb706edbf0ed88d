//! Verdicts: whether a transaction that is not committed can still be committed
//! (docs/use/interface.md#verdicts).
//!
//! A verdict follows from one version of the ledger and from the rules of validation. Each
//! [`ValidationStatus`](Status) has one [`Effect`] on it. [`Never`] is final on every node and
//! after every crash, because it follows only from values that cannot change back: the chain, the
//! time of a durable block, a sequence number, a remembered nonce. A final rule that is broken does
//! not suffice, because the transaction may have broken it by its own commit. The ledger must also
//! exclude that it was committed at a version that is pruned ([`ReplayHistory`]).

use super::{
    multisig::validate_multisig_for_admission,
    orderless::NonceSnapshot,
    validate::{ValidationInputs, broken_rules, fee_max},
};
use ledger_crypto::HashValue;
use ledger_framework::modules::nonce_validation::OVERLAP_SECS;
use ledger_types::{
    CheckedTransaction, Discard, LedgerInfo, RawTransaction, SignedTransaction, StateError,
    StateView, ValidationStatus as Status,
};
use ledger_vm::Chain;
use serde::Serialize;

/// Number of microseconds in a second.
const USECS_PER_SEC: u64 = 1_000_000;

/// The verdict about a transaction that is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A block can include the transaction, perhaps only after other transactions.
    CanCommit(CanCommit),
    /// No block includes the transaction at present, which may change.
    Blocked(Blocked),
    /// No block ever includes the transaction.
    Never(Never),
}

/// The condition under which a transaction can be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanCommit {
    /// Last second of block time that permits the commit, in Unix time.
    pub until_secs: u64,
    /// What must happen before, at most one of each kind.
    pub waits_for: Vec<WaitsFor>,
}

/// An event that a transaction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The sender commits its earlier sequence numbers.
    SequenceNumber {
        /// Sequence number of the next transaction of the sender.
        next: u64,
    },
    /// The gas payer receives coins.
    Funds {
        /// Maximum fee of the transaction, in the coin's smallest unit.
        needed: u128,
        /// Balance of the gas payer, in the coin's smallest unit.
        available: u64,
    },
}

/// The cause that keeps a transaction out of blocks at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Cause.
    pub cause: BlockCause,
    /// Description of the cause, and what the client can do.
    pub message: String,
    /// First second of block time without the cause, in Unix time, if it is known.
    pub from_secs: Option<u64>,
}

/// A kind of cause that blocks a transaction. Names and order are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockCause {
    /// A signer has another authentication key. An owner of the account can rotate it back.
    AuthenticationKey,
    /// The ledger remembers the nonce, and the transaction expires too far ahead to reuse it yet.
    NonceRemembered,
    /// An orderless transaction expires too far ahead.
    ExpirationTooFar,
    /// The transaction has expired by the clock of the node, but not by the time of a block.
    ExpiredByClock,
    /// The ledger does not execute a feature of the transaction.
    UnsupportedFeature,
    /// The signers of the transaction do not form a valid list.
    InvalidForm,
    /// The transaction exceeds a limit or a price range of the chain.
    ChainLimit,
    /// The bucket of the nonce is full.
    NonceBucketFull,
    /// The multisig account does not permit the execution.
    Multisig,
    /// The filter of the node rejects the transaction.
    Filter,
    /// The operator of the node has disabled submissions.
    Switch,
}

impl BlockCause {
    /// All causes, in order.
    pub const ALL: [Self; 11] = [
        Self::AuthenticationKey,
        Self::NonceRemembered,
        Self::ExpirationTooFar,
        Self::ExpiredByClock,
        Self::UnsupportedFeature,
        Self::InvalidForm,
        Self::ChainLimit,
        Self::NonceBucketFull,
        Self::Multisig,
        Self::Filter,
        Self::Switch,
    ];

    /// Returns what the cause means for a client.
    fn advice(self) -> &'static str {
        match self {
            Self::AuthenticationKey => {
                "the account has another authentication key: sign with its key, or rotate it back"
            }
            Self::NonceRemembered => {
                "the nonce is used and remembered: use another nonce, or submit later"
            }
            Self::ExpirationTooFar => "submit later, or sign an earlier expiration",
            Self::ExpiredByClock => {
                "the node's clock is past the expiration: the next block makes it final"
            }
            Self::UnsupportedFeature => "this version of the ledger does not execute it",
            Self::InvalidForm => "sign a transaction with a valid list of signers",
            Self::ChainLimit => "sign a transaction within the limits of the chain",
            Self::NonceBucketFull => "use another nonce, or submit later",
            Self::Multisig => "the owners of the multisig account must agree first",
            Self::Filter => "submit it to another node",
            Self::Switch => "submit it to another node, or later",
        }
    }
}

impl Blocked {
    /// Creates a cause without a known end. `detail` describes it.
    pub fn new(cause: BlockCause, detail: &dyn std::fmt::Display) -> Self {
        Self {
            cause,
            message: format!("{detail}; {}", cause.advice()),
            from_secs: None,
        }
    }
}

/// The final reason that keeps a transaction out of all later blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Never {
    /// Reason.
    pub reason: NeverReason,
    /// Description of the reason.
    pub message: String,
    /// Hash of the transaction that used the sequence number or nonce, if it is the reason and the
    /// ledger finds the transaction.
    pub used_by: Option<HashValue>,
}

/// A kind of reason that is final. A later one is reported only without an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeverReason {
    /// The transaction is for another chain.
    OtherChain,
    /// A signature does not verify under the key that the transaction carries.
    InvalidSignature,
    /// Another transaction used the sequence number.
    SequenceNumberUsed,
    /// Another transaction used the nonce, and the ledger remembers it until this one has expired.
    NonceUsed,
    /// A block at or after the expiration is committed.
    Expired,
}

/// The effect of a validation status on a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The rule stays broken.
    Never(NeverReason),
    /// The rule may hold later.
    Blocked(BlockCause),
    /// Earlier transactions of the sender must be committed.
    WaitsForSequenceNumber,
    /// The gas payer must receive coins.
    WaitsForFunds,
}

impl Effect {
    /// Returns the effect of a status (docs/internals/execution.md#verdicts).
    pub fn of(status: Status) -> Self {
        match status {
            Status::BadChainId => Self::Never(NeverReason::OtherChain),
            Status::InvalidSignature => Self::Never(NeverReason::InvalidSignature),
            Status::SequenceNumberTooOld => Self::Never(NeverReason::SequenceNumberUsed),
            Status::NonceAlreadyUsed => Self::Never(NeverReason::NonceUsed),
            Status::TransactionExpired => Self::Never(NeverReason::Expired),
            Status::SequenceNumberTooNew => Self::WaitsForSequenceNumber,
            Status::InsufficientBalanceForTransactionFee => Self::WaitsForFunds,
            Status::InvalidAuthKey => Self::Blocked(BlockCause::AuthenticationKey),
            Status::TransactionExpirationTooFarInFuture => {
                Self::Blocked(BlockCause::ExpirationTooFar)
            }
            Status::FeatureUnderGating | Status::UnknownModule => {
                Self::Blocked(BlockCause::UnsupportedFeature)
            }
            Status::SecondaryKeysAddressesCountMismatch | Status::SignersContainDuplicates => {
                Self::Blocked(BlockCause::InvalidForm)
            }
            Status::ExceededMaxTransactionSize
            | Status::MaxGasUnitsExceedsMaxGasUnitsBound
            | Status::MaxGasUnitsBelowMinTransactionGasUnits
            | Status::GasUnitPriceBelowMinBound
            | Status::GasUnitPriceAboveMaxBound
            | Status::SequenceNumberTooBig => Self::Blocked(BlockCause::ChainLimit),
            Status::SequenceNonceInvalid => Self::Blocked(BlockCause::NonceBucketFull),
            Status::AccountNotMultisig
            | Status::NotMultisigOwner
            | Status::MultisigTransactionNotFound
            | Status::MultisigTransactionInsufficientApprovals
            | Status::MultisigTransactionPayloadDoesNotMatchHash
            | Status::MultisigTransactionPayloadDoesNotMatch => Self::Blocked(BlockCause::Multisig),
        }
    }
}

/// The parts of a transaction that decide about it if its signatures are rejected.
#[derive(Clone, Copy, Debug)]
pub struct UncheckedTransaction {
    chain_id: u8,
    expiration_secs: u64,
    has_valid_form: bool,
}

impl From<&SignedTransaction> for UncheckedTransaction {
    fn from(transaction: &SignedTransaction) -> Self {
        Self {
            chain_id: transaction.raw.chain_id,
            expiration_secs: transaction.raw.expiration_timestamp_secs,
            has_valid_form: transaction.authenticator.check_form().is_ok(),
        }
    }
}

impl UncheckedTransaction {
    /// Returns the verdict about a transaction whose check of form and signatures returned
    /// `discard`, at the version of `info`.
    ///
    /// No block can have included it, so nothing that is pruned matters. The limit on signatures
    /// has the status of an invalid signature and is not final.
    pub fn decide(self, chain: &Chain, discard: &Discard, info: &LedgerInfo) -> Verdict {
        let head_secs = info.timestamp_usecs / USECS_PER_SEC;
        let reason = if self.chain_id != chain.id() {
            Some(NeverReason::OtherChain)
        } else if discard.status == Status::InvalidSignature && self.has_valid_form {
            Some(NeverReason::InvalidSignature)
        } else {
            (head_secs >= self.expiration_secs).then_some(NeverReason::Expired)
        };
        if let Some(reason) = reason {
            let message = match reason {
                NeverReason::InvalidSignature => discard.to_string(),
                NeverReason::Expired => expired_message(self.expiration_secs, head_secs),
                _ => {
                    let (given, id) = (self.chain_id, chain.id());
                    format!("the transaction is for chain {given}, this is chain {id}")
                }
            };
            return Verdict::Never(Never {
                reason,
                message,
                used_by: None,
            });
        }
        let cause = match Effect::of(discard.status) {
            Effect::Blocked(cause) => cause,
            _ => BlockCause::ChainLimit,
        };
        Verdict::Blocked(Blocked::new(cause, discard))
    }
}

/// The earlier uses of a sequence number or nonce, as one version of the ledger knows them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayHistory {
    /// Hash of the newest transaction of the sender that used the sequence number or nonce, if the
    /// ledger finds it.
    pub user: Option<HashValue>,
    /// Time of the block of the oldest readable version, in Unix seconds, or `None` if no version
    /// is pruned. Pruned blocks are not later.
    pub oldest_secs: Option<u64>,
}

/// The state of one version of the ledger that a verdict depends on.
#[derive(Debug)]
pub struct VerdictInputs {
    validation: ValidationInputs,
    multisig: Result<(), Discard>,
    /// Time of the newest block, in Unix seconds.
    head_secs: u64,
}

impl VerdictInputs {
    /// Reads the state of `info` that the verdict about `transaction` depends on.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the state cannot be read.
    pub fn read(
        chain: &Chain,
        state: &dyn StateView,
        info: &LedgerInfo,
        transaction: &CheckedTransaction,
    ) -> Result<Self, StateError> {
        Ok(Self {
            validation: ValidationInputs::read(chain, state, transaction.transaction())?,
            multisig: validate_multisig_for_admission(chain, state, info, transaction)?,
            head_secs: info.timestamp_usecs / USECS_PER_SEC,
        })
    }

    /// Returns whether the sequence number is used or the nonce remembered, so that
    /// [`ReplayHistory::user`] matters.
    pub fn is_protector_used(&self, raw: &RawTransaction) -> bool {
        match &self.validation.nonce {
            Some(nonce) => nonce.used_expiration_secs().is_some(),
            None => raw.sequence_number < self.validation.sender.sequence_number,
        }
    }

    /// Returns the verdict about a transaction whose hash is not in the window, or `None` if it may
    /// have been committed at a version that is pruned.
    ///
    /// `clock_secs` is the ledger's time, in Unix seconds, which the next block would have. Only
    /// verdicts that are not final depend on it.
    pub fn decide(
        &self,
        chain: &Chain,
        transaction: &CheckedTransaction,
        history: &ReplayHistory,
        clock_secs: u64,
    ) -> Option<Verdict> {
        let broken = |now_secs| broken_rules(chain, &self.validation, transaction, now_secs);
        let finals = broken(self.head_secs).into_iter().filter_map(|discard| {
            match Effect::of(discard.status) {
                Effect::Never(reason) => Some((reason, discard)),
                _ => None,
            }
        });
        if let Some((reason, discard)) = finals.min_by_key(|(reason, _)| *reason) {
            if reason != NeverReason::OtherChain && self.may_be_pruned(transaction, history) {
                return None;
            }
            return Some(Verdict::Never(self.never(
                transaction,
                history,
                reason,
                &discard,
            )));
        }
        let broken = broken(clock_secs.max(self.head_secs)).into_iter();
        Some(self.pending_verdict(transaction, broken.chain(self.multisig.clone().err())))
    }

    /// Returns the verdict about a transaction that breaks no final rule at the newest block, and
    /// breaks the rules of `discards` in the next one.
    fn pending_verdict(
        &self,
        transaction: &CheckedTransaction,
        discards: impl Iterator<Item = Discard>,
    ) -> Verdict {
        let raw = transaction.raw();
        let mut waits_for = Vec::new();
        for discard in discards {
            let cause = match Effect::of(discard.status) {
                Effect::WaitsForSequenceNumber => {
                    let next = self.validation.sender.sequence_number;
                    waits_for.push(WaitsFor::SequenceNumber { next });
                    continue;
                }
                Effect::WaitsForFunds => {
                    waits_for.push(WaitsFor::Funds {
                        needed: fee_max(raw),
                        available: self.validation.gas_payer().balance,
                    });
                    continue;
                }
                // Of the final rules, only the expiration can be broken by the clock alone.
                Effect::Never(_) => BlockCause::ExpiredByClock,
                Effect::Blocked(BlockCause::ExpirationTooFar) if self.is_nonce_remembered() => {
                    BlockCause::NonceRemembered
                }
                Effect::Blocked(cause) => cause,
            };
            let is_too_early = matches!(
                cause,
                BlockCause::ExpirationTooFar | BlockCause::NonceRemembered
            );
            let from_secs = raw.expiration_timestamp_secs.saturating_sub(OVERLAP_SECS);
            return Verdict::Blocked(Blocked {
                from_secs: is_too_early.then_some(from_secs),
                ..Blocked::new(cause, &discard)
            });
        }
        Verdict::CanCommit(CanCommit {
            until_secs: raw.expiration_timestamp_secs.saturating_sub(1),
            waits_for,
        })
    }

    /// Returns whether a transaction used the nonce and can still reject another one.
    fn is_nonce_remembered(&self) -> bool {
        let nonce = self.validation.nonce.as_ref();
        let used_secs = nonce.and_then(NonceSnapshot::used_expiration_secs);
        used_secs.is_some_and(|secs| self.head_secs <= secs.saturating_add(OVERLAP_SECS))
    }

    /// Returns whether the transaction may have been committed at a pruned version, although it is
    /// not in the window.
    fn may_be_pruned(&self, transaction: &CheckedTransaction, history: &ReplayHistory) -> bool {
        let Some(oldest_secs) = history.oldest_secs else {
            return false;
        };
        let raw = transaction.raw();
        let is_used_by_other = history.user.is_some_and(|user| user != transaction.hash());
        let Some(nonce) = &self.validation.nonce else {
            // A sequence number has one user.
            return raw.sequence_number < self.validation.sender.sequence_number
                && !is_used_by_other;
        };
        // The block of an orderless transaction is at most this time before its expiration.
        let expiration_secs = raw.expiration_timestamp_secs;
        if expiration_secs.saturating_sub(OVERLAP_SECS) > oldest_secs {
            return false;
        }
        // Until the expiration, the ledger would remember the nonce with this expiration. After it,
        // a later transaction may have replaced the record.
        let is_expired = self.head_secs >= expiration_secs;
        is_expired || (nonce.used_expiration_secs() == Some(expiration_secs) && !is_used_by_other)
    }

    /// Describes a final rule that the transaction breaks.
    fn never(
        &self,
        transaction: &CheckedTransaction,
        history: &ReplayHistory,
        reason: NeverReason,
        discard: &Discard,
    ) -> Never {
        let is_replay = matches!(
            reason,
            NeverReason::SequenceNumberUsed | NeverReason::NonceUsed
        );
        let user = history.user.filter(|user| *user != transaction.hash());
        let message = match reason {
            NeverReason::Expired => {
                expired_message(transaction.raw().expiration_timestamp_secs, self.head_secs)
            }
            _ => discard.to_string(),
        };
        Never {
            reason,
            message,
            used_by: user.filter(|_| is_replay),
        }
    }
}

/// Returns the message of a transaction that has expired by the time of a block.
fn expired_message(expiration_secs: u64, head_secs: u64) -> String {
    format!(
        "the transaction expired at {expiration_secs}, the newest block is of {head_secs}, in Unix \
         seconds"
    )
}
