//! The state within a block: a base version and the changes of the block's transactions.

use bytes::Bytes;
use ledger_crypto::map::HashMap;
use ledger_types::{AccountAddress, StateError, StateKey, StateView, WriteSet};

/// The state before the next transaction of a block.
pub struct BlockState<'a> {
    base: &'a dyn StateView,
    changed: HashMap<StateKey, Option<Bytes>>,
    native_stores: HashMap<AccountAddress, AccountAddress>,
}

impl<'a> BlockState<'a> {
    /// Creates the state at the start of a block.
    pub fn new(base: &'a dyn StateView) -> Self {
        Self {
            base,
            changed: HashMap::default(),
            native_stores: HashMap::default(),
        }
    }

    /// Reserves memory for changes of `keys` keys.
    #[must_use]
    pub fn with_capacity(mut self, keys: usize) -> Self {
        self.changed.reserve(keys);
        self
    }

    /// Adds addresses of the stores that hold the chain's coin, by owner. They are derived in
    /// advance, side by side, because deriving one alone takes twice as long.
    #[must_use]
    pub fn with_native_stores(
        mut self,
        stores: impl IntoIterator<Item = (AccountAddress, AccountAddress)>,
    ) -> Self {
        self.native_stores.extend(stores);
        self
    }

    /// Returns the address of the store that holds the chain's coin of `owner`, or `None` if it was
    /// not derived in advance.
    pub fn native_store(&self, owner: &AccountAddress) -> Option<AccountAddress> {
        self.native_stores.get(owner).copied()
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
