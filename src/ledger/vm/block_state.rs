//! The state within a block: a base version and the changes of the block's transactions.

use bytes::Bytes;
use ledger_crypto::map::HashMap;
use ledger_types::{StateError, StateKey, StateView, WriteSet};

/// The state before the next transaction of a block.
pub struct BlockState<'a> {
    base: &'a dyn StateView,
    changed: HashMap<StateKey, Option<Bytes>>,
}

impl<'a> BlockState<'a> {
    /// Creates the state at the start of a block.
    pub fn new(base: &'a dyn StateView) -> Self {
        Self {
            base,
            changed: HashMap::default(),
        }
    }

    /// Applies the writes of a transaction.
    pub fn apply(&mut self, writes: &WriteSet) {
        for (key, op) in writes.iter() {
            self.changed.insert(key.clone(), op.value().cloned());
        }
    }
}

impl StateView for BlockState<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        match self.changed.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(key),
        }
    }
}
