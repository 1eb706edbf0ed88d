//! What web pages of other origins may ask and read (rest-behaviour section 1): everything. The interface
//! is public and knows no callers, so there is nothing that a page could take in its visitor's name; that
//! credentials are allowed only lets clients ask that always send them, as the SDKs do in browsers.

use actix_cors::Cors;
use actix_web::http::header::HeaderName;

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
