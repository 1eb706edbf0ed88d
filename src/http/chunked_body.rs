//! Response bodies in chunks.
//!
//! A body holds the permits of its request. In chunks, it is dropped only after all but its last
//! chunk have been written, so a client that does not read holds the permits of its request.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Maximum size of a chunk, in bytes. A connection buffers as much of a response that its client
/// does not read.
pub const CHUNK_BYTES_MAX: usize = 16 * 1024;

/// A body that yields its bytes in chunks of at most [`CHUNK_BYTES_MAX`].
pub struct ChunkedBody<G> {
    body: BoxBody,
    /// Rest of the bytes that `body` yielded last.
    remaining: Bytes,
    _guard: G,
}

impl<G> ChunkedBody<G> {
    /// Divides `body` into chunks. `guard` is dropped with the body.
    pub fn new(body: BoxBody, guard: G) -> Self {
        Self {
            body,
            remaining: Bytes::new(),
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
        if this.remaining.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_next(context)) {
                Some(Ok(bytes)) => this.remaining = bytes,
                end => return Poll::Ready(end),
            }
        }
        let length = this.remaining.len().min(CHUNK_BYTES_MAX);
        Poll::Ready(Some(Ok(this.remaining.split_to(length))))
    }
}
