//! Look-ups of a transaction by its hash.

use super::handle::{NodeHandle, point_read, request};
use crate::{
    Head, NodeError, RemovalReason,
    protocol::mempool::{GetPending, PendingStatus},
    state::committed::CommittedTransaction,
};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_store::{HashLookup, Query, Snapshot, StoreError};
use ledger_types::{CheckedTransaction, LedgerInfo};
use std::sync::Arc;

/// Status of a transaction hash.
#[derive(Clone, Debug)]
pub enum TransactionStatus {
    /// The transaction is in the mempool, or its block is not durable yet.
    Pending(Arc<CheckedTransaction>),
    /// The transaction is committed and durable.
    Committed(CommittedTransaction),
    /// The transaction was committed at a version that is pruned.
    Pruned {
        /// Version of the transaction.
        version: u64,
    },
    /// The transaction was removed from the mempool without being executed.
    Removed(RemovalReason),
    /// The node has no record of the hash.
    Unknown,
}

impl TransactionStatus {
    /// Returns whether the node does not have the transaction.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Removed(_) | Self::Unknown)
    }
}

impl NodeHandle {
    /// Returns the status of a transaction at the version of the returned ledger info, to
    /// `client`. If this node does not have it, the other nodes of the chain are asked.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if an actor or the relay has too many requests, the node is stopping, or
    /// the store cannot be read, and [`NodeError::Unresolved`] if another node may know the
    /// transaction and does not answer.
    pub async fn transaction_by_hash(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let found = self.transaction_here(hash, client).await?;
        self.or_elsewhere(found, hash, client).await
    }

    /// Returns the status of a transaction as this node alone knows it.
    ///
    /// The look-up in the mempool precedes the last one in the Head and the store, so that no
    /// committed transaction is missed; see `node/wait.rs`.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if an actor has too many requests, the node is stopping, or the store
    /// cannot be read.
    pub(super) async fn transaction_here(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let before = self.head();
        if let Some(found) = recently_committed(&before, &hash) {
            return Ok(found);
        }
        // A transaction in the store is committed, so its status in the mempool does not matter.
        if let Ok(Ok((ledger_info, found @ TransactionStatus::Committed(_)))) =
            self.node().inline_reader.read(FindByHash(hash))
        {
            return Ok((ledger_info, found));
        }
        let pending = request(&self.node().mailboxes.mempool, |reply| GetPending {
            hash,
            reply,
        });
        let reason = match pending.await? {
            PendingStatus::Pending(transaction) => {
                return Ok((
                    *before.ledger_info(),
                    TransactionStatus::Pending(transaction),
                ));
            }
            PendingStatus::Removed(reason) => Some(reason),
            PendingStatus::Unknown => None,
        };
        self.status_outside_pool(hash, reason, client).await
    }

    /// Returns the status of a transaction that the mempool does not hold.
    ///
    /// `reason` is the recorded reason of its removal. It is returned only if the transaction is
    /// not committed, because the transaction may have been submitted again since.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read_few`].
    pub(super) async fn status_outside_pool(
        &self,
        hash: HashValue,
        reason: Option<RemovalReason>,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if let Some(found) = recently_committed(&self.head(), &hash) {
            return Ok(found);
        }
        let found = self.read_few(point_read(client), FindByHash(hash)).await?;
        let (ledger_info, found) = found;
        let status = match (found, reason) {
            (TransactionStatus::Unknown, Some(reason)) => TransactionStatus::Removed(reason),
            (found, _) => found,
        };
        Ok((ledger_info, status))
    }
}

/// Returns the transaction if one of the Head's recent blocks holds it, with the Head's ledger
/// info.
pub(super) fn recently_committed(
    head: &Head,
    hash: &HashValue,
) -> Option<(LedgerInfo, TransactionStatus)> {
    let committed = head.committed(hash)?;
    Some((*head.ledger_info(), TransactionStatus::Committed(committed)))
}

/// The query of a transaction by its hash.
pub(super) struct FindByHash(pub(super) HashValue);

impl Query for FindByHash {
    type Output = TransactionStatus;

    fn run(self, snapshot: &Snapshot) -> Result<TransactionStatus, StoreError> {
        Ok(match snapshot.transaction_by_hash(&self.0)? {
            None => TransactionStatus::Unknown,
            Some(HashLookup::InWindow(found)) => TransactionStatus::Committed(
                CommittedTransaction::from_stored(found.transaction, &found.block),
            ),
            Some(HashLookup::Pruned { version }) => TransactionStatus::Pruned { version },
        })
    }
}
