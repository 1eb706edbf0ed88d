//! Responses whose body is made while it is sent.

use super::response::IntoResponse;
use crate::error::LedgerHeaders;
use actix_web::{
    HttpResponse,
    body::{BodyStream, BoxBody},
    http::header::{CONTENT_TYPE, HeaderValue},
};
use bytes::Bytes;
use futures::stream::Stream;
use ledger_actors::NodeError;
use ledger_types::LedgerInfo;

/// A successful response with a body of unknown length.
///
/// It is not compressed, and leases no memory of responses: the connection takes a piece of its
/// body when it has sent the previous one. An error ends the connection of HTTP/1.1, and resets the
/// stream of HTTP/2, so that a client does not take a part for the whole body.
pub(crate) struct StreamResponse {
    ledger_info: LedgerInfo,
    media_type: &'static str,
    body: BoxBody,
}

impl StreamResponse {
    /// Creates a response with status 200. `pieces` yields the body, and `ledger_info` is the state
    /// of the ledger at its begin.
    pub fn new(
        ledger_info: LedgerInfo,
        media_type: &'static str,
        pieces: impl Stream<Item = Result<Bytes, NodeError>> + 'static,
    ) -> Self {
        Self {
            ledger_info,
            media_type,
            body: BoxBody::new(BodyStream::new(Box::pin(pieces))),
        }
    }
}

impl IntoResponse for StreamResponse {
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse {
        let media_type = HeaderValue::from_static(self.media_type);
        let mut response = HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, media_type))
            .body(self.body);
        headers.write(&self.ledger_info, response.headers_mut());
        response
    }
}
