//! Responses that actix-http does not write: to heads that are malformed or late.

use crate::date::date;
use actix_http::{Response, body::MessageBody as _};
use actix_web::HttpResponse;
use bytes::{Bytes, BytesMut};

/// Returns the status of an encoded response, as text.
pub fn status(response: &[u8]) -> &[u8] {
    let version_bytes = "HTTP/1.1 ".len();
    response
        .get(version_bytes..version_bytes + 3)
        .unwrap_or(&[])
}

/// Encodes a response after which the connection is closed, without its body if `is_head`.
pub fn encode(response: HttpResponse, is_head: bool) -> Bytes {
    let (response, body) = Response::from(response).into_parts();
    // The body of an error is in memory.
    let body = body.try_into_bytes().unwrap_or_default();
    let status = response.status();
    let mut encoded = BytesMut::new();
    for text in ["HTTP/1.1 ", status.as_str(), " "] {
        encoded.extend_from_slice(text.as_bytes());
    }
    encoded.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    let (length, date) = (body.len().to_string(), date());
    let own: [(&str, &[u8]); 3] = [
        ("connection", b"close"),
        ("content-length", length.as_bytes()),
        ("date", date.as_bytes()),
    ];
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
    for (name, value) in own.into_iter().chain(headers) {
        for part in [b"\r\n", name.as_bytes(), b": ", value] {
            encoded.extend_from_slice(part);
        }
    }
    encoded.extend_from_slice(b"\r\n\r\n");
    if !is_head {
        encoded.extend_from_slice(&body);
    }
    encoded.freeze()
}
