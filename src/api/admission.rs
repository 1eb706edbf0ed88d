//! What every request below `/v1` passes first: a bound on its path and query, and a place among
//! the requests in flight, of its connection, of its address and of all. And last: its answer takes of the memory of answers
//! until its client has read it.

use crate::{
    addresses::AddressPlace, answer::SharedBody, budget::Share, connection::ConnectionPlace,
    error::Problem, places::Place, state::ApiState,
};
use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::StatusCode,
};
use bytes::Bytes;
use std::{
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub(crate) const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// Where one asks whether the node is well, which has places of its own.
const HEALTH_PATH: &str = "/v1/-/healthy";

/// What the body of a request takes of the memory of bodies, if it takes any; an extension of its response.
pub(crate) struct HeldByBody(pub Arc<Share>);

/// Lets the answer of a request go, or answers 503.
///
/// Places and memory go with the body of the answer, which is whole in memory until the client has taken
/// it: they are given back when the last of it went to the connection, or the client has gone.
pub(crate) fn hold(state: &ApiState, response: ServiceResponse, places: Places) -> ServiceResponse {
    match memory(state, &response) {
        Ok(memory) => response.map_body(|_, body| {
            BoxBody::new(InFlightBody {
                body,
                _places: places,
                _memory: memory,
            })
        }),
        Err(refused) => response.into_response(refused.response()),
    }
}

/// Where a request counts as in flight.
pub(crate) struct Places {
    _of_connection: Option<ConnectionPlace>,
    _of_address: Option<AddressPlace>,
    _of_all: Place,
}

/// Lets a request in.
///
/// # Errors
/// 414, or 503 where a place is missing.
pub(crate) fn places(state: &Rc<ApiState>, request: &ServiceRequest) -> Result<Places, Problem> {
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |text| text.as_str().len());
    if length > PATH_AND_QUERY_BYTES_MAX {
        return Err(Problem::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        });
    }
    let config = state.config();
    let full = || Problem::TooManyInFlight(config.max_in_flight);
    if request.path() == HEALTH_PATH {
        return Ok(Places {
            _of_connection: None,
            _of_address: None,
            _of_all: Place::take(state, ApiState::health_checks).ok_or_else(full)?,
        });
    }
    let limit = config.max_streams_per_connection;
    let of_connection = ConnectionPlace::take(request.request(), limit)
        .ok_or(Problem::TooManyOnConnection(limit))?;
    let limit = config.max_in_flight_per_address;
    let of_address = match request.peer_addr() {
        Some(peer) => Some(
            state
                .admit_of(peer.ip())
                .ok_or(Problem::TooManyOfAddress(limit))?,
        ),
        None => None,
    };
    Ok(Places {
        _of_connection: Some(of_connection),
        _of_address: of_address,
        _of_all: Place::take(state, ApiState::in_flight).ok_or_else(full)?,
    })
}

/// What an answer counts as while it waits for its client.
struct Memory {
    _of_answers: Share,
    _of_bodies: Option<Arc<Share>>,
}

/// What was taken, once it is said, cannot be taken back: the answer to a submission shows what came in its
/// body, and counts as that. Errors have a few hundred bytes, and what all clients get from the same memory counts
/// for none of them.
fn memory(state: &ApiState, response: &ServiceResponse<BoxBody>) -> Result<Memory, Problem> {
    let of_answers = state.answers().share();
    let is_shared = response.response().extensions().contains::<SharedBody>();
    let counts = response.status() == StatusCode::OK;
    let size_bytes = match response.response().body().size() {
        BodySize::Sized(bytes) if counts && !is_shared => {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        }
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
        Pin::new(&mut self.body).poll_next(context)
    }
}
