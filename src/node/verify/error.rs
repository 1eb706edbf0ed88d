//! Errors that end a verification.

use super::mismatch::Mismatch;
use ledger_store::StoreError;
use ledger_types::GenesisError;
use std::io;

/// An error that ends a verification.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The directory cannot be opened or read, a page or a row of it is damaged, or a node runs on
    /// it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored genesis describes no chain.
    #[error("the stored genesis: {0}")]
    Genesis(#[from] GenesisError),
    /// A stored value is not the computed one.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// The system had no thread for the execution of blocks.
    #[error("starting a thread: {0}")]
    Thread(#[from] io::Error),
}

impl From<Mismatch> for VerifyError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(Box::new(mismatch))
    }
}
