//! Values of declared types between BCS and JSON. An input is a type on a line of its own, then a value
//! of it in BCS or in JSON.

use super::{chain, first_line};
use ledger_types::TypeTag;

pub fn run(input: &[u8]) {
    let (line, value) = first_line(input);
    let tag = str::from_utf8(line)
        .ok()
        .and_then(|text| text.parse::<TypeTag>().ok());
    let Some(tag) = tag else {
        return;
    };
    from_bcs(&tag, value);
    if let Ok(json) = serde_json::from_slice(value) {
        from_json(&tag, &json);
    }
}

fn from_bcs(tag: &TypeTag, bytes: &[u8]) {
    let registry = chain().registry();
    let Ok(shown) = registry.value_to_json(tag, bytes) else {
        return;
    };
    // Not every value that is shown can be given: an argument is no signer. What is given back may differ
    // in strings that are no UTF-8, which are shown as a text that says so.
    if let Ok(again) = registry.value_from_json(tag, &shown) {
        let shown_again = registry.value_to_json(tag, &again);
        assert_eq!(shown_again.ok(), Some(shown), "{bytes:?} as {tag}");
    }
}

fn from_json(tag: &TypeTag, json: &serde_json::Value) {
    let registry = chain().registry();
    let Ok(bytes) = registry.value_from_json(tag, json) else {
        return;
    };
    let shown = registry.value_to_json(tag, &bytes);
    let shown = shown.unwrap_or_else(|error| panic!("{error}: {json} as {tag} cannot be shown"));
    let again = registry.value_from_json(tag, &shown);
    assert_eq!(
        again.ok(),
        Some(bytes),
        "{json} as {tag} is shown as {shown}"
    );
}
