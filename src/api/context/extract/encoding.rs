//! The content coding of request bodies, and the time in which they arrive. No listener decodes a
//! coding, because a few bytes can expand to very many.

use crate::error::{ErrorKind, IDENTITY, extraction_error};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{CONTENT_ENCODING, HeaderMap},
    rt::time::timeout,
};
use bytes::Bytes;
use futures::{
    FutureExt as _, TryFutureExt as _,
    future::{LocalBoxFuture, ready},
};
use std::{convert::Infallible, time::Duration};

/// Maximum time to receive a body, in seconds. The request counts as in flight for as long. The
/// largest body of the default configuration needs 2.2 Mbit/s to arrive within this time.
const BODY_TIMEOUT_SECS: u64 = 30;

/// Receives a body within [`BODY_TIMEOUT_SECS`].
///
/// # Errors
///
/// Returns [`ErrorKind::BodyTimeout`] if it does not arrive in time, and the error of `body`.
pub(super) async fn within_time_limit<T>(
    body: impl Future<Output = Result<T, ErrorKind>>,
) -> Result<T, ErrorKind> {
    let body = timeout(Duration::from_secs(BODY_TIMEOUT_SECS), body).await;
    body.unwrap_or(Err(ErrorKind::BodyTimeout {
        timeout_secs: BODY_TIMEOUT_SECS,
    }))
}

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
        let body = Bytes::from_request(request, payload)
            .map_err(|error| extraction_error(&error, BYTES_MAX));
        let body = async move { Ok(Self(within_time_limit(body).await)) };
        body.boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_http::BoxedPayloadStream;
    use actix_web::test::TestRequest;
    use futures::stream;

    #[tokio::test(start_paused = true)]
    async fn times_out_a_body_that_does_not_end() {
        let endless: BoxedPayloadStream = Box::pin(stream::pending());
        let mut payload = Payload::from(endless);
        let request = TestRequest::post().to_http_request();
        let body = UnencodedBody::<10>::from_request(&request, &mut payload);
        let UnencodedBody(body) = body.await.unwrap();
        let problem = body.unwrap_err();
        assert!(
            matches!(problem, ErrorKind::BodyTimeout { .. }),
            "{problem}"
        );
    }
}
