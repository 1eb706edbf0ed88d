//! Requests to all routes of the API, on a node whose ledger has only the genesis block.
//!
//! An input is the text of a request: method and target on the first line, headers, an empty line,
//! and the body. In builds with debug assertions, the API panics if an operation does not declare
//! the status or the error code of its response.

mod service;

use super::first_line;
use actix_web::{
    http::{
        Method, Uri,
        header::{HeaderName, HeaderValue},
    },
    test::TestRequest,
};
use service::{Answer, answer};

/// Sends a request and checks its response. Ignores inputs that are not a request.
///
/// # Panics
///
/// Panics if the response is an internal error, or if its body is declared as JSON but is not JSON.
pub fn run(input: &[u8]) {
    if let Some(request) = parse_request(input) {
        check_response(&answer(request));
    }
}

/// Parses the text of a request, with lines that end in LF. Returns `None` if it is invalid.
fn parse_request(input: &[u8]) -> Option<TestRequest> {
    let (line, mut rest) = first_line(input);
    let (method, target) = str::from_utf8(line).ok()?.split_once(' ')?;
    let method: Method = method.parse().ok()?;
    target.parse::<Uri>().ok()?;
    let mut request = TestRequest::with_uri(target).method(method);
    loop {
        let (line, after) = first_line(rest);
        rest = after;
        let colon = line.iter().position(|byte| *byte == b':');
        let Some(colon) = colon else {
            break;
        };
        let name: HeaderName = line[..colon].try_into().ok()?;
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
        request = request.append_header((name, value));
    }
    Some(request.set_payload(rest.to_vec()))
}

/// Checks that the status is not an internal error, and that a body declared as JSON is JSON.
fn check_response(answer: &Answer) {
    let status = answer.status;
    assert!(
        !status.is_server_error() || [501, 503, 507].contains(&status.as_u16()),
        "status {status}: {}",
        String::from_utf8_lossy(&answer.body)
    );
    if answer.is_json && !answer.body.is_empty() {
        let parsed = serde_json::from_slice::<serde_json::Value>(&answer.body);
        assert!(
            parsed.is_ok(),
            "the body is not JSON: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}
