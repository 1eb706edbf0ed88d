//! Submissions of transactions that are committed already, and the names of the transactions that
//! used a sequence number or a nonce (docs/use/interface.md#used-sequence-numbers).
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

use super::{
    handle::{NodeHandle, point_read, point_reads},
    slices::SLICE_TRANSACTIONS,
};
use crate::{
    Accepted, Candidate, Head, NodeError, SubmitError, protocol::storage::Answer,
    state::account_cache::AccountCache,
};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, LedgerInfo,
    ReplayProtector::{self, Nonce, SequenceNumber},
    SignedTransaction, ValidationStatus,
};
use std::sync::Arc;
use tokio::task::yield_now;

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
        self.node().head.with_accounts(|_, accounts| {
            protector_use(accounts, transaction) != ProtectorUse::Unused
        })
    }

    /// Returns which of the transactions are committed inside the window, in order, as
    /// [`Self::find_committed`] does.
    pub async fn find_all_committed(
        &self,
        candidates: &[Candidate<'_>],
        client: ClientKey,
    ) -> Vec<Result<bool, SubmitError>> {
        let mut outcomes: Vec<_> = candidates.iter().map(|_| Ok(false)).collect();
        let with_hash = candidates.iter().zip(&mut outcomes);
        let (with_hash, mut found): (Vec<_>, Vec<_>) = with_hash
            .filter(|(candidate, _)| candidate.hash.is_some())
            .unzip();
        let slices = with_hash.chunks(SLICE_TRANSACTIONS);
        for (number, (slice, found)) in slices.zip(found.chunks_mut(SLICE_TRANSACTIONS)).enumerate()
        {
            if number > 0 {
                yield_now().await;
            }
            let committed = self.slice_committed_at(slice, false, client).await;
            for (outcome, committed) in found.iter_mut().zip(committed) {
                **outcome = committed
                    .map(|info| info.is_some())
                    .map_err(SubmitError::from);
            }
        }
        outcomes
    }

    /// Returns the ledger info of a version at which a transaction is committed inside the window
    /// that the mempool has no capacity for. A pending transaction has capacity, and it may have
    /// been committed since the look-up.
    ///
    /// # Errors
    ///
    /// Returns `error` if it is not committed or was not looked up.
    pub(super) async fn committed_or(
        &self,
        error: SubmitError,
        candidate: Candidate<'_>,
        client: ClientKey,
    ) -> Result<LedgerInfo, SubmitError> {
        if matches!(error, SubmitError::Node(_)) {
            return Err(error);
        }
        let Candidate { transaction, hash } = candidate;
        let committed = self.committed_at(transaction, hash, true, client).await?;
        committed.ok_or(error)
    }

    /// Returns the acceptance of the transaction with this hash if it is committed inside the
    /// window.
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
        let slice = [&Candidate { transaction, hash }];
        let mut found = self.slice_committed_at(&slice, is_exact, client).await;
        found.pop().unwrap_or(Ok(None))
    }

    /// Looks the transactions of a slice up as [`Self::committed_at`] does, those that need a read
    /// of the store as one job. The results are in order.
    async fn slice_committed_at(
        &self,
        slice: &[&Candidate<'_>],
        is_exact: bool,
        client: ClientKey,
    ) -> Vec<Result<Option<LedgerInfo>, NodeError>> {
        let (head, uses) = self.protector_uses(slice.iter().map(|of| of.transaction));
        let mut found: Vec<_> = slice.iter().map(|_| Ok(None)).collect();
        let mut unknown = Vec::new();
        for (index, (Candidate { transaction, hash }, protector_use)) in
            slice.iter().zip(uses).enumerate()
        {
            if protector_use == ProtectorUse::Unused {
                continue;
            }
            let hash = hash.unwrap_or_else(|| transaction.hash(self.chain().vendor()));
            if head.committed(&hash).is_some() {
                found[index] = Ok(Some(*head.ledger_info()));
            } else {
                unknown.push(Unknown {
                    index,
                    hash,
                    is_read: is_exact || protector_use == ProtectorUse::Used,
                });
            }
        }
        if !unknown.is_empty() {
            self.find_in_store(&head, unknown, client, &mut found).await;
        }
        found
    }

    /// Looks transactions that are not in the recent blocks of `head` up in the store, and sets
    /// their results in `found`.
    async fn find_in_store(
        &self,
        head: &Head,
        mut unknown: Vec<Unknown>,
        client: ClientKey,
        found: &mut [Result<Option<LedgerInfo>, NodeError>],
    ) {
        let mut answer = self.versions_inline(head, &unknown);
        if answer.is_none() {
            unknown.retain(|unknown| unknown.is_read);
            if unknown.is_empty() {
                return;
            }
            let work = point_reads(client, unknown.len());
            answer = Some(self.read(work, FindVersions::of(&unknown)).await);
        }
        match answer.unwrap_or(Err(NodeError::Stopping)) {
            Ok((ledger_info, versions)) => {
                for (unknown, version) in unknown.iter().zip(versions) {
                    found[unknown.index] = Ok(version.map(|_| ledger_info));
                }
            }
            Err(error) => {
                for unknown in &unknown {
                    found[unknown.index] = Err(error.clone());
                }
            }
        }
    }

    /// Returns the acceptance of a committed transaction. Its signatures were checked before it was
    /// committed, and its hash covers them.
    pub(super) fn accepted_again(
        &self,
        ledger_info: LedgerInfo,
        transaction: &SignedTransaction,
    ) -> Accepted {
        let (transaction, vendor) = (transaction.clone(), self.chain().vendor());
        Accepted {
            ledger_info,
            transaction: Arc::new(CheckedTransaction::new_unchecked(transaction, vendor)),
        }
    }

    /// Returns the Head, and for each transaction whether the cached accounts exclude that it is
    /// committed.
    fn protector_uses<'a>(
        &self,
        transactions: impl Iterator<Item = &'a SignedTransaction>,
    ) -> (Head, Vec<ProtectorUse>) {
        self.node().head.with_accounts(|head, accounts| {
            let uses = transactions.map(|transaction| protector_use(accounts, transaction));
            (head, uses.collect())
        })
    }

    /// Returns the versions of transactions that are not in the recent blocks of `head` and are
    /// committed inside the window, with its ledger info. Returns `None` if the store cannot be
    /// read on the calling thread.
    fn versions_inline(
        &self,
        head: &Head,
        unknown: &[Unknown],
    ) -> Option<Answer<Vec<Option<u64>>>> {
        let ledger_info = *head.ledger_info();
        // The recent blocks do not hold the transactions, so a snapshot before them is as good as
        // one at the Head.
        let unchanged_from = head.oldest_recent_height();
        let reader = &self.node().inline_reader;
        let query = FindVersions::of(unknown);
        let answer = reader.read_unchanged(query, &ledger_info, unchanged_from);
        let answer = answer.ok()?;
        let in_window = |version: &u64| *version >= ledger_info.oldest_version;
        Some(answer.map(|(_, versions)| {
            let versions = versions.into_iter();
            let versions = versions.map(|version| version.filter(in_window));
            (ledger_info, versions.collect())
        }))
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

/// Returns whether a transaction has used the sequence number or nonce of this one, as far as
/// `accounts` knows.
fn protector_use(accounts: &AccountCache, transaction: &SignedTransaction) -> ProtectorUse {
    let raw = &transaction.raw;
    match raw.replay_protector() {
        Nonce(_) => ProtectorUse::Unknown,
        SequenceNumber(number) => match accounts.get(&raw.sender) {
            None => ProtectorUse::Unknown,
            Some(account) if number < account.sequence_number => ProtectorUse::Used,
            Some(_) => ProtectorUse::Unused,
        },
    }
}

/// A transaction of a slice that the recent blocks do not hold.
struct Unknown {
    /// Index in the slice.
    index: usize,
    hash: HashValue,
    /// Whether a reader thread looks it up if the calling thread cannot.
    is_read: bool,
}

/// The query of the versions of transactions by their hashes, of those inside the window.
struct FindVersions(Vec<HashValue>);

impl FindVersions {
    fn of(unknown: &[Unknown]) -> Self {
        Self(unknown.iter().map(|unknown| unknown.hash).collect())
    }
}

impl Query for FindVersions {
    type Output = Vec<Option<u64>>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let oldest = snapshot.ledger_info().oldest_version;
        let found = self.0.iter().map(|hash| {
            let version = snapshot.version_by_hash(hash)?;
            Ok(version.filter(|version| *version >= oldest))
        });
        found.collect()
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
