//! Requests against the whole interface, as the node serves it: its route table on a node whose ledger
//! holds a genesis. An input is the text of a request: method and target on the first line, headers, an
//! empty line, the body.
//!
//! In builds with debug assertions the interface itself panics where an answer is not one that its
//! document declares.

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

pub fn run(input: &[u8]) {
    if let Some(request) = request(input) {
        check(&answer(request));
    }
}

/// The request that an input spells, where it spells one.
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

/// Nothing that a client sends is an error of the node, and what is called JSON is JSON.
fn check(answer: &Answer) {
    let status = answer.status;
    assert!(
        !status.is_server_error() || [501, 503, 507].contains(&status.as_u16()),
        "answered with {status}: {}",
        String::from_utf8_lossy(&answer.body)
    );
    if answer.is_json && !answer.body.is_empty() {
        let parsed = serde_json::from_slice::<serde_json::Value>(&answer.body);
        assert!(
            parsed.is_ok(),
            "no JSON: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}
