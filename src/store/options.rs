//! Options of a store.

/// Options for opening a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Memory for database pages, in bytes.
    pub cache_bytes: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}
