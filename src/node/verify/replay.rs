//! Execution of stored blocks once more. Each result is compared with its rows.
//!
//! The state before a block is that of the store at the version before it. Every value there was
//! compared when its own block was executed, or is below the window.

use super::{
    error::VerifyError,
    mismatch::{Mismatch, key_words, write_words},
};
use bytes::Bytes;
use ledger_crypto::{DecodedKeys, map::HashMap};
use ledger_execution::{ExecuteError, execute_genesis, replay_block};
use ledger_store::{Snapshot, StoreError, StoredBlock};
use ledger_types::{
    Accumulator, CheckedTransaction, ExecutedTransaction, Genesis, SignedTransaction, StateError,
    StateKey, Transaction, transaction::TransactionInfo,
};
use ledger_vm::Chain;
use std::{cell::RefCell, fmt::Debug, sync::Arc};

/// Size of the cached values from which the cache is emptied, in bytes.
const CACHE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Approximate size of a cached value without its bytes and those of its key.
const ENTRY_OVERHEAD_BYTES: usize = 128;

/// The newest values of some state keys.
#[derive(Default)]
struct StateCache {
    values: HashMap<StateKey, Option<Bytes>>,
    bytes: usize,
}

impl StateCache {
    fn insert(&mut self, key: StateKey, value: Option<Bytes>) {
        if self.bytes > CACHE_BYTES_MAX {
            *self = Self::default();
        }
        let value_bytes = value.as_ref().map_or(0, Bytes::len);
        // A replaced value counts twice until the cache is emptied.
        self.bytes += key.as_bytes().len() + value_bytes + ENTRY_OVERHEAD_BYTES;
        self.values.insert(key, value);
    }
}

/// The execution of the blocks of a ledger in order.
pub(super) struct Replay<'a> {
    chain: &'a Chain,
    genesis: &'a Genesis,
    snapshot: &'a Snapshot,
    checks_signatures: bool,
    keys: DecodedKeys,
    cache: RefCell<StateCache>,
}

impl<'a> Replay<'a> {
    /// Creates the execution of the blocks of `snapshot`.
    pub(super) fn new(
        chain: &'a Chain,
        genesis: &'a Genesis,
        snapshot: &'a Snapshot,
        checks_signatures: bool,
    ) -> Self {
        Self {
            chain,
            genesis,
            snapshot,
            checks_signatures,
            keys: DecodedKeys::default(),
            cache: RefCell::default(),
        }
    }

    /// Executes a block, and compares the results with its rows. Returns `false` if it could not be
    /// executed, because the state before it is pruned. Its signatures are checked nevertheless.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Mismatch`] for the first result that differs, and
    /// [`VerifyError::Store`] if the state cannot be read.
    pub(super) fn check(&mut self, stored: &StoredBlock) -> Result<bool, VerifyError> {
        let block = &stored.block;
        let first = block.first_version;
        let executed = if first == 0 {
            let genesis = execute_genesis(self.genesis, self.chain);
            compare(
                first,
                "the header of block 0",
                &block.header,
                &genesis.header,
            )?;
            genesis.transactions
        } else {
            let transactions = self.transactions(stored)?;
            if first == self.snapshot.ledger_info().oldest_version {
                return Ok(false);
            }
            let state = |key: &StateKey| self.value_before(key, first);
            let accumulator = &mut Accumulator::default();
            replay_block(
                self.chain,
                &state,
                accumulator,
                &block.header,
                &transactions,
            )
            .map_err(|error| match error {
                ExecuteError::State(error) => VerifyError::Store(StoreError::Inconsistent(error.0)),
                error => VerifyError::from(Mismatch {
                    version: first,
                    part: "the execution of its block".to_owned(),
                    stored: "complete".to_owned(),
                    computed: format!("impossible: {error}"),
                }),
            })?
        };
        let numbers = (stored.transactions.len(), executed.len());
        compare(
            first,
            "the number of its block's transactions",
            &numbers.0,
            &numbers.1,
        )?;
        let pairs = stored.transactions.iter().zip(&executed);
        for (version, (stored, executed)) in (first..).zip(pairs) {
            compare_transaction(version, stored, executed)?;
        }
        let mut cache = self.cache.borrow_mut();
        for (key, write) in executed.iter().flat_map(|executed| executed.writes.iter()) {
            cache.insert(key.clone(), write.value().cloned());
        }
        Ok(true)
    }

