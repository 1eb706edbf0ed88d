//! Slices of a batch, between which a request yields to the other tasks of its thread.

use tokio::task::yield_now;

/// Maximum number of transactions of a batch that an HTTP worker processes between two polls of its
/// event loop.
///
/// Look-up and validation of a transaction take two to three microseconds, so a slice takes about
/// 100 us, as long as any piece of work of an HTTP worker. Without slices, the other requests of
/// the worker would wait for a batch of 1,000 for several milliseconds.
pub(super) const SLICE_TRANSACTIONS: usize = 32;

/// The progress of work on the transactions of a batch, one by one.
#[derive(Debug, Default)]
pub(super) struct Slices {
    begun: usize,
}

impl Slices {
    /// Begins the next transaction. Yields first if that begins a slice, except the first one.
    pub(super) async fn begin_next(&mut self) {
        if self.begun > 0 && self.begun.is_multiple_of(SLICE_TRANSACTIONS) {
            yield_now().await;
        }
        self.begun += 1;
    }
}
