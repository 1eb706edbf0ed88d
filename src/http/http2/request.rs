//! A stream as a request of the app. The app's library speaks an older version of the common types than the
//! one for HTTP/2.

use super::HEADERS_BYTES_MAX;
use actix_http::{Payload, Request, error::PayloadError};
use actix_web::http::{
    Method, Uri, Version,
    header::{HeaderName, HeaderValue},
};
use bytes::Bytes;
use futures::stream::Stream;
use h2::RecvStream;
use http::{HeaderMap, request::Parts};
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Whether the headers are longer than they may be.
pub fn is_too_long(headers: &HeaderMap) -> bool {
    /// What a header counts beside its name and value (RFC 9113, section 6.5.2).
    const HEADER: usize = 32;
    let lengths = headers
        .iter()
        .map(|(name, value)| HEADER + name.as_str().len() + value.len());
    lengths.sum::<usize>() > HEADERS_BYTES_MAX
}

/// The request that came with this head; `None` where the older types cannot hold it.
pub fn request(head: &Parts, body: RecvStream, peer: SocketAddr) -> Option<Request> {
    let payload = if body.is_end_stream() {
        Payload::None
    } else {
        let payload: Pin<Box<dyn Stream<Item = _>>> = Box::pin(Body(body));
        Payload::Stream { payload }
    };
    let mut request = Request::with_payload(payload);
    let made = request.head_mut();
    made.method = Method::from_bytes(head.method.as_str().as_bytes()).ok()?;
    made.uri = Uri::from_maybe_shared(Bytes::from(head.uri.to_string())).ok()?;
    made.version = Version::HTTP_2;
    made.peer_addr = Some(peer);
    for (name, value) in &head.headers {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
        made.headers.append(name, value);
    }
    Some(request)
}

/// The body of a request: what is read makes room for more.
struct Body(RecvStream);

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = &mut self.get_mut().0;
        let failed = |error: h2::Error| PayloadError::Io(io::Error::other(error));
        let Some(read) = ready!(stream.poll_data(context)) else {
            return Poll::Ready(None);
        };
        let read = read.and_then(|bytes| {
            stream.flow_control().release_capacity(bytes.len())?;
            Ok(bytes)
        });
        Poll::Ready(Some(read.map_err(failed)))
    }
}
