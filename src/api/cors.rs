//! What web pages of other origins may ask and read (rest-behaviour section 1): everything. The interface
//! is public and knows no callers, so there is nothing that a page could take in its visitor's name; that
//! credentials are allowed only lets clients ask that always send them, as the SDKs do in browsers.

use actix_cors::Cors;
use actix_web::{
    Error,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::{
        ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS,
        ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
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
        let headers = response.headers_mut();
        headers.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        headers.remove(ACCESS_CONTROL_EXPOSE_HEADERS);
        keep_other_vary(headers);
    }
    Ok(response)
}

/// Takes out of `Vary` what [`cors`] wrote there, and leaves what follows from the rest of the request.
fn keep_other_vary(headers: &mut HeaderMap) {
    let Some(vary) = headers.remove(VARY).next() else {
        return;
    };
    let of_cors = [
        ORIGIN,
        ACCESS_CONTROL_REQUEST_METHOD,
        ACCESS_CONTROL_REQUEST_HEADERS,
    ];
    let is_other = |name: &&str| {
        !of_cors
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known.as_str()))
    };
    let names = vary.to_str().unwrap_or_default().split(',').map(str::trim);
    let kept: Vec<_> = names.filter(is_other).collect();
    if !kept.is_empty()
        && let Ok(value) = HeaderValue::from_str(&kept.join(", "))
    {
        headers.insert(VARY, value);
    }
}
