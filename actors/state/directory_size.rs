//! The size of the data directory, as mempool and pruner publish it. The values order no other
//! memory, so they are relaxed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

/// Published values about the size of the directory. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectorySize(Arc<Values>);

#[derive(Debug, Default)]
struct Values {
    saved_pool_bytes: AtomicU64,
    is_window_limited: AtomicBool,
    must_free_pages: AtomicBool,
}

impl DirectorySize {
    /// Returns the size of the file that a stop would save the mempool in, in bytes.
    pub(crate) fn saved_pool_bytes(&self) -> u64 {
        self.0.saved_pool_bytes.load(Relaxed)
    }

    /// Publishes the size of the file, for the mempool.
    pub(crate) fn set_saved_pool_bytes(&self, bytes: u64) {
        self.0.saved_pool_bytes.store(bytes, Relaxed);
    }

    /// Returns whether `pruner.window_bytes` decides the window, so that the ledger grows no more.
    pub(crate) fn is_window_limited(&self) -> bool {
        self.0.is_window_limited.load(Relaxed)
    }

    /// Publishes whether the limit decides the window, for the pruner.
    pub(crate) fn set_window_limited(&self, is_window_limited: bool) {
        self.0.is_window_limited.store(is_window_limited, Relaxed);
    }

    /// Returns whether the directory exceeds its limit and pruning can change that. A pass of the
    /// scrubber would retain the freed pages.
    pub(crate) fn must_free_pages(&self) -> bool {
        self.0.must_free_pages.load(Relaxed)
    }

    /// Publishes whether no pass of the scrubber may run, for the pruner.
    pub(crate) fn set_must_free_pages(&self, must_free_pages: bool) {
        self.0.must_free_pages.store(must_free_pages, Relaxed);
    }
}
