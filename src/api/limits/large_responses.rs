//! The limit on large responses that are rendered at a time, and the threads that render them.
//!
//! A large response takes milliseconds to render, which would delay the other requests of an HTTP
//! worker, and several times the memory of its content.

use crate::error::{ApiError, ErrorKind};
use bytes::Bytes;
use ledger_actors::NodeHandle;
use ledger_limits::{Limit, Permit};
use ledger_types::ExecutedTransaction;
use std::sync::Arc;

/// Maximum number of large responses that are read and rendered at a time. Each may hold
/// [`VALUE_BYTES_MAX`] and about four times as much JSON, so all of them hold about 320 MiB.
const AT_ONCE_MAX: usize = 8;

/// Approximate number of bytes of JSON for each byte of content.
const JSON_FACTOR: usize = 4;

/// Size of the content at which a list of transactions ends, in bytes. The JSON is about four times
/// as large, which is the memory that one request may take.
pub(crate) const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Size of the content above which a response is large, in bytes: its JSON takes some milliseconds
/// to render. Transactions of clients and pages of events are far below, the genesis transaction
/// may not be.
const LARGE_BYTES_MIN: usize = 256 * 1024;

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
        Permit::try_acquire(Arc::clone(&self.0)).ok_or(ErrorKind::TooManyLargeAnswers(AT_ONCE_MAX))
    }

    /// Acquires a permit to render content of this many bytes. Returns `None` if the content is not
    /// large.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::TooManyLargeAnswers`] if the limit is reached.
    pub fn acquire_for(&self, size_bytes: usize) -> Result<Option<LargeResponsePermit>, ErrorKind> {
        if size_bytes <= LARGE_BYTES_MIN {
            return Ok(None);
        }
        self.acquire().map(Some)
    }
}

/// Renders a response: on this thread, or on a renderer thread of the node if it has a permit.
///
/// # Errors
///
/// Returns the error of `make`, [`ErrorKind::Overloaded`] if too much work waits for the renderer
/// threads, and [`ErrorKind::Stopping`] if the node is stopping.
pub(crate) async fn render<T: Send + 'static>(
    node: &NodeHandle,
    permit: Option<LargeResponsePermit>,
    make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let Some(permit) = permit else {
        return make();
    };
    let rendered = node.render(move || {
        let _permit = permit;
        make()
    });
    rendered.await?
}

/// The permit of one large response. It moves with the work, which continues if the client
/// disconnects.
pub(crate) type LargeResponsePermit = Permit<Arc<Limit>>;

/// Returns the approximate size of the JSON of content of `size_bytes`, in bytes.
pub(crate) fn json_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_mul(JSON_FACTOR)
}

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
