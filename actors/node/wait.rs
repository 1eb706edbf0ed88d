//! Waits for the commitment of a transaction.
//!
//! # Why a wait never misses and a 404 never lies
//!
//! When a block is durable the committer publishes the Head, then tells the mempool, then those who
//! wait. A look-up goes the other way: the mempool first, then the Head and the storage. So a look
//! into the mempool that misses a committed transaction comes after the Head had it. Whoever waits
//! is subscribed first, and then the committer asks the mempool, which answers only if the transaction is not
//! pending: if the committer had told the waiters before, it had told the mempool before that, so that the
//! waiter is sent to look into Head and store and finds the block there; if not, it will tell this waiter.

use super::{handle::NodeHandle, lookup::recently_committed};
use crate::{
    NodeError, TransactionStatus,
    protocol::{committer::Subscribe, wait::WaitOutcome},
};
use ledger_crypto::HashValue;
use ledger_types::LedgerInfo;
use std::time::Duration;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

impl NodeHandle {
    /// As [`Self::transaction_by_hash`], but a pending transaction is waited for: until it is
    /// committed, leaves the pool, or `wait.timeout_ms` have passed.
    ///
    /// # Errors
    /// As [`Self::transaction_by_hash`]; and [`NodeError::StorageUnavailable`] at once when a write has failed, for then
    /// nothing is committed until a restart. That it is pending would be true, and the client would ask again
    /// at once and for ever.
    pub async fn wait_for_commit(
        &self,
        hash: HashValue,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if let Some(found) = recently_committed(&self.head(), &hash) {
            return Ok(found);
        }
        let waits = &self.shared.node.mailboxes.meters.waits;
        let wait = &self.shared.node.config.wait;
        let Some(permit) = waits.try_acquire() else {
            return self.transaction_by_hash(hash).await;
        };
        let deadline = Instant::now() + Duration::from_millis(wait.timeout_ms);
        let (reply, outcome) = oneshot::channel();
        let notifier = self.notifier.clone();
        let subscribe = Subscribe {
            hash,
            reply,
            notifier,
        };
        self.shared
            .node
            .mailboxes
            .committer
            .try_request(subscribe)?;
        let outcome = timeout_at(deadline, outcome).await;
        drop(permit);
        match outcome {
            Ok(Ok(WaitOutcome::Committed(ledger_info, committed))) => {
                waits.counters.committed.increment();
                Ok((ledger_info, TransactionStatus::Committed(committed)))
            }
            Ok(Ok(WaitOutcome::Removed(reason))) => {
                waits.counters.left.increment();
                self.not_in_pool(hash, Some(reason)).await
            }
            Ok(Ok(WaitOutcome::NotPending(reason))) => self.not_in_pool(hash, reason).await,
            Ok(Err(_)) => self.cancel_all(hash).await,
            Err(_) => {
                waits.counters.timed_out.increment();
                // The moment of the answer is now, not that of the beginning.
                self.transaction_by_hash(hash).await
            }
        }
    }

    /// The answer to a wait for `hash` that the committer let go, as a write has failed or as the node stops.
    async fn cancel_all(
        &self,
        hash: HashValue,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let error = self
            .shared
            .node
            .health
            .health()
            .failed()
            .ok_or(NodeError::Stopping)?;
        // What is committed is told even if a write has failed since.
        match self.transaction_by_hash(hash).await? {
            (_, TransactionStatus::Pending(_)) => Err(error.into()),
            found => Ok(found),
        }
    }
}
