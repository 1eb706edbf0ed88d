//! A stream as a request of actix-web, which uses an older version of the crate `http` than h2.

use crate::head_error::HeadError;
use actix_http::{Payload, Request, error::PayloadError};
use actix_web::http::{
    Method, Uri, Version,
    header::{HeaderName, HeaderValue},
};
use bytes::Bytes;
use futures::stream::Stream;
use h2::RecvStream;
use http::{HeaderMap, header::EXPECT, request::Parts};
use std::{
    cell::Cell,
    io, mem,
    net::SocketAddr,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

/// Maximum size of the headers of a request without its path, in bytes as RFC 9113 counts them
/// (section 6.5.2). Larger ones are rejected with 431.
///
/// A byte on the wire may refer to an earlier header (HPACK), which is then copied.
pub const HEADERS_BYTES_MAX: usize = 8 * 1024;

/// Returns whether the headers exceed [`HEADERS_BYTES_MAX`].
fn are_headers_too_large(headers: &HeaderMap) -> bool {
    /// Bytes that a header counts beside its name and value (RFC 9113, section 6.5.2).
    const OVERHEAD: usize = 32;
    let sizes = headers
        .iter()
        .map(|(name, value)| OVERHEAD + name.as_str().len() + value.len());
    sizes.sum::<usize>() > HEADERS_BYTES_MAX
}

/// Returns the request of a stream. Its body sets `is_continue_due` when the client waits for
/// `100 Continue` and a handler for the body.
///
/// # Errors
///
/// Returns the error of headers that exceed [`HEADERS_BYTES_MAX`], or of a head that actix-web
/// cannot represent.
pub fn actix_request(
    head: &Parts,
    body: RecvStream,
    peer: SocketAddr,
    is_continue_due: &Rc<Cell<bool>>,
) -> Result<Request, HeadError> {
    if are_headers_too_large(&head.headers) {
        return Err(HeadError::TooLarge {
            limit: "its headers have at most 8192 bytes",
        });
    }
    let payload = if body.is_end_stream() {
        Payload::None
    } else {
        let payload: Pin<Box<dyn Stream<Item = _>>> = Box::pin(Body {
            stream: body,
            is_expected: expects_continue(&head.headers),
            is_continue_due: Rc::clone(is_continue_due),
        });
        Payload::Stream { payload }
    };
    converted(head, payload, peer).ok_or_else(|| {
        HeadError::Malformed(
            "the path, the query or a header has a character that must be percent-encoded"
                .to_owned(),
        )
    })
}

/// Returns whether the client waits for `100 Continue`.
fn expects_continue(headers: &HeaderMap) -> bool {
    let mut expectations = headers.get_all(EXPECT).iter();
    expectations.any(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

fn converted(head: &Parts, payload: Payload, peer: SocketAddr) -> Option<Request> {
    let mut request = Request::with_payload(payload);
    let converted = request.head_mut();
    converted.method = Method::from_bytes(head.method.as_str().as_bytes()).ok()?;
    converted.uri = Uri::from_maybe_shared(Bytes::from(head.uri.to_string())).ok()?;
    converted.version = Version::HTTP_2;
    converted.peer_addr = Some(peer);
    for (name, value) in &head.headers {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
        converted.headers.append(name, value);
    }
    Some(request)
}

/// The body of a request. Each read enlarges the client's window by the bytes read.
struct Body {
    stream: RecvStream,
    /// Whether the client waits for `100 Continue`.
    is_expected: bool,
    is_continue_due: Rc<Cell<bool>>,
}

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let stream = &mut this.stream;
        let polled = stream.poll_data(context);
        if mem::take(&mut this.is_expected) {
            this.is_continue_due.set(polled.is_pending());
        }
        let Some(read) = ready!(polled) else {
            return Poll::Ready(None);
        };
        let read = read.and_then(|bytes| {
            stream.flow_control().release_capacity(bytes.len())?;
            Ok(bytes)
        });
        Poll::Ready(Some(read.map_err(payload_error)))
    }
}

fn payload_error(error: h2::Error) -> PayloadError {
    PayloadError::Io(io::Error::other(error))
}
