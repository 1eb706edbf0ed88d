//! All that HTTP and tests know of the node.

use crate::{
    Accepted, BlockFeed, GasEstimate, Head, Lookup, MailboxStatus, NodeConfig, ReadError, SubmitError,
    TuneError,
};
use ledger::{Chain, CheckedTransaction, HashValue, LedgerInfo};
use ledger_store::Query;
use std::sync::Arc;

/// The way to a running node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NodeHandle(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    chain: Chain,
    config: NodeConfig,
}

impl NodeHandle {
    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.0.chain
    }

    /// The settings that the node was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.0.config
    }

    /// The newest durable moment of the ledger.
    pub fn head(&self) -> Arc<Head> {
        todo!()
    }

    /// Checks a transaction against the newest state and hands it to the pool.
    ///
    /// # Errors
    /// Why it is not in the pool.
    pub async fn submit(&self, transaction: CheckedTransaction) -> Result<Accepted, SubmitError> {
        let _ = transaction;
        todo!()
    }

    /// What is known of the transaction `hash`, at the moment that the ledger info tells.
    ///
    /// # Errors
    /// When an actor has too many requests, the node is stopping, or the store fails.
    pub async fn transaction_by_hash(&self, hash: HashValue) -> Result<(LedgerInfo, Lookup), ReadError> {
        let _ = hash;
        todo!()
    }

    /// As [`Self::transaction_by_hash`], but a pending transaction is waited for: until it is
    /// committed, leaves the pool, or `wait.timeout_ms` have passed.
    ///
    /// # Errors
    /// As [`Self::transaction_by_hash`].
    pub async fn wait_for_commit(&self, hash: HashValue) -> Result<(LedgerInfo, Lookup), ReadError> {
        let _ = hash;
        todo!()
    }

    /// Answers a query on one snapshot, and says which moment of the ledger that was.
    ///
    /// # Errors
    /// When the storage has too many requests, the node is stopping, or the store fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Result<(LedgerInfo, Q::Output), ReadError> {
        let _ = query;
        todo!()
    }

    /// What a transaction should pay for a gas unit.
    ///
    /// # Errors
    /// When the mempool has too many requests or the node is stopping.
    pub async fn gas_estimate(&self) -> Result<GasEstimate, ReadError> {
        todo!()
    }

    /// The blocks that become durable from now on, in order.
    ///
    /// # Errors
    /// When the committer has too many requests or the node is stopping.
    pub async fn subscribe_blocks(&self) -> Result<BlockFeed, ReadError> {
        todo!()
    }

    /// The numbers of each mailbox: mempool, sequencer, committer, storage, pruner.
    pub fn mailboxes(&self) -> Vec<MailboxStatus> {
        todo!()
    }

    /// Changes how many requests may wait for an actor, with effect at once.
    ///
    /// # Errors
    /// When there is no such actor, or the capacity is 0.
    pub fn set_mailbox_capacity(&self, actor: &str, capacity: usize) -> Result<MailboxStatus, TuneError> {
        let _ = (actor, capacity);
        todo!()
    }
}
