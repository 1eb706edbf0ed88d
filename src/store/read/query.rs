//! A question as a value, so that it can be sent to a thread that reads.

use crate::{Snapshot, StoreError};

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
