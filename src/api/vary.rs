//! The `Vary` header: the request headers that a response depends on (RFC 9110, section 12.5.5).
//! Caches must not give the response to a request that differs in one of them.

use actix_web::http::header::{HeaderMap, HeaderValue, VARY};

/// Returns the names that every response to a request carries; `None` if there are none.
///
/// `depends_on_accept` states whether the operation selects JSON or BCS by `Accept`. A response has
/// headers for web pages only if its request has an `Origin`; with `has_origin`, actix-cors has
/// added that name.
pub(crate) fn names(depends_on_accept: bool, has_origin: bool) -> Option<&'static str> {
    match (depends_on_accept, has_origin) {
        (true, false) => Some("accept, origin"),
        (true, true) => Some("accept"),
        (false, false) => Some("origin"),
        (false, true) => None,
    }
}

/// Adds names to the header. It stays one line, because actix-cors reads the first one only.
pub(crate) fn add(headers: &mut HeaderMap, names: &'static str) {
    let mut present = headers.get_all(VARY).filter_map(|value| value.to_str().ok());
    let value = match present.next() {
        None => HeaderValue::from_static(names),
        Some(first) => {
            let all: Vec<_> = [first].into_iter().chain(present).chain([names]).collect();
            match HeaderValue::from_str(&all.join(", ")) {
                Ok(value) => value,
                // Never: each part was the value of a header.
                Err(_) => return,
            }
        }
    };
    headers.insert(VARY, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_names_to_those_of_all_lines() {
        let mut headers = HeaderMap::new();
        add(&mut headers, "accept, origin");
        assert_eq!(headers.get(VARY).unwrap(), "accept, origin");
        headers.append(VARY, HeaderValue::from_static("cookie"));
        add(&mut headers, "accept-encoding");
        let lines: Vec<_> = headers.get_all(VARY).collect();
        assert_eq!(lines, ["accept, origin, cookie, accept-encoding"]);
    }
}
