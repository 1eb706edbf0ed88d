//! What every request below `/v1` passes first: a bound on its path and query, and a place among
//! the requests in flight, of its connection and of all. And last: its answer takes of the memory of answers
//! until its client has read it.

use crate::{budget::Share, connection::ConnectionPlace, error::Problem, state::ApiState};
use actix_web::{
    Error,
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::StatusCode,
    middleware::Next,
};
use bytes::Bytes;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::sync::OwnedSemaphorePermit;

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub(crate) const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// How much of an answer is given to the connection at once. The connection copies it, so that a large
/// answer would else be there twice.
const PART_BYTES: usize = 64 * 1024;

/// What the body of a request takes of the memory of bodies; an extension of its response.
pub(crate) struct HeldByBody(pub Arc<Share>);

/// Lets a request through, or answers 414 or 503.
///
/// Places and memory go with the body of the answer, which is whole in memory until the client has taken
/// it: they are given back when the last of it went to the connection, or the client has gone.
pub(crate) async fn admit(
    state: ApiState,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    match places(&state, &request) {
        Ok(places) => {
            let response = next.call(request).await?;
            Ok(match memory(&state, &response) {
                Ok(memory) => response.map_body(|_, body| {
                    BoxBody::new(InFlightBody {
                        body,
                        rest: Bytes::new(),
                        _places: places,
                        _memory: memory,
                    })
                }),
                Err(refused) => response.into_response(refused.response()),
            })
        }
        Err(refused) => Ok(request.into_response(refused.response())),
    }
}

/// Where a request counts as in flight.
struct Places {
    _of_connection: ConnectionPlace,
    _of_all: OwnedSemaphorePermit,
}

fn places(state: &ApiState, request: &ServiceRequest) -> Result<Places, Problem> {
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |text| text.as_str().len());
    if length > PATH_AND_QUERY_BYTES_MAX {
        return Err(Problem::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        });
    }
    let limit = state.config().max_streams_per_connection;
    let of_connection =
        ConnectionPlace::take(request.request(), limit).ok_or(Problem::TooManyOnConnection(limit))?;
    let of_all = state
        .admit()
        .ok_or(Problem::TooManyInFlight(state.config().max_in_flight))?;
    Ok(Places {
        _of_connection: of_connection,
        _of_all: of_all,
    })
}

/// What an answer counts as while it waits for its client.
struct Memory {
    _of_answers: Share,
    _of_bodies: Option<Arc<Share>>,
}

/// What was taken, once it is said, cannot be taken back: the answer to a submission shows what came in its
/// body, and counts as that. Errors have a few hundred bytes.
fn memory(state: &ApiState, response: &ServiceResponse<BoxBody>) -> Result<Memory, Problem> {
    let of_answers = state.answers().share();
    let counts = response.status() == StatusCode::OK;
    let size_bytes = match response.response().body().size() {
        BodySize::Sized(bytes) if counts => usize::try_from(bytes).unwrap_or(usize::MAX),
        _ => 0,
    };
    if !of_answers.grow(size_bytes) {
        let limit_bytes = state.answers().limit_bytes();
        return Err(Problem::AnswersFull { limit_bytes });
    }
    let of_bodies = response
        .response()
        .extensions()
        .get::<HeldByBody>()
        .map(|held| Arc::clone(&held.0));
    Ok(Memory {
        _of_answers: of_answers,
        _of_bodies: of_bodies.filter(|_| !counts),
    })
}

/// The body of an answer, and the places and memory of its request. It never offers its bytes without itself
/// ([`MessageBody::try_into_bytes`]), as the places would then be free before they are sent.
struct InFlightBody {
    body: BoxBody,
    /// Of the part of the body that was asked for last, what is not given yet.
    rest: Bytes,
    _places: Places,
    _memory: Memory,
}

impl MessageBody for InFlightBody {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_next(context) {
                Poll::Ready(Some(Ok(part))) => self.rest = part,
                other => return other,
            }
        }
        let length = self.rest.len().min(PART_BYTES);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}
