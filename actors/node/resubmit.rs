//! Submissions of transactions that are committed already, and the names of the transactions that
//! used a sequence number or a nonce (docs/interface.md#rule-15).
//!
//! The hash of a transaction covers its signatures, so bytes whose hash is committed have valid
//! signatures. A look-up by hash precedes all checks, and follows a rejection:
//!
//! * The look-up before the checks finds a transaction that was committed before the request. An
//!   account in the cache, which is that of nearly every submission, excludes it by its sequence
//!   number. Other accounts and nonces are looked up in the recent blocks and in the index of
//!   hashes, whose bloom filters exclude most runs.
//! * The look-up after a rejection finds a transaction that was committed meanwhile. The committer
//!   publishes the Head before it notifies the mempool, so a state or a pool that rejects the
//!   transaction because of its own block is not newer than the Head.

use super::handle::{NodeHandle, point_read};
use crate::{Accepted, Head, NodeError, SubmitError, protocol::storage::Answer};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, LedgerInfo,
    ReplayProtector::{self, Nonce, SequenceNumber},
    SignedTransaction, ValidationStatus,
};
use std::sync::Arc;

/// Maximum number of an account's newest orderless transactions among which that of a nonce is
/// searched. The index has no nonces, so each one is a row to decode.
pub(super) const NONCE_SEARCH_ROWS_MAX: usize = 100;

/// Whether a transaction has used a sequence number or nonce, as far as the account cache at the
/// Head knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProtectorUse {
    /// A committed transaction has the sequence number.
    Used,
    /// No committed transaction has the sequence number.
    Unused,
    /// The account is not cached, or the transaction has a nonce.
    Unknown,
}

impl NodeHandle {
    /// Returns whether the transaction may be committed, as far as the account cache at the Head
    /// knows.
    pub fn may_be_committed(&self, transaction: &SignedTransaction) -> bool {
        self.protector_use(transaction).1 != ProtectorUse::Unused
    }

