//! How execution reads the state it starts from.

use super::StateKey;
use bytes::Bytes;

/// The state could not be read: the store failed. Execution stops; nothing is committed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("reading the state failed: {0}")]
pub struct StateError(pub String);

/// One version of the state.
pub trait StateView {
    /// The value of `key`, or `None` where there is none.
    ///
    /// # Errors
    /// When the store behind the view fails.
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
