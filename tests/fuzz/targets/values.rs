//! Conversion of values of declared types between BCS and JSON.
//!
//! An input is a type on a line of its own, then a value of the type in BCS or in JSON.

use super::{chain, first_line};
use ledger_types::TypeTag;

/// Checks that both conversions of a value agree.
///
/// # Panics
///
/// Panics if the two conversions disagree.
pub fn run(input: &[u8]) {
    let (line, value) = first_line(input);
    let tag = str::from_utf8(line)
        .ok()
        .and_then(|text| text.parse::<TypeTag>().ok());
    let Some(tag) = tag else {
        return;
    };
    check_bcs(&tag, value);
    if let Ok(json) = serde_json::from_slice(value) {
        check_json(&tag, &json);
    }
}

/// Checks that JSON produced from BCS, if it is accepted as an argument, yields the same JSON
/// again.
fn check_bcs(tag: &TypeTag, bytes: &[u8]) {
    let registry = chain().registry();
    let Ok(json) = registry.value_to_json(tag, bytes) else {
        return;
    };
    // Compares JSON, not BCS: a string of invalid UTF-8 becomes an error text in JSON, which is
    // another string as an argument. A value with a signer has a JSON form, but is rejected as an
    // argument.
    if let Ok(encoded) = registry.value_from_json(tag, &json) {
        let json_of_encoded = registry.value_to_json(tag, &encoded);
        assert_eq!(json_of_encoded.ok(), Some(json), "{bytes:?} as {tag}");
    }
}

/// Checks that an accepted JSON value has a JSON form that yields the same BCS.
fn check_json(tag: &TypeTag, json: &serde_json::Value) {
    let registry = chain().registry();
    let Ok(bytes) = registry.value_from_json(tag, json) else {
        return;
    };
    let output = registry.value_to_json(tag, &bytes);
    let output = output.unwrap_or_else(|error| panic!("{error}: {json} as {tag} has no JSON form"));
    let encoded = registry.value_from_json(tag, &output);
    assert_eq!(
        encoded.ok(),
        Some(bytes),
        "{json} as {tag} has the JSON form {output}"
    );
}
