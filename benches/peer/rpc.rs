//! Calls of JSON-RPC over HTTP.

use bytes::Bytes;
use http::{Method, header::CONTENT_TYPE};
use ledger_client::http::{Connection, Endpoint, Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};

/// The outcome of a call: a result or an error.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    #[serde(default)]
    pub result: Value,
    pub error: Option<Fault>,
}

/// The error of a call.
#[derive(Debug, Deserialize)]
pub struct Fault {
    pub code: i64,
    pub message: String,
}

/// Returns the JSON object of a call.
pub fn call(method: &str, parameters: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters })
}

/// Returns a request with one call or a list of calls.
pub fn request(peer: &Endpoint, calls: &Value) -> Request {
    let request = peer.request(Method::POST, "/");
    let request = request.header(CONTENT_TYPE, "application/json");
    let body = Bytes::from(calls.to_string());
    request.body(body.into()).expect("constant fields")
}

/// Returns the outcome of a call; none if the response is malformed.
pub fn outcome(answer: &Response) -> Option<Outcome> {
    serde_json::from_slice(answer.body()).ok()
}

/// Parses a number in the hexadecimal form of the interface.
pub fn number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// Makes calls in one request and returns their results in order.
///
/// # Errors
///
/// Returns a message if the peer does not respond, if the response is malformed, or if one of the
/// calls fails.
pub async fn all(
    connection: &mut Connection,
    peer: &Endpoint,
    calls: Vec<Value>,
) -> Result<Vec<Value>, String> {
    let (host, request) = (peer.host(), request(peer, &Value::Array(calls)));
    let answer = connection.exchange(request).await;
    let answer = answer.map_err(|error| format!("{host}: {error}"))?;
    let outcomes: Vec<Outcome> = serde_json::from_slice(answer.body())
        .map_err(|error| format!("{host} did not respond with a list: {error}"))?;
    let results = outcomes.into_iter().map(|outcome| match outcome.error {
        None => Ok(outcome.result),
        Some(fault) => Err(format!("{host}: {} ({})", fault.message, fault.code)),
    });
    results.collect()
}
