//! Options of a store.

/// Recommended limit on the size of a ledger in memory, in bytes, which pruning keeps. It holds some
/// 500,000 transfers, and a machine for development has the memory for it.
pub const MEMORY_LEDGER_BYTES_MAX: u64 = 1024 * 1024 * 1024;

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
