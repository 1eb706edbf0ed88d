//! Large responses: how many are rendered at a time, and on which threads.
//!
//! Rendering one takes milliseconds, which would delay the other requests of an HTTP worker, and
//! several times the memory of what was read.

use crate::error::{ApiError, Problem};
use bytes::Bytes;
use ledger::ExecutedTransaction;
use ledger_actors::NodeHandle;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many large answers are read and written at once; more are refused with 503. Each may hold
/// [`VALUE_BYTES_MAX`] and about four times as much of JSON, so all of them hold some 320 MiB.
const AT_ONCE_MAX: usize = 8;

/// About how many bytes of JSON stand for one that was read.
const JSON_FACTOR: usize = 4;

/// An answer of several transactions ends with the one that brings what was read to this many bytes.
/// As JSON it is about four times as much, which is what one request may cost in memory.
pub(crate) const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What holds more than this many bytes makes a large answer: as JSON it takes some milliseconds to
/// write. Transactions of clients and pages of events stay far below, the transaction of a genesis
/// need not.
const LARGE_BYTES_MIN: usize = 256 * 1024;

/// The places of large answers that are being made.
#[derive(Clone, Debug)]
pub(crate) struct LargeAnswers(Arc<Semaphore>);

impl Default for LargeAnswers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE_MAX)))
    }
}

impl LargeAnswers {
    /// Takes a place.
    ///
    /// # Errors
    /// 503 when all are taken.
    pub fn place(&self) -> Result<LargeAnswerPlace, Problem> {
        let place = Arc::clone(&self.0).try_acquire_owned();
        place
            .map(|permit| LargeAnswerPlace { _permit: permit })
            .map_err(|_| Problem::TooManyLargeAnswers(AT_ONCE_MAX))
    }

    /// A place for showing what holds so many bytes, or `None` where that is not large.
    ///
    /// # Errors
    /// 503 when all are taken.
    pub fn place_for(&self, size_bytes: usize) -> Result<Option<LargeAnswerPlace>, Problem> {
        if size_bytes <= LARGE_BYTES_MIN {
            return Ok(None);
        }
        self.place().map(Some)
    }
}

/// Renders a response: on this thread, or on a renderer thread of the node if it has a place.
///
/// # Errors
///
/// Returns the error of `make`, [`Problem::Overloaded`] if too much work waits for the renderer threads,
/// and [`Problem::Stopping`] if the node is stopping.
pub(crate) async fn render<T: Send + 'static>(
    node: &NodeHandle,
    place: Option<LargeAnswerPlace>,
    make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let Some(place) = place else {
        return make();
    };
    let rendered = node.render(move || {
        let _place = place;
        make()
    });
    rendered.await?
}

/// The place of one large answer, given back when dropped. It goes wherever the work goes, which a
/// client that leaves does not end.
#[derive(Debug)]
pub(crate) struct LargeAnswerPlace {
    _permit: OwnedSemaphorePermit,
}

/// About how many bytes the JSON takes of what holds so many.
pub(crate) fn json_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_mul(JSON_FACTOR)
}

/// About how many bytes a transaction holds: its arguments, what it put out, and a constant for the rest.
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
    fn refuses_more_places_than_there_are_until_one_is_dropped() {
        let answers = LargeAnswers::default();
        let mut places: Vec<_> = (0..AT_ONCE_MAX).map(|_| answers.place().unwrap()).collect();
        let full = answers.place();
        assert!(matches!(
            full,
            Err(Problem::TooManyLargeAnswers(AT_ONCE_MAX))
        ));
        places.pop();
        answers.place().unwrap();
    }
}
