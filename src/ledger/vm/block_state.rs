//! The state within a block: the version the block starts from, and what its transactions changed.

use bytes::Bytes;
use ledger_crypto::map::HashMap;
use ledger_types::{StateError, StateKey, StateView, WriteSet};

/// The state that the next transaction of a block starts from.
pub struct BlockState<'a> {
    base: &'a dyn StateView,
    changed: HashMap<StateKey, Option<Bytes>>,
}

impl<'a> BlockState<'a> {
    /// The state at the start of a block.
    pub fn new(base: &'a dyn StateView) -> Self {
        Self {
            base,
            changed: HashMap::default(),
        }
    }

    /// Takes over what a transaction changed.
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
