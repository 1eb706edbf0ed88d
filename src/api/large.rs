//! Answers that are large: how many of them are made at once, and on which thread.
//!
//! Making one takes milliseconds, which would hold up the other requests of an HTTP worker, and
//! memory of several times what was read.

use crate::{
    answer::Answer,
    error::{ApiError, Problem},
};
use actix_web::web;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many large answers are read and written at once; more are refused with 503. Each may hold
/// 8 MiB of values and about four times as much of JSON, so all of them hold some 320 MiB.
const AT_ONCE_MAX: usize = 8;

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
}

/// The place of one large answer, given back when dropped. It goes wherever the work goes, which a
/// client that leaves does not end.
#[derive(Debug)]
pub(crate) struct LargeAnswerPlace {
    _permit: OwnedSemaphorePermit,
}

impl LargeAnswerPlace {
    /// Makes the answer on a thread for work that takes long.
    ///
    /// # Errors
    /// What `make` says; 500 when it panics.
    pub async fn render(
        self,
        make: impl FnOnce() -> Result<Answer, ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        let made = web::block(move || {
            let _place = self;
            make()
        });
        made.await.unwrap_or_else(|cause| {
            Err(Problem::internal("writing the answer was interrupted", &cause).into())
        })
    }
}
