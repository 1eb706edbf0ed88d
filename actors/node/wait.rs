//! Waits for the commitment of a transaction.
//!
//! # Order of notifications and look-ups
//!
//! The order ensures that no wait misses a commitment and that no 404 is false.
//!
//! When a block is durable, the committer publishes the Head, then notifies the mempool, then the
//! waiters. A look-up reads in the opposite order: the mempool first, then the Head and the store.
//!
//! * If a look-up in the mempool misses a committed transaction, the mempool was already notified,
//!   so the Head includes the block.
//! * A waiter is subscribed before the committer checks with the mempool that the transaction is
//!   pending. If the committer notified the waiters of the block before the subscription, it had
//!   already notified the mempool. The mempool then replies that the transaction is not pending,
//!   and the waiter finds the block in Head or store. Otherwise the committer notifies this waiter
//!   later.

use super::{handle::NodeHandle, lookup::recently_committed};
use crate::{
    NodeError, TransactionStatus, WaitConfig,
    protocol::{
        committer::{Subscribe, Wait},
        wait::WaitOutcome,
    },
};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, FairLimit, FairPermit};
use ledger_types::LedgerInfo;
use std::{pin::pin, time::Duration};
use tokio::{sync::oneshot, time::sleep};

/// Number of waits that a client may hold for each free one: alone seven eighths of
/// `wait.capacity`. More would leave the next client few waits, less would make a machine with many
/// clients of one address need a larger capacity.
const WAITS_PER_FREE: usize = 7;

/// Creates the limit on concurrent waits of a configuration.
pub(crate) fn wait_limit(config: &WaitConfig) -> FairLimit {
    FairLimit::new(config.capacity, WAITS_PER_FREE)
}

/// Returns the outcome of a wait, or `None` if `end` completes first.
pub(super) async fn before<T>(
    end: impl Future<Output = ()>,
    outcome: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        outcome = outcome => Some(outcome),
        () = end => None,
    }
}

impl NodeHandle {
    /// Returns the status of a transaction to `client`, after waiting while it is pending, for
    /// `wait.timeout_ms` at most.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::wait_for_commit_until`].
    pub async fn wait_for_commit(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let timeout = Duration::from_millis(self.config().wait.timeout_ms);
        self.wait_for_commit_until(hash, client, sleep(timeout))
            .await
    }

    /// Returns the status of a transaction to `client`, after waiting while it is pending.
    ///
    /// The wait ends when the transaction is committed or removed from the mempool, or when `end`
    /// completes. A transaction that this node does not have is brought here from another node of
    /// the chain, once, and waited for. Beyond `wait.capacity` concurrent waits, or the client's part of them, the
    /// status is returned without a wait. A commitment before the call is not missed, so the wait
    /// for a transaction may begin after its submission.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] as [`Self::transaction_by_hash`] does, and
    /// [`NodeError::NotWritable`] immediately after a fault of the disk if the transaction
    /// is pending: no block becomes durable until a restart, and a client that receives the status
    /// "pending" would repeat the request immediately.
    pub async fn wait_for_commit_until(
        &self,
        hash: HashValue,
        client: ClientKey,
        end: impl Future<Output = ()>,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if let Some(found) = recently_committed(&self.head(), &hash) {
            return Ok(found);
        }
        let node = self.node();
        let meter = &node.mailboxes.meters.waits;
        let Some(permit) = FairPermit::try_acquire(&node.wait_limit, client) else {
            meter.refused.increment();
            return self.transaction_by_hash(hash, client).await;
        };
        let mut end = pin!(end);
        let here = self.wait_here(hash, client, end.as_mut()).await?;
        let was_pending_here = matches!(here.1, TransactionStatus::Pending(_));
        let found = self.or_elsewhere(here, hash, client).await?;
        if was_pending_here || !matches!(found.1, TransactionStatus::Pending(_)) {
            return Ok(found);
        }
        let waited = self.wait_here(hash, client, end).await?;
        drop(permit);
        // The mempool of this node may not have taken it, or has evicted it.
        Ok(match waited.1.is_absent() {
            true => found,
            false => waited,
        })
    }

    /// Waits as [`Self::wait_for_commit_until`] does, for a transaction that this node has.
    async fn wait_here(
        &self,
        hash: HashValue,
        client: ClientKey,
        end: impl Future<Output = ()>,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let node = self.node();
        let meter = &node.mailboxes.meters.waits;
        let (reply, outcome) = oneshot::channel();
        node.mailboxes.committer.try_request(Subscribe {
            wait: Wait::One { hash, reply },
            notifier: self.notifier.clone(),
        })?;
        let begun = meter.begin();
        let outcome = before(end, outcome).await;
        begun.end();
        match outcome {
            Some(Ok(WaitOutcome::Committed(ledger_info, committed))) => {
                meter.committed.increment();
                Ok((ledger_info, TransactionStatus::Committed(committed)))
            }
            Some(Ok(WaitOutcome::Removed(reason))) => {
                meter.removed.increment();
                self.status_outside_pool(hash, Some(reason), client).await
            }
            Some(Ok(WaitOutcome::NotPending(reason))) => {
                self.status_outside_pool(hash, reason, client).await
            }
            Some(Err(_)) => self.status_after_cancellation(hash, client).await,
            None => {
                meter.timed_out.increment();
                // The ledger info of the response is that of the end of the wait, not of its start.
                self.transaction_here(hash, client).await
            }
        }
    }

    /// Returns the status after the committer has canceled a wait, because of a fault of the disk
    /// or because the node is stopping.
    async fn status_after_cancellation(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let failed = self.node().health.health().failed();
        let cause = failed.ok_or(NodeError::Stopping)?;
        // A transaction that was committed before the fault is returned.
        match self.transaction_here(hash, client).await? {
            (_, TransactionStatus::Pending(_)) => Err(cause.into()),
            found => Ok(found),
        }
    }
}