    /// Returns the acceptance of a submission that needs no check of its signatures: its
    /// transaction is committed inside the window. Returns `None` if the signatures must be
    /// checked.
    ///
    /// `hash` is that of the transaction, or `None` if [`Self::may_be_committed`] excluded a commit.
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
            Err(error @ SubmitError::Node(_)) => Err(error),
            // A pending transaction has capacity. It may have been committed since the look-up.
            Err(full) => {
                let committed = self.committed_at(transaction, hash, true, client).await?;
                let accepted = committed.map(|info| self.accepted_again(info, transaction));
                accepted.map(Some).ok_or(full)
            }
        }
    }

    /// Returns the acceptance of the transaction with this hash if it is committed inside the window.
    ///
    /// Does not wait for the disk if the account cache does not know whether the sequence number or
    /// nonce is used: it then returns `None` if inline reads are paused, or if more blocks than the
    /// recent ones are not applied. [`Self::submit`] looks such a transaction up again.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if the sequence number is used and the storage has too many requests,
    /// or if the node is stopping or the store cannot be read.
    pub async fn find_committed(
        &self,
        transaction: &SignedTransaction,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<Option<Accepted>, NodeError> {
        let hash = Some(hash);
        let committed = self.committed_at(transaction, hash, false, client).await?;
        Ok(committed.map(|info| self.accepted_again(info, transaction)))
    }

    /// Returns the outcome of a submission that validation or the mempool has rejected.
    ///
    /// # Errors
    ///
    /// Returns `rejection` unless the transaction is committed inside the window, with the hash of
    /// the transaction that used the sequence number or nonce if that is the reason and the store
    /// finds it. Returns [`SubmitError::Node`] if the transaction cannot be looked up.
    pub(super) async fn outcome_after_rejection(
        &self,
        transaction: &Arc<CheckedTransaction>,
        rejection: SubmitError,
        client: ClientKey,
    ) -> Result<Accepted, SubmitError> {
        if matches!(rejection, SubmitError::Node(_)) {
            return Err(rejection);
        }
        let (signed, hash) = (transaction.transaction(), transaction.hash());
        let committed = self.committed_at(signed, Some(hash), true, client).await?;
        if let Some(ledger_info) = committed {
            return Ok(Accepted {
                ledger_info,
                transaction: Arc::clone(transaction),
            });
        }
        Err(match rejection {
            SubmitError::Invalid(discard) => self.with_user(transaction, discard, client).await,
            other => other,
        })
    }

    /// Returns the ledger info of a version at which the transaction is committed inside the
    /// window, or `None` if it is not.
    ///
    /// `hash` is that of the transaction, if it is known. Unless the look-up is exact, it may also
    /// return `None` in the cases that [`Self::find_committed`] states.
    async fn committed_at(
        &self,
        transaction: &SignedTransaction,
        hash: Option<HashValue>,
        is_exact: bool,
        client: ClientKey,
    ) -> Result<Option<LedgerInfo>, NodeError> {
        let (head, protector_use) = self.protector_use(transaction);
        if protector_use == ProtectorUse::Unused {
            return Ok(None);
        }
        let hash = hash.unwrap_or_else(|| transaction.hash(self.chain().vendor()));
        let (ledger_info, version) = match self.version_inline(&head, hash) {
            Some(found) => found?,
            None if is_exact || protector_use == ProtectorUse::Used => {
                self.read(point_read(client), FindVersion(hash)).await?
            }
            None => return Ok(None),
        };
        Ok(version.map(|_| ledger_info))
    }

    /// Returns the acceptance of a committed transaction. Its signatures were checked before it was
    /// committed, and its hash covers them.
    fn accepted_again(&self, ledger_info: LedgerInfo, transaction: &SignedTransaction) -> Accepted {
        let (transaction, vendor) = (transaction.clone(), self.chain().vendor());
        Accepted {
            ledger_info,
            transaction: Arc::new(CheckedTransaction::new_unchecked(transaction, vendor)),
        }
    }

    /// Returns the Head, and whether its cached accounts exclude that the transaction is committed.
    fn protector_use(&self, transaction: &SignedTransaction) -> (Head, ProtectorUse) {
        let raw = &transaction.raw;
        self.node().head.with_accounts(|head, accounts| {
            let protector_use = match raw.replay_protector() {
                Nonce(_) => ProtectorUse::Unknown,
                SequenceNumber(number) => match accounts.get(&raw.sender) {
                    None => ProtectorUse::Unknown,
                    Some(account) if number < account.sequence_number => ProtectorUse::Used,
                    Some(_) => ProtectorUse::Unused,
                },
            };
            (head, protector_use)
        })
    }

    /// Returns the version of the transaction `hash` if it is committed inside the window, with the
    /// ledger info of `head`. Returns `None` if the store cannot be read on the calling thread.
    fn version_inline(&self, head: &Head, hash: HashValue) -> Option<Answer<Option<u64>>> {
        let ledger_info = *head.ledger_info();
        if let Some(committed) = head.committed(&hash) {
            return Some(Ok((ledger_info, Some(committed.version))));
        }
        // The recent blocks do not hold the transaction, so a snapshot before them is as good as
        // one at the Head.
        let unchanged_from = head.oldest_recent_height();
        let reader = &self.node().inline_reader;
        let answer = reader.read_unchanged(FindVersion(hash), &ledger_info, unchanged_from);
        let answer = answer.ok()?;
        let in_window = |version: &u64| *version >= ledger_info.oldest_version;
        Some(answer.map(|(_, version)| (ledger_info, version.filter(in_window))))
    }

    /// Adds the hash of the transaction that used the sequence number or nonce to a rejection for
    /// this reason. The rejection stays as it is if the store does not find the transaction, or has
    /// too many requests.
    async fn with_user(
        &self,
        transaction: &CheckedTransaction,
        discard: Discard,
        client: ClientKey,
    ) -> SubmitError {
        let raw = transaction.raw();
        let query = FindUser {
            sender: raw.sender,
            protector: raw.replay_protector(),
        };
        let user = match discard.status {
            ValidationStatus::SequenceNumberTooOld => {
                self.read_few(point_read(client), query).await
            }
            ValidationStatus::NonceAlreadyUsed => {
                let work = Work {
                    client,
                    ..Work::of_node(WorkKind::Page, Demand::rows(NONCE_SEARCH_ROWS_MAX))
                };
                self.read(work, query).await
            }
            _ => return discard.into(),
        };
        match user {
            Ok((_, Some(user))) if user != transaction.hash() => discard.used_by(user).into(),
            _ => discard.into(),
        }
    }
}

/// The query of the version of a transaction by its hash, if it is inside the window.
struct FindVersion(HashValue);

impl Query for FindVersion {
    type Output = Option<u64>;

    fn run(self, snapshot: &Snapshot) -> Result<Option<u64>, StoreError> {
        let oldest = snapshot.ledger_info().oldest_version;
        let version = snapshot.version_by_hash(&self.0)?;
        Ok(version.filter(|version| *version >= oldest))
    }
}

/// The query of the hash of the transaction that used a sequence number or nonce.
struct FindUser {
    sender: AccountAddress,
    protector: ReplayProtector,
}

impl Query for FindUser {
    type Output = Option<HashValue>;

    fn run(self, snapshot: &Snapshot) -> Result<Option<HashValue>, StoreError> {
        snapshot.hash_by_protector(&self.sender, self.protector, NONCE_SEARCH_ROWS_MAX)
    }
}
