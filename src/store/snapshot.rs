//! Reading: a snapshot is one moment of the ledger.

use crate::StoreError;
use bytes::Bytes;
use ledger::{
    AccountAddress, BlockInfo, ChainTip, ContractEvent, EventKey, ExecutedTransaction, HashValue, LedgerInfo,
    StateError, StateKey, StateView,
};

/// Gives snapshots. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoreReader(());

impl StoreReader {
    /// The end of the durable chain.
    ///
    /// # Errors
    /// When nothing is committed yet, or the database fails.
    pub fn chain_tip(&self) -> Result<ChainTip, StoreError> {
        todo!()
    }

    /// The newest durable moment.
    ///
    /// # Errors
    /// When nothing is committed yet, or the database fails.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        todo!()
    }

    /// The moment of `head`, whose version is durable: later rows are invisible.
    ///
    /// # Errors
    /// When `head` is not durable or pruned, or the database fails.
    pub fn snapshot_at(&self, head: &LedgerInfo) -> Result<Snapshot, StoreError> {
        let _ = head;
        todo!()
    }
}

/// One moment of the ledger.
#[derive(Debug)]
pub struct Snapshot {
    info: LedgerInfo,
}

/// A committed transaction as it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTransaction {
    /// Its version.
    pub version: u64,
    /// It and everything it did.
    pub executed: ExecutedTransaction,
}

impl Snapshot {
    /// The facts about the ledger at this moment.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.info
    }

    /// The transaction of a version; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails.
    pub fn transaction(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        let _ = version;
        todo!()
    }

    /// The version of the transaction with `hash`; may be a pruned one.
    ///
    /// # Errors
    /// When the database fails.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        let _ = hash;
        todo!()
    }

    /// The block of a height.
    ///
    /// # Errors
    /// When the database fails.
    pub fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        let _ = height;
        todo!()
    }

    /// The block that a version is in.
    ///
    /// # Errors
    /// When the database fails.
    pub fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        let _ = version;
        todo!()
    }

    /// The value of `key` after `version`, a version inside the window.
    ///
    /// # Errors
    /// When the database fails.
    pub fn state_value(&self, key: &StateKey, version: u64) -> Result<Option<Bytes>, StoreError> {
        let _ = (key, version);
        todo!()
    }

    /// The state after `version`.
    pub fn state_at(&self, version: u64) -> StateAt<'_> {
        StateAt {
            snapshot: self,
            version,
        }
    }

    /// Up to `limit` events of a stream with their versions, ascending from number `start`, or the
    /// newest ones without it.
    ///
    /// # Errors
    /// When the database fails.
    pub fn events(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, ContractEvent)>, StoreError> {
        let _ = (key, start, limit);
        todo!()
    }

    /// Up to `limit` versions of an account's transactions, ascending from a sequence number, or the
    /// newest ones without it.
    ///
    /// # Errors
    /// When the database fails.
    pub fn account_transactions(
        &self,
        sender: &AccountAddress,
        start_sequence_number: Option<u64>,
        limit: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let _ = (sender, start_sequence_number, limit);
        todo!()
    }
}

/// The state after one version, as execution reads it.
#[derive(Clone, Copy, Debug)]
pub struct StateAt<'a> {
    snapshot: &'a Snapshot,
    version: u64,
}

impl StateView for StateAt<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        self.snapshot
            .state_value(key, self.version)
            .map_err(|error| StateError(error.to_string()))
    }
}

/// A question answered on one snapshot.
pub trait Query: Send + 'static {
    /// The answer.
    type Output: Send + 'static;

    /// Answers it.
    ///
    /// # Errors
    /// When the database fails.
    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError>;
}

impl<F, T> Query for F
where
    F: FnOnce(&Snapshot) -> Result<T, StoreError> + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn run(self, snapshot: &Snapshot) -> Result<T, StoreError> {
        self(snapshot)
    }
}