    /// Returns the user transactions of a block.
    ///
    /// # Errors
    ///
    /// Returns a mismatch for the first one with a wrong signature, if signatures are checked.
    fn transactions(
        &mut self,
        stored: &StoredBlock,
    ) -> Result<Vec<Arc<CheckedTransaction>>, Mismatch> {
        let (versions, users): (Vec<u64>, Vec<SignedTransaction>) = (stored.block.first_version..)
            .zip(&stored.transactions)
            .filter_map(|(version, executed)| match &executed.transaction {
                Transaction::User(signed) => Some((version, SignedTransaction::clone(signed))),
                _ => None,
            })
            .unzip();
        let vendor = self.chain.vendor();
        if !self.checks_signatures {
            let users = users.into_iter();
            let checked = users.map(|user| CheckedTransaction::new_unchecked(user, vendor));
            return Ok(checked.map(Arc::new).collect());
        }
        let parameters = self.chain.parameters();
        let checked = CheckedTransaction::check_all(users, vendor, parameters, &mut self.keys);
        let checked = versions.into_iter().zip(checked);
        checked
            .map(|(version, checked)| {
                checked.map(Arc::new).map_err(|discard| Mismatch {
                    version,
                    part: "the signatures of the transaction".to_owned(),
                    stored: "accepted".to_owned(),
                    computed: format!("rejected: {discard}"),
                })
            })
            .collect()
    }

    /// Returns the value of `key` before the block that begins with `version`.
    fn value_before(&self, key: &StateKey, version: u64) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.cache.borrow().values.get(key) {
            return Ok(value.clone());
        }
        let value = self.snapshot.state_value(key, version - 1);
        let value = value.map_err(|error| StateError(error.to_string()))?;
        self.cache.borrow_mut().insert(key.clone(), value.clone());
        Ok(value)
    }
}

/// Compares the rows of a version with the result of its execution.
fn compare_transaction(
    version: u64,
    stored: &ExecutedTransaction,
    executed: &ExecutedTransaction,
) -> Result<(), Mismatch> {
    compare(
        version,
        "the transaction",
        &stored.transaction,
        &executed.transaction,
    )?;
    let (of_rows, computed) = (stored.writes.iter(), executed.writes.iter());
    let writes = (of_rows.len(), computed.len());
    for (number, ((key, write), (computed_key, computed_write))) in
        of_rows.zip(computed).enumerate()
    {
        let part = |part: &str| format!("{part} of write {number}");
        Mismatch::check(version, part("the key"), key, computed_key, key_words)?;
        let value = format!("write {number} of {}", key_words(key));
        Mismatch::check(version, value, write, computed_write, write_words)?;
    }
    compare(version, "the number of writes", &writes.0, &writes.1)?;
    for (number, pair) in stored.events.iter().zip(&executed.events).enumerate() {
        compare(version, &format!("event {number}"), pair.0, pair.1)?;
    }
    let events = (stored.events.len(), executed.events.len());
    compare(version, "the number of events", &events.0, &events.1)?;
    let (TransactionInfo::V0(info), TransactionInfo::V0(computed)) = (&stored.info, &executed.info);
    compare(version, "the gas", &info.gas_used, &computed.gas_used)?;
    compare(version, "the status", &info.status, &computed.status)?;
    compare(version, "the info", info, computed)
}

/// Compares two values that messages show in their debug form.
fn compare<T: PartialEq + Debug>(
    version: u64,
    part: &str,
    stored: &T,
    computed: &T,
) -> Result<(), Mismatch> {
    Mismatch::check(version, part, stored, computed, |value| {
        format!("{value:?}")
    })
}
