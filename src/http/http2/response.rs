//! A response over a stream, sent as fast as its client reads it.
//!
//! The body of a response holds the permits of its request. It is dropped when its last bytes have
//! been written to the socket, or when the slow-client timer has run out.

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
use std::{future::poll_fn, pin::Pin, rc::Rc, task::Poll};
use tokio::sync::oneshot;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole response has been sent.
    Sent,
    /// The client reset the stream or closed the connection.
    Reset,
    /// The client did not read the response in time.
    Unread,
    /// The request or the response could not be converted, or the body ended with an error.
    Failed,
}

/// Sends a response, without its body if `is_head`.
pub async fn send(
    response: Response<BoxBody>,
    mut respond: SendResponse<Bytes>,
    is_head: bool,
    timer: Rc<ConnectionTimer>,
) -> Outcome {
    let (response, body) = response.into_parts();
    let size = body.size();
    let Some(head) = response_head(response.head(), size) else {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return Outcome::Failed;
    };
    let has_no_body = is_head || size.is_eof();
    let Ok(stream) = respond.send_response(head, has_no_body) else {
        return Outcome::Reset;
    };
    if has_no_body {
        return Outcome::Sent;
    }
    let mut sender = BodySender {
        stream,
        timer: StreamTimer::new(timer),
    };
    let outcome = sender.send_body(ChunkedBody::new(body, ())).await;
    match outcome {
        Outcome::Unread => sender.stream.send_reset(Reason::CANCEL),
        Outcome::Failed => sender.stream.send_reset(Reason::INTERNAL_ERROR),
        Outcome::Sent | Outcome::Reset => {}
    }
    outcome
}

/// Returns the interim response 100 (RFC 9110, section 10.1.1).
pub fn interim() -> http::Response<()> {
    let mut head = http::Response::new(());
    *head.version_mut() = Version::HTTP_2;
    *head.status_mut() = StatusCode::CONTINUE;
    head
}

/// Returns the head for h2, or `None` if h2 cannot represent it.
fn response_head(head: &ResponseHead, size: BodySize) -> Option<http::Response<()>> {
    let mut converted = http::Response::new(());
    *converted.version_mut() = Version::HTTP_2;
    *converted.status_mut() = StatusCode::from_u16(head.status.as_u16()).ok()?;
    let headers = converted.headers_mut();
    headers.reserve(head.headers.len() + 2);
    for (name, value) in &head.headers {
        if !is_connection_header(name) {
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
    insert_date(headers);
    Some(converted)
}

fn insert_date(headers: &mut HeaderMap) {
    if !headers.contains_key(header::DATE) {
        headers.insert(header::DATE, date());
    }
}

/// Returns whether a header describes an HTTP/1.1 connection, which HTTP/2 does not allow
/// (RFC 9113, section 8.2.2).
fn is_connection_header(name: &old::HeaderName) -> bool {
    [old::CONNECTION, old::TRANSFER_ENCODING, old::UPGRADE].contains(name)
        || ["keep-alive", "proxy-connection"].contains(&name.as_str())
}

/// The stream of a response whose head has been sent.
struct BodySender {
    stream: SendStream<Bytes>,
    timer: StreamTimer,
}

impl BodySender {
    async fn send_body(&mut self, mut body: ChunkedBody<()>) -> Outcome {
        let mut remaining_bytes = match body.size() {
            BodySize::Sized(length) => Some(length),
            BodySize::None | BodySize::Stream => None,
        };
        loop {
            let chunk = match self.next_chunk(&mut body).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(outcome) => return outcome,
            };
            remaining_bytes = remaining_bytes.map(|left| left.saturating_sub(chunk.len() as u64));
            let is_last = remaining_bytes == Some(0);
            let sent = self.send_chunk(chunk, is_last).await;
            if is_last || sent.is_err() {
                return sent.err().unwrap_or(Outcome::Sent);
            }
        }
        match self.stream.send_data(Bytes::new(), true) {
            Ok(()) => Outcome::Sent,
            Err(_) => Outcome::Reset,
        }
    }

    /// Waits for the next chunk of a body, which may be made while it is sent.
    ///
    /// # Errors
    ///
    /// Returns [`Outcome::Failed`] if the body ends with an error, and [`Outcome::Reset`] if the
    /// stream ends meanwhile. The body is then dropped with its permits.
    async fn next_chunk(&mut self, body: &mut ChunkedBody<()>) -> Result<Option<Bytes>, Outcome> {
        poll_fn(|context| {
            if let Poll::Ready(chunk) = Pin::new(&mut *body).poll_next(context) {
                return Poll::Ready(chunk.transpose().map_err(|_| Outcome::Failed));
            }
            self.stream.poll_reset(context).map(|_| Err(Outcome::Reset))
        })
        .await
    }

    /// Sends a chunk. If it is the last one, waits until it has been written to the socket.
    ///
    /// # Errors
    ///
    /// Returns [`Outcome::Reset`] or [`Outcome::Unread`] if the chunk could not be sent.
    async fn send_chunk(&mut self, chunk: Bytes, is_last: bool) -> Result<(), Outcome> {
        if !is_last {
            return self.send_data(chunk, false).await;
        }
        let (chunk, dropped) = notify_on_drop(chunk);
        self.send_data(chunk, true).await?;
        // The bytes are dropped when they have been written, or when the stream has ended.
        match self.timer.wait_for(dropped).await {
            Some(_) => Ok(()),
            None => Err(Outcome::Unread),
        }
    }

    /// Sends bytes as the client's window allows. The last frame ends the stream if `is_last`.
    ///
    /// # Errors
    ///
    /// Returns [`Outcome::Reset`] or [`Outcome::Unread`] if not all bytes could be sent.
    async fn send_data(&mut self, mut bytes: Bytes, is_last: bool) -> Result<(), Outcome> {
        while !bytes.is_empty() {
            self.stream.reserve_capacity(bytes.len());
            let capacity = match self.stream.capacity() {
                0 => self.wait_for_capacity().await?,
                capacity => capacity,
            };
            let frame = bytes.split_to(capacity.min(bytes.len()));
            self.timer.record_read(frame.len());
            let ends_stream = is_last && bytes.is_empty();
            let sent = self.stream.send_data(frame, ends_stream);
            sent.map_err(|_| Outcome::Reset)?;
        }
        Ok(())
    }

    /// Waits until the client allows more bytes, and returns how many.
    ///
    /// # Errors
    ///
    /// Returns [`Outcome::Unread`] if the timer runs out, or [`Outcome::Reset`] if the stream ends.
    async fn wait_for_capacity(&mut self) -> Result<usize, Outcome> {
        let capacity = poll_fn(|context| self.stream.poll_capacity(context));
        match self.timer.wait_for(capacity).await {
            Some(Some(Ok(capacity))) => Ok(capacity),
            Some(Some(Err(_)) | None) => Err(Outcome::Reset),
            None => Err(Outcome::Unread),
        }
    }
}

/// Returns the same bytes, with a receiver that completes when the last clone of them is dropped.
fn notify_on_drop(bytes: Bytes) -> (Bytes, oneshot::Receiver<()>) {
    /// Bytes that close a channel when they are dropped.
    struct Notifying {
        bytes: Bytes,
        _dropped: oneshot::Sender<()>,
    }
    impl AsRef<[u8]> for Notifying {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    let (sender, receiver) = oneshot::channel();
    let owner = Notifying {
        bytes,
        _dropped: sender,
    };
    (Bytes::from_owner(owner), receiver)
}
