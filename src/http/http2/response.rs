//! An answer over a stream: sent as fast as its client takes it, and for as long as there is patience with
//! that. The body of the answer, and with it the places of its request, stays until the last of it went to the
//! socket.

use super::slow_client::{ConnectionTimer, StreamTimer};
use crate::{chunked_body::ChunkedBody, date::date};
use actix_http::{Response, ResponseHead};
use actix_web::{
    body::{BodySize, BoxBody, MessageBody as _},
    http::header as old,
};
use bytes::Bytes;
use h2::{Reason, SendStream, server::SendResponse};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use std::{future::poll_fn, pin::Pin, rc::Rc};
use tokio::sync::oneshot;

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was sent.
    Sent,
    /// Its client took the request back, or has gone.
    Reset,
    /// Its client did not take it in time.
    Unread,
    /// It could not be made to its end.
    Broken,
}

/// Sends `response`, to a request with the method HEAD without its body.
pub async fn send(
    response: Response<BoxBody>,
    mut respond: SendResponse<Bytes>,
    is_head: bool,
    patience: Rc<ConnectionTimer>,
) -> Outcome {
    let (response, body) = response.into_parts();
    let size = body.size();
    let Some(head) = head(response.head(), size) else {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return Outcome::Broken;
    };
    let is_whole = is_head || size.is_eof();
    let Ok(stream) = respond.send_response(head, is_whole) else {
        return Outcome::Reset;
    };
    if is_whole {
        return Outcome::Sent;
    }
    let mut sending = Sending {
        stream,
        patience: StreamTimer::new(patience),
    };
    let outcome = sending.body(ChunkedBody::new(body, ())).await;
    match outcome {
        Outcome::Unread => sending.stream.send_reset(Reason::CANCEL),
        Outcome::Broken => sending.stream.send_reset(Reason::INTERNAL_ERROR),
        Outcome::Sent | Outcome::Reset => {}
    }
    outcome
}

/// Answers with a status alone.
pub fn refuse(status: StatusCode, mut respond: SendResponse<Bytes>) -> Outcome {
    let mut head = http::Response::new(());
    *head.version_mut() = Version::HTTP_2;
    *head.status_mut() = status;
    add_date(head.headers_mut());
    match respond.send_response(head, true) {
        Ok(_) => Outcome::Sent,
        Err(_) => Outcome::Reset,
    }
}

/// The head as the library for HTTP/2 has it; `None` where a header cannot be told in it.
fn head(head: &ResponseHead, size: BodySize) -> Option<http::Response<()>> {
    let mut made = http::Response::new(());
    *made.version_mut() = Version::HTTP_2;
    *made.status_mut() = StatusCode::from_u16(head.status.as_u16()).ok()?;
    let headers = made.headers_mut();
    headers.reserve(head.headers.len() + 2);
    for (name, value) in &head.headers {
        if !is_of_connection(name) {
            let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
        }
    }
    match size {
        BodySize::Sized(length) => {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        BodySize::Stream => {
            headers.remove(header::CONTENT_LENGTH);
        }
        BodySize::None => {}
    }
    add_date(headers);
    Some(made)
}

fn add_date(headers: &mut HeaderMap) {
    if !headers.contains_key(header::DATE) {
        headers.insert(header::DATE, date());
    }
}

/// Whether a header speaks of an HTTP/1.1 connection, which HTTP/2 does not allow (RFC 9113, section 8.2.2).
fn is_of_connection(name: &old::HeaderName) -> bool {
    [old::CONNECTION, old::TRANSFER_ENCODING, old::UPGRADE].contains(name)
        || ["keep-alive", "proxy-connection"].contains(&name.as_str())
}

struct Sending {
    stream: SendStream<Bytes>,
    patience: StreamTimer,
}

impl Sending {
    async fn body(&mut self, mut slices: ChunkedBody<()>) -> Outcome {
        let mut left = match slices.size() {
            BodySize::Sized(length) => Some(length),
            BodySize::None | BodySize::Stream => None,
        };
        while let Some(slice) = poll_fn(|context| Pin::new(&mut slices).poll_next(context)).await {
            let Ok(slice) = slice else {
                return Outcome::Broken;
            };
            left = left.map(|left| left.saturating_sub(slice.len() as u64));
            let is_last = left == Some(0);
            let sent = self.slice(slice, is_last).await;
            if is_last || sent.is_err() {
                return sent.err().unwrap_or(Outcome::Sent);
            }
        }
        match self.stream.send_data(Bytes::new(), true) {
            Ok(()) => Outcome::Sent,
            Err(_) => Outcome::Reset,
        }
    }

    /// Sends a slice; the last one is waited for until it went to the socket.
    async fn slice(&mut self, slice: Bytes, is_last: bool) -> Result<(), Outcome> {
        if !is_last {
            return self.pieces(slice, false).await;
        }
        let (slice, gone) = tracked(slice);
        self.pieces(slice, true).await?;
        // Ends as the bytes are dropped: they were sent, or nobody wants them.
        match self.patience.bear(gone).await {
            Some(_) => Ok(()),
            None => Err(Outcome::Unread),
        }
    }

    async fn pieces(&mut self, mut slice: Bytes, is_last: bool) -> Result<(), Outcome> {
        while !slice.is_empty() {
            self.stream.reserve_capacity(slice.len());
            let capacity = match self.stream.capacity() {
                0 => self.capacity().await?,
                capacity => capacity,
            };
            let piece = slice.split_to(capacity.min(slice.len()));
            self.patience.took(piece.len());
            let is_end = is_last && slice.is_empty();
            let sent = self.stream.send_data(piece, is_end);
            sent.map_err(|_| Outcome::Reset)?;
        }
        Ok(())
    }

    /// Waits for the client to let more be sent: how much.
    async fn capacity(&mut self) -> Result<usize, Outcome> {
        let capacity = poll_fn(|context| self.stream.poll_capacity(context));
        match self.patience.bear(capacity).await {
            Some(Some(Ok(capacity))) => Ok(capacity),
            Some(Some(Err(_)) | None) => Err(Outcome::Reset),
            None => Err(Outcome::Unread),
        }
    }
}

/// The same bytes, and what ends when the last of them is dropped.
fn tracked(bytes: Bytes) -> (Bytes, oneshot::Receiver<()>) {
    struct Tracked {
        bytes: Bytes,
        _gone: oneshot::Sender<()>,
    }
    impl AsRef<[u8]> for Tracked {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    let (sender, receiver) = oneshot::channel();
    let owner = Tracked {
        bytes,
        _gone: sender,
    };
    (Bytes::from_owner(owner), receiver)
}
