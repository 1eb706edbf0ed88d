//! Read access to the state before a block, for execution.

use super::StateKey;
use bytes::Bytes;

/// A failure of the store during a read of the state.
///
/// Execution stops and nothing is committed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("reading the state failed: {0}")]
pub struct StateError(pub String);

/// A readable version of the state.
pub trait StateView {
    /// Returns the value of `key`, or `None` if the state has no such key.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the underlying store fails.
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError>;
}

impl<F> StateView for F
where
    F: Fn(&StateKey) -> Result<Option<Bytes>, StateError>,
{
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        self(key)
    }
}
