//! The limit on responses that are compressed at a time.

use ledger_limits::{Limit, Permit};
use std::sync::Arc;

/// Maximum number of responses that are compressed at a time. Each holds up to about 4 MB beside
/// its input and output.
const AT_ONCE_MAX: usize = 8;

/// The limit on responses that are compressed at a time. Clones share the limit.
#[derive(Clone, Debug)]
pub(crate) struct Compressors(Arc<Limit>);

impl Default for Compressors {
    fn default() -> Self {
        Self(Arc::new(Limit::new(AT_ONCE_MAX)))
    }
}

impl Compressors {
    /// Acquires a permit, or returns `None` if the limit is reached.
    pub fn try_acquire(&self) -> Option<Permit<Arc<Limit>>> {
        Permit::try_acquire(Arc::clone(&self.0))
    }
}
