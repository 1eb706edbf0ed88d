//! The limit on responses that are compressed at a time.

use ledger_limits::{ClientKey, FairLimit, FairPermit};
use std::sync::Arc;

/// Maximum number of responses that are compressed at a time. Each holds up to about 4 MB beside
/// its input and output. A client may hold at most as many permits as are free.
const AT_ONCE_MAX: usize = 8;

/// The limit on responses that are compressed at a time. Clones share the limit.
#[derive(Clone, Debug)]
pub(crate) struct Compressors(Arc<FairLimit>);

/// The permit of one response that is compressed.
pub(crate) type CompressorPermit = FairPermit<Arc<FairLimit>>;

impl Default for Compressors {
    fn default() -> Self {
        Self(Arc::new(FairLimit::new(AT_ONCE_MAX, 1)))
    }
}

impl Compressors {
    /// Acquires a permit for a response to `client`, or returns `None` if the limit or the client's
    /// part of it is reached.
    pub fn try_acquire(&self, client: ClientKey) -> Option<CompressorPermit> {
        FairPermit::try_acquire(Arc::clone(&self.0), client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_limits::ClientKeys;
    use std::iter;

    #[test]
    fn a_client_takes_at_most_as_many_permits_as_it_leaves() {
        let compressors = Compressors::default();
        let other = ClientKeys::default().key_of([127, 0, 0, 1].into());
        let held: Vec<_> = iter::from_fn(|| compressors.try_acquire(ClientKey::NODE)).collect();
        assert_eq!(held.len(), AT_ONCE_MAX / 2);
        let of_other = compressors.try_acquire(other);
        assert!(of_other.is_some(), "the next client finds a permit");
        drop(held);
        assert!(compressors.try_acquire(ClientKey::NODE).is_some());
    }
}
