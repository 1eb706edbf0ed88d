//! Values of declared types between BCS and JSON. An input is a line with a type, then a value of
//! this type in BCS or JSON.

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
    let Ok(printed) = registry.value_to_json(tag, bytes) else {
        return;
    };
    // Some values have a JSON form that cannot be decoded, for example a signer. The decoded value
    // may differ in strings that are not UTF-8, which JSON replaces by a message.
    if let Ok(again) = registry.value_from_json(tag, &printed) {
        let printed_again = registry.value_to_json(tag, &again);
        assert_eq!(printed_again.ok(), Some(printed), "{bytes:?} as {tag}");
    }
}

fn from_json(tag: &TypeTag, json: &serde_json::Value) {
    let registry = chain().registry();
    let Ok(bytes) = registry.value_from_json(tag, json) else {
        return;
    };
    let printed = registry.value_to_json(tag, &bytes);
    let printed =
        printed.unwrap_or_else(|error| panic!("{error}: {json} as {tag} cannot be encoded"));
    let again = registry.value_from_json(tag, &printed);
    assert_eq!(
        again.ok(),
        Some(bytes),
        "{json} as {tag} is encoded as {printed}"
    );
}
