//! Parts of JSON bodies, and bodies that differ from another one.

use super::TestApi;
use ledger_test_support::http::number;
use ledger_types::SignedTransaction;
use serde_json::Value;

/// Error of a value that cannot be parsed as its declared type.
pub const SYNTAX: (u16, &str) = (400, "web_framework_error");

/// Returns the body that submits a transaction.
pub fn submission(api: &TestApi, signed: &SignedTransaction) -> Value {
    let text = ledger_api::submission_json(&api.chain, signed);
    serde_json::from_str(&text).unwrap()
}

/// Returns the sequence numbers of events.
pub fn event_numbers(events: &Value) -> Vec<u64> {
    let events = elements(events).iter();
    events
        .map(|event| number(&event["sequence_number"]))
        .collect()
}

/// Returns the names of an object's members, in alphabetical order.
pub fn members(object: &Value) -> Vec<&str> {
    let mut names: Vec<_> = object
        .as_object()
        .unwrap_or_else(|| panic!("no object: {object}"))
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// Returns the elements of an array.
pub fn elements(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no array: {value}"))
}

/// Returns the body with another value at `pointer`.
pub fn changed(body: &Value, pointer: &str, value: Value) -> Value {
    let mut body = body.clone();
    *body.pointer_mut(pointer).unwrap() = value;
    body
}

/// Returns the body without the member `name` of the object at `pointer`.
pub fn without(body: &Value, pointer: &str, name: &str) -> Value {
    let mut body = body.clone();
    let object = body.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
    object.remove(name).unwrap();
    body
}
