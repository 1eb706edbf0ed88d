//! What web pages of other origins may ask and read (rest-behaviour section 1): everything. The interface
//! is public and knows no callers, so there is nothing that a page could take in its visitor's name; that
//! credentials are allowed only lets clients ask that always send them, as the SDKs do in browsers.

use actix_cors::Cors;
use actix_web::{
    Error,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::{
        ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderName, ORIGIN, VARY,
    },
    middleware::Next,
};

/// How long a browser may remember the answer to its question before a request, in seconds; browsers
/// keep it no longer than one or two hours.
const MAX_AGE_SECS: usize = 3600;

/// The answers to browsers: GET and POST from any origin with any header, and `exposed` of the answers'
/// headers to be read.
pub fn cors(exposed: impl IntoIterator<Item = HeaderName>) -> Cors {
    Cors::default()
        .allow_any_origin()
        .allowed_methods(["GET", "POST"])
        .allow_any_header()
        .expose_headers(exposed.into_iter().collect::<Vec<_>>())
        .supports_credentials()
        .max_age(MAX_AGE_SECS)
}

/// To be wrapped around [`cors`]: takes its headers out of answers to programs that are no browsers, which
/// would carry a few hundred bytes for nothing.
///
/// # Errors
/// None of its own.
pub async fn for_pages_only(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let is_of_page = request.headers().contains_key(ORIGIN);
    let mut response = next.call(request).await?;
    if !is_of_page {
        for name in [
            ACCESS_CONTROL_ALLOW_CREDENTIALS,
            ACCESS_CONTROL_EXPOSE_HEADERS,
            VARY,
        ] {
            response.headers_mut().remove(name);
        }
    }
    Ok(response)
}
