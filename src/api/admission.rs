//! What every request below `/v1` passes first: a bound on its path and query, and a place among
//! the requests in flight.

use crate::{error::Problem, state::ApiState};
use actix_web::{
    Error,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
};

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub(crate) const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// Lets a request through, or answers 414 or 503.
///
/// The place is given back when the answer is made or the client has gone, whichever comes first;
/// bodies of answers are whole by then, so sending them holds no place.
pub(crate) async fn admit<B: MessageBody>(
    state: ApiState,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |text| text.as_str().len());
    let refused = if length > PATH_AND_QUERY_BYTES_MAX {
        Problem::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        }
    } else if let Some(_place) = state.admit() {
        return next.call(request).await.map(ServiceResponse::map_into_left_body);
    } else {
        Problem::TooManyInFlight(state.config().max_in_flight)
    };
    Ok(request.into_response(refused.response()).map_into_right_body())
}
