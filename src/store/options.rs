//! Options of a store.

/// Options for opening a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Memory for database pages, in bytes.
    pub cache_bytes: u64,
}
