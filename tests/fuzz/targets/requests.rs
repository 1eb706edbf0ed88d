//! Requests to the API over its route table, on a node whose ledger has only a genesis.
//!
//! An input is the text of a request: method and target on the first line, headers, an empty line,
//! the body.
//!
//! Builds with debug assertions panic if a response is not declared in the OpenAPI document.

mod service;

use super::first_line;
use actix_web::{
    http::{
        Method, Uri,
        header::{HeaderName, HeaderValue},
    },
    test::TestRequest,
};
use service::{Response, call_api};

pub fn run(input: &[u8]) {
    if let Some(request) = request(input) {
        check(&call_api(request));
    }
}

/// Parses an input. Returns `None` if it is not a request.
fn request(input: &[u8]) -> Option<TestRequest> {
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

/// Asserts that a request causes no internal error, and that a JSON response is valid JSON.
fn check(response: &Response) {
    let status = response.status;
    assert!(
        !status.is_server_error() || [501, 503, 507].contains(&status.as_u16()),
        "responded with {status}: {}",
        String::from_utf8_lossy(&response.body)
    );
    if response.is_json && !response.body.is_empty() {
        let parsed = serde_json::from_slice::<serde_json::Value>(&response.body);
        assert!(
            parsed.is_ok(),
            "no JSON: {}",
            String::from_utf8_lossy(&response.body)
        );
    }
}
