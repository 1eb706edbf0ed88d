//! Responses to `HEAD`: those of `GET` without their body.

use crate::context::SharedBody;
use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::ServiceResponse,
};
use bytes::Bytes;
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

/// Drops the body of a response. Its size stays, from which the server makes `Content-Length`.
///
/// The response leases no memory, because it holds no body.
pub(crate) fn without_body(mut response: ServiceResponse) -> ServiceResponse {
    response.response_mut().extensions_mut().insert(SharedBody);
    response.map_body(|_, body| BoxBody::new(OmittedBody(body.size())))
}

/// A body with the size of another one and without any bytes.
struct OmittedBody(BodySize);

impl MessageBody for OmittedBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.0
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}
