//! What a transaction changes in the state: each key at most once, in ascending order.

use super::StateKey;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A change of one key. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WriteOp {
    /// The key holds these bytes from now on.
    Put(Bytes),
    /// The key holds nothing from now on.
    Delete,
}

impl WriteOp {
    /// The new value, or `None` after a deletion.
    pub fn value(&self) -> Option<&Bytes> {
        match self {
            Self::Put(bytes) => Some(bytes),
            Self::Delete => None,
        }
    }
}

/// The changes of one transaction, ascending by key, each key once.
///
/// State change hashes cover its BCS form, so the form carries a version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WriteSet {
    /// The only version.
    V0(Vec<(StateKey, WriteOp)>),
}

impl Default for WriteSet {
    fn default() -> Self {
        Self::V0(Vec::new())
    }
}

impl WriteSet {
    /// Takes changes that ascend by key, each key once.
    ///
    /// # Panics
    /// In builds with debug assertions, when they do not.
    pub fn from_ascending(changes: Vec<(StateKey, WriteOp)>) -> Self {
        debug_assert!(
            changes.is_sorted_by(|a, b| a.0 < b.0),
            "a write set ascends by key"
        );
        Self::V0(changes)
    }

    /// The changes, ascending by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(StateKey, WriteOp)> {
        let Self::V0(changes) = self;
        changes.iter()
    }

    /// How many keys change.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
