//! Answers that are large: how many of them are made at once, and on which thread.
//!
//! Making one takes milliseconds, which would hold up the other requests of an HTTP worker, and
//! memory of several times what was read.

use crate::error::{ApiError, Problem};
use actix_web::web;
use bytes::Bytes;
use ledger::ExecutedTransaction;
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

/// Makes an answer: on this thread, or on one for work that takes long where it has a place.
///
/// # Errors
/// What `make` says; 500 when it panics on the other thread.
pub(crate) async fn render<T: Send + 'static>(
    place: Option<LargeAnswerPlace>,
    make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let Some(place) = place else {
        return make();
    };
    let made = web::block(move || {
        let _place = place;
        make()
    });
    made.await
        .unwrap_or_else(|cause| Err(Problem::internal("writing the answer was interrupted", &cause).into()))
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
    use std::thread;

    #[actix_web::test]
    async fn only_what_has_a_place_is_made_on_another_thread_and_gives_it_back() {
        let answers = LargeAnswers::default();
        let mut places: Vec<_> = (0..AT_ONCE_MAX).map(|_| answers.place().unwrap()).collect();
        let full = answers.place();
        assert!(matches!(full, Err(Problem::TooManyLargeAnswers(AT_ONCE_MAX))));

        let here = || Ok(thread::current().id());
        let worker = thread::current().id();
        assert_eq!(render(None, here).await.unwrap(), worker);
        assert_ne!(render(places.pop(), here).await.unwrap(), worker);
        answers.place().unwrap();
    }
}
