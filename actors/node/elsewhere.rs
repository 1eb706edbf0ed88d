//! Transactions that this node does not know, and another node of the chain may
//! (docs/use/interface.md#unknown-hashes).
//!
//! A node that accepted a transaction holds it until it is committed or removed, and a committed
//! transaction is at each node that executed its block. The other nodes are asked after this one
//! was searched, so a transaction that all of them answer for and none knows was not acknowledged,
//! or was removed. What a node knows and this one does not is brought here: a pending transaction
//! into the mempool, a committed one by waiting for its version.

use super::handle::NodeHandle;
use crate::{
    Lane, NodeError, Overload, SubmitError, TransactionStatus,
    relay::{FoundElsewhere, RelaySender},
};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, FairLimit, FairPermit};
use ledger_types::{CheckedTransaction, LedgerInfo, SignedTransaction};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;

/// Maximum number of concurrent look-ups at the other nodes. Each takes a round trip, so 256 are
/// some thousands per second between distant machines, and a fraction of what peers answer.
const LOOKUPS_MAX: usize = 256;

/// Number of look-ups that a client may hold for each free one: alone half of [`LOOKUPS_MAX`].
const LOOKUPS_PER_FREE: usize = 1;

/// Number of hashes of one request that are asked for at the same time, at most half of
/// [`LOOKUPS_MAX`], so that a client alone may hold them.
const HASHES_AT_ONCE: usize = 64;

/// Time that this node has to reach the version of a transaction that another node has committed.
/// A healthy node is behind by less than a second.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(2);

/// Creates the limit on concurrent look-ups at the other nodes.
pub(crate) fn elsewhere_limit() -> FairLimit {
    FairLimit::new(LOOKUPS_MAX, LOOKUPS_PER_FREE)
}

/// What a look-up at the other nodes has brought.
enum Brought {
    /// No other node that counts knows the transaction.
    Nothing,
    /// This node has it now, pending or committed.
    Here,
    /// It is pending at another node, and the mempool of this one does not take it.
    Pending(Arc<CheckedTransaction>),
}

impl NodeHandle {
    /// Returns the status that the other nodes know, if `found` is the status of a transaction that
    /// this node does not have. Otherwise, and without other nodes, returns `found`.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if too many look-ups are in progress, or too many of the
    /// client, [`NodeError::Unresolved`] if a node that may know the transaction does not answer or
    /// is ahead of this one, and the errors of [`Self::transaction_here`].
    pub(super) async fn or_elsewhere(
        &self,
        found: (LedgerInfo, TransactionStatus),
        hash: HashValue,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if !found.1.is_absent() {
            return Ok(found);
        }
        match self.bring(hash, client).await? {
            Brought::Nothing => Ok(found),
            Brought::Here => self.transaction_here(hash, client).await,
            Brought::Pending(transaction) => {
                let ledger_info = *self.head().ledger_info();
                Ok((ledger_info, TransactionStatus::Pending(transaction)))
            }
        }
    }

    /// Returns whether another node has the transaction, which is brought here then if possible.
    /// Returns `false` without other nodes.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] and [`NodeError::Unresolved`] as [`Self::or_elsewhere`]
    /// does.
    pub(super) async fn is_elsewhere(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<bool, NodeError> {
        let brought = self.bring(hash, client).await?;
        Ok(!matches!(brought, Brought::Nothing))
    }

    /// Returns those of the transactions that other nodes have, as [`Self::is_elsewhere`] does.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] and [`NodeError::Unresolved`] as [`Self::or_elsewhere`]
    /// does.
    pub(super) async fn are_elsewhere(
        &self,
        hashes: &[HashValue],
        client: ClientKey,
    ) -> Result<Vec<HashValue>, NodeError> {
        let mut found = Vec::new();
        let Some(relay) = &self.node().relay else {
            return Ok(found);
        };
        for part in hashes.chunks(HASHES_AT_ONCE) {
            let _permits = self.acquire_lookups(client, part.len())?;
            let asked: Vec<_> = part.iter().map(|hash| relay.ask(*hash)).collect();
            for (hash, answer) in part.iter().zip(asked) {
                let answer = RelaySender::answer(answer).await;
                if !matches!(self.bring_found(answer, client).await?, Brought::Nothing) {
                    found.push(*hash);
                }
            }
        }
        Ok(found)
    }

    fn acquire_lookups(
        &self,
        client: ClientKey,
        count: usize,
    ) -> Result<FairPermit<&FairLimit>, NodeError> {
        let limit = &self.node().elsewhere_limit;
        let permit = FairPermit::try_acquire_all(limit, client, count);
        permit.ok_or_else(|| Overload::brief("look-ups at other nodes", LOOKUPS_MAX).into())
    }

    /// Asks the other nodes for a transaction, and brings it here.
    async fn bring(&self, hash: HashValue, client: ClientKey) -> Result<Brought, NodeError> {
        let Some(relay) = &self.node().relay else {
            return Ok(Brought::Nothing);
        };
        let _permit = self.acquire_lookups(client, 1)?;
        self.bring_found(relay.find(hash).await, client).await
    }

    async fn bring_found(
        &self,
        found: FoundElsewhere,
        client: ClientKey,
    ) -> Result<Brought, NodeError> {
        match found {
            FoundElsewhere::Unknown if self.is_isolated() => Err(NodeError::Unresolved),
            FoundElsewhere::Unknown => Ok(Brought::Nothing),
            FoundElsewhere::Unreachable => Err(NodeError::Unresolved),
            FoundElsewhere::Pending(transaction) => self.bring_pending(*transaction, client).await,
            FoundElsewhere::Committed { version } => {
                let end = sleep(CATCH_UP_TIMEOUT);
                let reached = self.wait_for_version(version, end, client).await;
                reached.map_err(|_| NodeError::Unresolved)?;
                Ok(Brought::Here)
            }
        }
    }

    /// Returns whether too few validators are in contact, or they are far ahead. They may have
    /// committed the transaction then.
    fn is_isolated(&self) -> bool {
        let engine = self.engine_report();
        engine.is_some_and(|engine| engine.isolation().is_some())
    }

    /// Adds a transaction that is pending at another node to the mempool. One with an invalid
    /// signature is not pending at an honest node.
    async fn bring_pending(
        &self,
        transaction: SignedTransaction,
        client: ClientKey,
    ) -> Result<Brought, NodeError> {
        let is_denied = self.check_filter(&transaction).is_err();
        let checked = match self
            .check_signatures(transaction, Lane::Trusted, client)
            .await
        {
            Ok(checked) => checked,
            Err(SubmitError::Node(error)) => return Err(error),
            Err(_) => return Ok(Brought::Nothing),
        };
        let pending = Arc::new(checked.clone());
        if is_denied {
            return Ok(Brought::Pending(pending));
        }
        let added = self.submit_all_from(vec![checked], client, true).await;
        Ok(match added.into_iter().next() {
            Some(Ok(_)) => Brought::Here,
            _ => Brought::Pending(pending),
        })
    }
}
