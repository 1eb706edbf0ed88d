//! The `Vary` header: the request headers that a response depends on (RFC 9110, section 12.5.5).
//!
//! A cache reuses a response only for requests with the same values of these headers.

use actix_web::http::header::{HeaderMap, HeaderValue, VARY};

// Header values are validated at compile time, not for each response.
static ACCEPT: HeaderValue = HeaderValue::from_static("accept");
static ORIGIN: HeaderValue = HeaderValue::from_static("origin");
static ACCEPT_ORIGIN: HeaderValue = HeaderValue::from_static("accept, origin");
static ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Returns the `Vary` names of every response to a request, or `None` if there are none.
///
/// `depends_on_accept` states whether the operation selects JSON or BCS by `Accept`. A response has
/// headers for web pages only if its request has an `Origin`. With `has_origin`, the CORS
/// middleware adds that name itself.
pub(crate) fn names(depends_on_accept: bool, has_origin: bool) -> Option<HeaderValue> {
    let names = match (depends_on_accept, has_origin) {
        (true, false) => &ACCEPT_ORIGIN,
        (true, true) => &ACCEPT,
        (false, false) => &ORIGIN,
        (false, true) => return None,
    };
    Some(names.clone())
}

/// Adds `Accept-Encoding` to the `Vary` header of a response that may be compressed.
pub(crate) fn add_accept_encoding(headers: &mut HeaderMap) {
    add(headers, ACCEPT_ENCODING.clone());
}

/// Adds names to the `Vary` header, and joins all its lines into one.
pub(crate) fn add(headers: &mut HeaderMap, names: HeaderValue) {
    // Inserts without a lookup, because nearly no response has the header yet.
    let present: Vec<_> = headers.insert(VARY, names).collect();
    if present.is_empty() {
        return;
    }
    let added = headers.get(VARY).into_iter();
    let all: Vec<_> = present
        .iter()
        .chain(added)
        .map(HeaderValue::as_bytes)
        .collect();
    // An error cannot occur: each part was the value of a header.
    if let Ok(value) = HeaderValue::from_bytes(&all.join(&b", "[..])) {
        headers.insert(VARY, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_the_names_of_all_lines() {
        let mut headers = HeaderMap::new();
        add(&mut headers, names(true, false).unwrap());
        assert_eq!(headers.get(VARY).unwrap(), "accept, origin");
        headers.append(VARY, HeaderValue::from_static("cookie"));
        add_accept_encoding(&mut headers);
        let lines: Vec<_> = headers.get_all(VARY).collect();
        assert_eq!(lines, ["accept, origin, cookie, accept-encoding"]);
    }
}
