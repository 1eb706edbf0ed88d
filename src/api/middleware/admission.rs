//! Admission of requests below `/v1`, and the limits on what is in flight.
//!
//! A request needs a path and query of bounded length, and one permit each of its connection, of
//! its address and of all requests in flight. Its response needs memory until its client has read
//! it.

use crate::{
    context::{ApiState, SharedBody},
    error::ErrorKind,
    limits::connection::{self, ConnectionPermit},
};
use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::StatusCode,
};
use bytes::Bytes;
use ledger_limits::{KeyedPermit, Limit, MemoryLease, Permit, network_of};
use std::{
    net::IpAddr,
    ops::Deref,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub(crate) const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// Path of the health check, which has a limit of its own.
const HEALTH_PATH: &str = "/v1/-/healthy";

/// The memory of a request body, if it holds any; an extension of its response.
pub(crate) struct BodyLease(pub Arc<MemoryLease>);

/// Attaches the permits of a request and the memory of its response to the body of the response.
/// Responds with 503 if the budget of responses has no capacity for it.
///
/// The whole body stays in memory until the client has read it. Permits and memory are released
/// when the connection took the last bytes, or when the client disconnects.
pub(crate) fn attach_permits(
    state: &ApiState,
    response: ServiceResponse,
    permits: Permits,
) -> ServiceResponse {
    match memory(state, &response) {
        Ok(memory) => response.map_body(|_, body| {
            BoxBody::new(InFlightBody {
                body,
                _permits: permits,
                _memory: memory,
            })
        }),
        Err(refused) => response.into_response(refused.response()),
    }
}

/// The permits of one request in flight.
pub(crate) struct Permits {
    _of_connection: Option<ConnectionPermit>,
    _of_address: Option<KeyedPermit<IpAddr>>,
    _of_all: Permit<StateLimit>,
}

/// A limit of the state. It holds the state of its thread, so that threads do not contend for the
/// reference count of the limit.
struct StateLimit {
    state: Rc<ApiState>,
    limit: fn(&ApiState) -> &Limit,
}

impl Deref for StateLimit {
    type Target = Limit;

    fn deref(&self) -> &Limit {
        (self.limit)(&self.state)
    }
}

/// Acquires the permits of a request: of its connection, of its address and of all requests. A
/// health check has a limit of its own.
///
/// # Errors
///
/// Returns [`ErrorKind::UriTooLong`] (414) if path and query are longer than
/// [`PATH_AND_QUERY_BYTES_MAX`]. Returns [`ErrorKind::TooManyOnConnection`],
/// [`ErrorKind::TooManyOfAddress`] or [`ErrorKind::TooManyInFlight`] (503) if a limit is reached.
pub(crate) fn acquire_permits(
    state: &Rc<ApiState>,
    request: &ServiceRequest,
) -> Result<Permits, ErrorKind> {
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |text| text.as_str().len());
    if length > PATH_AND_QUERY_BYTES_MAX {
        return Err(ErrorKind::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        });
    }
    let config = state.config();
    let of_all = |limit| {
        let state = Rc::clone(state);
        Permit::try_acquire(StateLimit { state, limit })
            .ok_or(ErrorKind::TooManyInFlight(config.max_in_flight))
    };
    if request.path() == HEALTH_PATH {
        return Ok(Permits {
            _of_connection: None,
            _of_address: None,
            _of_all: of_all(ApiState::health_checks)?,
        });
    }
    let of_connection =
        connection::acquire_permit(request.request(), config.max_streams_per_connection)?;
    let of_address = request.peer_addr().map(|peer| {
        let permit = state
            .in_flight_of_addresses()
            .try_acquire(network_of(peer.ip()));
        permit.ok_or(ErrorKind::TooManyOfAddress(
            config.max_in_flight_per_address,
        ))
    });
    Ok(Permits {
        _of_connection: of_connection,
        _of_address: of_address.transpose()?,
        _of_all: of_all(ApiState::in_flight)?,
    })
}

/// Memory that a response holds until its client has read it.
struct ResponseMemory {
    _of_answers: MemoryLease,
    _of_bodies: Option<Arc<MemoryLease>>,
}

/// Leases the memory of a response.
///
/// An accepted submission cannot be rejected any more: its response repeats the body of the
/// request, whose lease it keeps instead. Errors have a few hundred bytes and lease nothing, and
/// neither does a body that all clients share.
///
/// # Errors
///
/// Returns [`ErrorKind::AnswersFull`] if the budget has no capacity.
fn memory(
    state: &ApiState,
    response: &ServiceResponse<BoxBody>,
) -> Result<ResponseMemory, ErrorKind> {
    let of_answers = state.answers().lease();
    let is_shared = response.response().extensions().contains::<SharedBody>();
    let counts = response.status() == StatusCode::OK;
    let size_bytes = match response.response().body().size() {
        BodySize::Sized(bytes) if counts && !is_shared => {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        }
        _ => 0,
    };
    if !of_answers.try_grow(size_bytes) {
        let limit_bytes = state.answers().limit_bytes();
        return Err(ErrorKind::AnswersFull { limit_bytes });
    }
    let of_bodies = response
        .response()
        .extensions()
        .get::<BodyLease>()
        .map(|lease| Arc::clone(&lease.0));
    Ok(ResponseMemory {
        _of_answers: of_answers,
        _of_bodies: of_bodies.filter(|_| !counts),
    })
}

/// The body of a response, with the permits and memory of its request. It has no
/// [`MessageBody::try_into_bytes`], which would release them before the bytes are sent.
struct InFlightBody {
    body: BoxBody,
    _permits: Permits,
    _memory: ResponseMemory,
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
