//! What every request below `/v1` passes first: a bound on its path and query, and a place among
//! the requests in flight, of its connection and of all.

use crate::{connection::ConnectionPlace, error::Problem, state::ApiState};
use actix_web::{
    Error,
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
};
use bytes::Bytes;
use std::{
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::OwnedSemaphorePermit;

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub(crate) const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// Lets a request through, or answers 414 or 503.
///
/// The places go with the body of the answer, which is whole in memory until the client has taken
/// it: they are given back when the last of it went to the connection, or the client has gone. An HTTP/2
/// connection takes up to some 400 KB of each answer before its client reads them, and its refused requests
/// take no place: the server's library has no limit for either.
pub(crate) async fn admit(
    state: ApiState,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    match places(&state, &request) {
        Ok(places) => {
            let response = next.call(request).await?;
            Ok(response.map_body(|_, body| {
                BoxBody::new(InFlightBody {
                    body,
                    _places: places,
                })
            }))
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

/// The body of an answer and the places of its request. It never offers its bytes without itself
/// ([`MessageBody::try_into_bytes`]), as the places would then be free before they are sent.
struct InFlightBody {
    body: BoxBody,
    _places: Places,
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
