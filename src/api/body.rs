//! The body of a request, never more of it in memory than the limit allows.

use crate::{error::Problem, format::essence};
use actix_web::{
    HttpMessage, HttpRequest,
    dev::Payload,
    http::{
        Version,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;

/// Reads a body of up to `limit_bytes` whose type is one of `media_types`, and tells which.
///
/// # Errors
/// 411 when the request says neither how long its body is nor that it is chunked; 415 when its type
/// is not among `media_types`; 413 when the body is too large, at once where its length is declared,
/// else as soon as the limit is passed; 400 when the connection ends before the body does.
pub(crate) async fn read(
    request: &HttpRequest,
    payload: &mut Payload,
    limit_bytes: usize,
    media_types: &[&str],
) -> Result<(usize, Bytes), Problem> {
    let declared_bytes = declared_length(request)?;
    if declared_bytes.is_some_and(|declared| declared > limit_bytes as u64) {
        return Err(Problem::BodyTooLarge { limit_bytes });
    }
    let which = media_type(request, media_types)?;
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|cause| Problem::Syntax(format!("reading the body failed: {cause}")))?;
        if chunk.len() > limit_bytes - body.len() {
            return Err(Problem::BodyTooLarge { limit_bytes });
        }
        body.extend_from_slice(&chunk);
    }
    Ok((which, body.freeze()))
}

/// The place of the body's type among `media_types`; parameters of the type are ignored.
fn media_type(request: &HttpRequest, media_types: &[&str]) -> Result<usize, Problem> {
    let value = request
        .headers()
        .get(CONTENT_TYPE)
        .ok_or(Problem::MissingContentType)?;
    let given = essence(&String::from_utf8_lossy(value.as_bytes()));
    let which = media_types.iter().position(|known| *known == given);
    which.ok_or(Problem::UnsupportedContentType(given))
}

/// The declared length; `None` where the body says its end by itself: chunked, or an HTTP/2 stream.
fn declared_length(request: &HttpRequest) -> Result<Option<u64>, Problem> {
    let Some(value) = request.headers().get(CONTENT_LENGTH) else {
        let ends_by_itself = request.version() == Version::HTTP_2 || request.chunked().unwrap_or(false);
        return if ends_by_itself {
            Ok(None)
        } else {
            Err(Problem::LengthRequired)
        };
    };
    let length = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    length
        .map(Some)
        .ok_or_else(|| Problem::Syntax("failed to parse header `Content-Length`".to_owned()))
}
