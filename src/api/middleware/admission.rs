//! Admission of requests below `/v1`, and the memory of their responses.
//!
//! A request needs a path and query of bounded length, and the permits of
//! [`ThreadLimits::acquire`]. Its response needs memory until its client has read it.

use crate::{
    context::{
        SharedBody,
        body::{ResponseLease, answers_full},
    },
    error::ErrorKind,
    limits::{RequestPermits, ThreadLimits},
};
use actix_web::{
    HttpRequest,
    body::{BodySize, BoxBody, MessageBody},
    dev::ServiceResponse,
    http::StatusCode,
};
use bytes::Bytes;
use ledger_limits::{ClientKey, MemoryBudget, MemoryLease};
use std::{
    net::IpAddr,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

/// The longest path and query, in bytes: the longest type name that is read, percent-encoded
/// throughout, fits.
pub const PATH_AND_QUERY_BYTES_MAX: usize = 16 * 1024;

/// An extension of a response: the memory of the request's body.
pub(crate) struct BodyLease(pub Arc<MemoryLease>);

/// Attaches the permits of a request and the memory of its response to the body of the response.
/// Responds with 503 if the budget of responses has no capacity for it.
///
/// The connection drops each piece of the body after it has taken it. Permits and the lease of the
/// whole body are released when it has taken the last bytes, or when the client disconnects.
pub(crate) fn attach_permits(
    responses: &MemoryBudget,
    client: ClientKey,
    mut response: ServiceResponse,
    permits: RequestPermits,
) -> ServiceResponse {
    match memory(responses, client, &mut response) {
        Ok(memory) => response.map_body(|_, body| {
            BoxBody::new(InFlightBody {
                body,
                _permits: permits,
                _memory: memory,
            })
        }),
        Err(error) => response.into_response(error.response()),
    }
}

/// Acquires the permits of a request of the client at this address.
///
/// # Errors
///
/// Returns [`ErrorKind::UriTooLong`] (414) if path and query are longer than
/// [`PATH_AND_QUERY_BYTES_MAX`], or the error of [`ThreadLimits::acquire`] (503).
pub(crate) fn admit(
    limits: &Rc<ThreadLimits>,
    request: &HttpRequest,
    client: Option<IpAddr>,
) -> Result<RequestPermits, ErrorKind> {
    let path_and_query = request.uri().path_and_query();
    if path_and_query.map_or(0, |text| text.as_str().len()) > PATH_AND_QUERY_BYTES_MAX {
        return Err(ErrorKind::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        });
    }
    limits.acquire(request, client)
}

/// Memory that a response holds until its client has read it.
struct ResponseMemory {
    _of_responses: MemoryLease,
    _of_bodies: Option<Arc<MemoryLease>>,
}

/// Returns the memory of a response: the lease that its [`BodyWriter`](crate::context::BodyWriter)
/// took before it was rendered, or a new one of its size.
///
/// An accepted submission cannot be rejected any more: its response repeats the body of the
/// request, whose lease it keeps instead. Errors have a few hundred bytes and lease nothing, and
/// neither does a body that all clients share.
///
/// # Errors
///
/// Returns [`ErrorKind::Overloaded`] if the budget has no capacity.
fn memory(
    responses: &MemoryBudget,
    client: ClientKey,
    response: &mut ServiceResponse<BoxBody>,
) -> Result<ResponseMemory, ErrorKind> {
    let counts = response.status() == StatusCode::OK;
    let response = response.response_mut();
    let is_shared = response.extensions().contains::<SharedBody>();
    let size_bytes = match response.body().size() {
        BodySize::Sized(bytes) if counts && !is_shared => {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        }
        _ => 0,
    };
    let rendered = response.extensions_mut().remove::<ResponseLease>();
    let mut of_responses =
        rendered.map_or_else(|| responses.lease(client), |ResponseLease(lease)| lease);
    of_responses.shrink_to(size_bytes);
    if !of_responses.try_grow(size_bytes - of_responses.bytes()) {
        return Err(answers_full(responses));
    }
    let of_bodies = response
        .extensions()
        .get::<BodyLease>()
        .map(|lease| Arc::clone(&lease.0));
    Ok(ResponseMemory {
        _of_responses: of_responses,
        _of_bodies: of_bodies.filter(|_| !counts),
    })
}

/// The body of a response, with the permits and memory of its request. It has no
/// [`MessageBody::try_into_bytes`], which would release them before the bytes are sent.
struct InFlightBody {
    body: BoxBody,
    _permits: RequestPermits,
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
