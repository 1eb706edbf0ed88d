//! Calls of JSON-RPC over HTTP.

use ledger_client::http::{Connection, Response};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a call came to.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    #[serde(default)]
    pub result: Value,
    pub error: Option<Fault>,
}

/// Why it came to nothing.
#[derive(Debug, Deserialize)]
pub struct Fault {
    pub code: i64,
    pub message: String,
}

/// A call, without what carries it.
pub fn call(method: &str, parameters: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters })
}

/// The bytes of a request with one call, or with several in a list.
pub fn request(host: &str, calls: &Value) -> Vec<u8> {
    let body = calls.to_string();
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into()
}

/// What the answer to one call says.
pub fn outcome(answer: &Response) -> Option<Outcome> {
    serde_json::from_slice(&answer.body).ok()
}

/// A number as the interface writes it.
pub fn number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// Makes calls whose results are needed.
///
/// # Errors
/// When one of them gives none.
pub async fn all(
    connection: &mut Connection,
    host: &str,
    calls: Vec<Value>,
) -> Result<Vec<Value>, String> {
    let request = request(host, &Value::Array(calls));
    let answer = connection.exchange(&request).await;
    let answer = answer.map_err(|error| format!("{host}: {error}"))?;
    let outcomes: Vec<Outcome> = serde_json::from_slice(&answer.body)
        .map_err(|error| format!("{host} answered no list: {error}"))?;
    let results = outcomes.into_iter().map(|outcome| match outcome.error {
        None => Ok(outcome.result),
        Some(fault) => Err(format!("{host}: {} ({})", fault.message, fault.code)),
    });
    results.collect()
}
