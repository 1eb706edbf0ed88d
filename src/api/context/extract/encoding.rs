//! The content coding of request bodies: no listener decodes one, because a few bytes can expand to
//! very many.

use crate::error::{ErrorKind, IDENTITY, extraction_error};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{CONTENT_ENCODING, HeaderMap},
};
use bytes::Bytes;
use futures::{
    FutureExt as _,
    future::{LocalBoxFuture, ready},
};
use std::convert::Infallible;

/// Checks that a body has no content coding.
///
/// # Errors
///
/// Returns [`ErrorKind::UnsupportedContentEncoding`] if a coding other than `identity` is listed.
pub(super) fn check_encoding(headers: &HeaderMap) -> Result<(), ErrorKind> {
    for value in headers.get_all(CONTENT_ENCODING) {
        let codings = String::from_utf8_lossy(value.as_bytes());
        let is_identity = |coding: &str| {
            let coding = coding.trim();
            // RFC 9110, section 5.6.1: a recipient ignores empty elements of a list.
            coding.is_empty() || coding.eq_ignore_ascii_case(IDENTITY)
        };
        if !codings.split(',').all(is_identity) {
            return Err(ErrorKind::UnsupportedContentEncoding(codings.into_owned()));
        }
    }
    Ok(())
}

/// The body of a request to a listener whose `PayloadConfig` has the limit `BYTES_MAX`.
#[derive(Debug)]
pub struct UnencodedBody<const BYTES_MAX: usize>(pub Result<Bytes, ErrorKind>);

impl<const BYTES_MAX: usize> FromRequest for UnencodedBody<BYTES_MAX> {
    type Error = Infallible;
    type Future = LocalBoxFuture<'static, Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        if let Err(problem) = check_encoding(request.headers()) {
            return ready(Ok(Self(Err(problem)))).boxed_local();
        }
        let body = Bytes::from_request(request, payload);
        let body = async move {
            let body = body.await;
            Ok(Self(
                body.map_err(|error| extraction_error(&error, BYTES_MAX)),
            ))
        };
        body.boxed_local()
    }
}
