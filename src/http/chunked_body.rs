//! Answers in pieces: the body of an answer stays, and with it the places of its request, until all but the
//! last piece of it was written.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The largest piece, in bytes: what a connection buffers of an answer that its client does not read.
pub const SLICE_BYTES_MAX: usize = 16 * 1024;

/// A body that hands out its bytes in pieces of at most [`SLICE_BYTES_MAX`].
pub struct ChunkedBody<G> {
    body: BoxBody,
    /// What the body gave and is not handed out yet.
    rest: Bytes,
    _guard: G,
}

impl<G> ChunkedBody<G> {
    /// The pieces of `body`; `guard` is dropped with them.
    pub fn new(body: BoxBody, guard: G) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            _guard: guard,
        }
    }
}

impl<G: Unpin> MessageBody for ChunkedBody<G> {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_next(context)) {
                Some(Ok(bytes)) => this.rest = bytes,
                end => return Poll::Ready(end),
            }
        }
        let length = this.rest.len().min(SLICE_BYTES_MAX);
        Poll::Ready(Some(Ok(this.rest.split_to(length))))
    }
}
