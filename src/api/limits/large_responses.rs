//! The limits on the rendering of responses: where they are rendered, how much of a page at a time,
//! and how many large ones.
//!
//! Rendering takes time, which would delay the other requests of an HTTP worker, and memory for the
//! values and for their text. Measured with `cargo bench -p ledger-node --bench answers` and over
//! HTTP on one core (2026-11-27): 1 MiB of content takes 3 ms in hexadecimal and up to 20 ms as
//! events and changes of small values.

use crate::error::{ApiError, ErrorKind};
use bytes::Bytes;
use ledger_actors::NodeHandle;
use ledger_limits::{Limit, Permit, SMALL_LEASE_BYTES_MAX};
use ledger_types::ExecutedTransaction;
use std::sync::Arc;

/// Maximum number of large responses that are read and rendered at a time. Each holds the values of
/// one part, which its lease includes.
const AT_ONCE_MAX: usize = 8;

/// Maximum size of the content that an HTTP worker renders itself, in bytes: about 1 ms for events
/// and changes of small values, and 0.3 ms for bytes. A page of 25 transfers is below.
pub(crate) const INLINE_CONTENT_BYTES_MAX: usize = 64 * 1024;

/// Size of the content above which a response is large, in bytes. It is read and rendered in parts
/// of this size, each of which takes a few milliseconds, so other work is served in between.
pub(crate) const PART_BYTES_MAX: usize = 256 * 1024;

/// Size of the content at which a page ends that may be shorter than its limit, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The part of the memory of all responses that one page may take, as a divisor: at least three
/// pages are sent at a time.
const BODIES_MIN: usize = 4;

/// Maximum memory of decoded values, per byte of their stored form. Their views exist only while a
/// thread renders them.
const VALUES_FACTOR: usize = 4;

/// Returns the maximum size of a page if all responses have `limit_bytes`, in bytes.
pub(crate) fn body_bytes_max(limit_bytes: usize) -> usize {
    (limit_bytes / BODIES_MIN).max(SMALL_LEASE_BYTES_MAX)
}

/// Returns the maximum memory of values with a stored form of `size_bytes`, in bytes.
pub(crate) fn values_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_mul(VALUES_FACTOR)
}

/// The limit on large responses that are rendered at a time. Clones share the limit.
#[derive(Clone, Debug)]
pub(crate) struct LargeResponses(Arc<Limit>);

impl Default for LargeResponses {
    fn default() -> Self {
        Self(Arc::new(Limit::new(AT_ONCE_MAX)))
    }
}

impl LargeResponses {
    /// Acquires a permit.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::TooManyLargeAnswers`] if the limit is reached.
    pub fn acquire(&self) -> Result<LargeResponsePermit, ErrorKind> {
        let permit = Permit::try_acquire(Arc::clone(&self.0));
        permit
            .map(Arc::new)
            .ok_or(ErrorKind::TooManyLargeAnswers(AT_ONCE_MAX))
    }

    /// Acquires a permit to render content of this many bytes. Returns `None` if the content is not
    /// large.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::TooManyLargeAnswers`] if the limit is reached.
    pub fn acquire_for(&self, size_bytes: usize) -> Result<Option<LargeResponsePermit>, ErrorKind> {
        if size_bytes <= PART_BYTES_MAX {
            return Ok(None);
        }
        self.acquire().map(Some)
    }
}

/// Renders content of `size_bytes`: on this thread, or on a renderer thread of the node if it takes
/// more than about a millisecond.
///
/// # Errors
///
/// Returns the error of `make`, [`ErrorKind::Overloaded`] if too much work waits for the renderer
/// threads, and [`ErrorKind::Stopping`] if the node is stopping.
pub(crate) async fn render<T: Send + 'static>(
    node: &NodeHandle,
    size_bytes: usize,
    permit: Option<LargeResponsePermit>,
    make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if size_bytes <= INLINE_CONTENT_BYTES_MAX {
        return make();
    }
    let rendered = node.render(move || {
        let _permit = permit;
        make()
    });
    rendered.await?
}

/// The permit of one large response. A clone moves with the work, which continues if the client
/// disconnects.
pub(crate) type LargeResponsePermit = Arc<Permit<Arc<Limit>>>;

/// Returns the approximate size of a transaction, in bytes: its arguments, its output, and a
/// constant for the rest.
pub(crate) fn size_bytes(executed: &ExecutedTransaction) -> usize {
    const FIXED: usize = 512;
    let arguments = executed
        .transaction
        .as_user()
        .and_then(|transaction| transaction.raw.entry_function())
        .map_or(0, |call| call.args.iter().map(Bytes::len).sum());
    FIXED + arguments + executed.output_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_large_responses_above_the_limit_until_one_is_done() {
        let responses = LargeResponses::default();
        let mut permits: Vec<_> = (0..AT_ONCE_MAX)
            .map(|_| responses.acquire().unwrap())
            .collect();
        let full = responses.acquire();
        assert!(matches!(
            full,
            Err(ErrorKind::TooManyLargeAnswers(AT_ONCE_MAX))
        ));
        permits.pop();
        responses.acquire().unwrap();
    }
}
