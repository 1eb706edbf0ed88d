//! State changes of a transaction, with each key at most once and in ascending order.

use super::StateKey;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A change of one key. The wire format fixes the order of the variants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WriteOp {
    /// The key had no value before the transaction, and has this one after it.
    Create(Bytes),
    /// The key had a value before the transaction, and has this one after it.
    Modify(Bytes),
    /// The key has no value after the transaction.
    Delete,
}

impl WriteOp {
    /// Returns the new value, or `None` for a deletion.
    pub fn value(&self) -> Option<&Bytes> {
        match self {
            Self::Create(bytes) | Self::Modify(bytes) => Some(bytes),
            Self::Delete => None,
        }
    }

    /// Returns the new value, or `None` for a deletion.
    pub fn into_value(self) -> Option<Bytes> {
        match self {
            Self::Create(bytes) | Self::Modify(bytes) => Some(bytes),
            Self::Delete => None,
        }
    }
}

/// The changes of one transaction, ascending by key without duplicates.
///
/// State change hashes cover the BCS form, so the form has a version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WriteSet {
    /// Version 0, the only one.
    V0(Vec<(StateKey, WriteOp)>),
}

impl Default for WriteSet {
    fn default() -> Self {
        Self::V0(Vec::new())
    }
}

impl WriteSet {
    /// Creates a write set from changes that ascend by key without duplicates.
    ///
    /// # Panics
    ///
    /// Panics in builds with debug assertions if `changes` is out of order or has a duplicate key.
    pub fn from_ascending(changes: Vec<(StateKey, WriteOp)>) -> Self {
        debug_assert!(
            changes.is_sorted_by(|a, b| a.0 < b.0),
            "a write set ascends by key"
        );
        Self::V0(changes)
    }

    /// Returns the changes, ascending by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(StateKey, WriteOp)> {
        let Self::V0(changes) = self;
        changes.iter()
    }

    /// Returns the number of changed keys.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Returns whether the set has no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
