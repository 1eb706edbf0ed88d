//! Queries as values, so that they can be sent to a reader thread.

use crate::{Snapshot, StoreError};

/// A query on one snapshot.
///
/// A closure of the same signature is a query.
pub trait Query: Send + 'static {
    /// The result of the query.
    type Output: Send + 'static;

    /// Runs the query.
    ///
    /// # Errors
    ///
    /// Returns the error of the snapshot, usually [`StoreError::Database`].
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
