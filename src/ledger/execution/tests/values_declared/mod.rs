//! Values of each declared struct of the ABI. Arbitrary values are converted between JSON and BCS
//! and compared with an encoder of the tests. Garbage is rejected or is a valid value.
//!
//! The seed is fixed, so that failures are reproducible. `PROPTEST_CASES` sets the number of cases.

mod declared;
mod generate;
mod rust_forms;

use declared::{DECLARED, FRAMEWORK, instances};
use generate::values;
use ledger_types::TypeTag;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};
use serde_json::Value;

/// Seed of all generators in this file.
const SEED: u64 = 0x7661_6c75;

/// Runs `check` on values of `strategy`, with the usual number of cases divided by `share`.
fn check<S: Strategy>(
    strategy: &S,
    share: u32,
    check: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = ProptestConfig {
        // Divided, because each declared struct gets this number of cases.
        cases: ProptestConfig::default().cases.div_ceil(share),
        rng_seed: RngSeed::Fixed(SEED),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if let Err(error) = TestRunner::new(config).run(strategy, check) {
        panic!("seed {SEED:#x}: {error}");
    }
}

fn check_round_trip(tag: &TypeTag, value: &Value, bytes: &[u8]) -> Result<(), TestCaseError> {
    prop_assert_eq!(
        &FRAMEWORK.value_from_json(tag, value),
        &Ok(bytes.to_vec()),
        "{}",
        tag
    );
    prop_assert_eq!(
        &FRAMEWORK.value_to_json(tag, bytes),
        &Ok(value.clone()),
        "{}",
        tag
    );
    Ok(())
}

#[test]
fn converts_every_declared_struct_to_json_and_back() {
    for tag in instances() {
        check(&values(&tag), 2, |(value, bytes)| {
            check_round_trip(&tag, &value, &bytes)
        });
    }
}

#[test]
fn converts_every_kind_of_type_to_json_and_back() {
    let leaves = [
        "bool", "u8", "u16", "u32", "u64", "u128", "u256", "i8", "i16", "i32", "i64", "i128",
        "i256",
    ];
    let others = [
        "address",
        "vector<u8>",
        "0x1::string::String",
        "0x1::object::Object<u8>",
        "0x1::table::Table<u8, bool>",
    ];
    for leaf in leaves.iter().chain(&others) {
        for shape in [
            "?",
            "vector<?>",
            "0x1::option::Option<?>",
            "vector<vector<0x1::option::Option<?>>>",
            "0x1::simple_map::SimpleMap<?, vector<?>>",
        ] {
            let tag: TypeTag = shape.replace('?', leaf).parse().unwrap();
            check(&values(&tag), 4, |(value, bytes)| {
                check_round_trip(&tag, &value, &bytes)
            });
        }
    }
}

#[test]
fn requires_a_field_in_every_declared_struct() {
    // The limit on the length of vectors relies on at least one byte per item.
    for declared in DECLARED.iter() {
        assert!(
            !declared.fields.is_empty(),
            "{} has no field and needs a dummy_field",
            declared.name
        );
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u128>().prop_map(|n| n.to_string().into()),
        "(0x)?[0-9a-fA-F]{0,70}".prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "vec", "inner", "value", "data", "key", "handle", "addr", "x",
    ]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((names.clone(), inner), 0..4).prop_map(|fields| Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

/// Checks that accepted bytes are a value of the type: they convert to JSON and back.
fn check_value(tag: &TypeTag, bytes: &[u8]) -> Result<(), TestCaseError> {
    let value = FRAMEWORK.value_to_json(tag, bytes);
    prop_assert!(
        value.is_ok(),
        "{} from {}: {:?}",
        tag,
        hex::encode(bytes),
        value
    );
    check_round_trip(tag, &value.unwrap(), bytes)
}

/// Replaces one part of `value` by `garbage`. `choices` selects the part on each level.
fn replace_part(value: &mut Value, choices: &[prop::sample::Index], garbage: Value) {
    let parts: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    match choices.split_first() {
        Some((choice, rest)) if !parts.is_empty() => {
            let chosen = choice.index(parts.len());
            replace_part(parts.into_iter().nth(chosen).unwrap(), rest, garbage);
        }
        _ => *value = garbage,
    }
}

#[test]
fn rejects_garbage_json_that_is_not_a_value() {
    for tag in instances() {
        let part = (
            values(&tag),
            vec(any::<prop::sample::Index>(), 0..5),
            any_json(),
        );
        check(&part, 4, |((mut value, _), choices, garbage)| {
            replace_part(&mut value, &choices, garbage);
            FRAMEWORK
                .value_from_json(&tag, &value)
                .map_or(Ok(()), |bytes| check_value(&tag, &bytes))
        });
    }
}

#[test]
fn rejects_garbage_bytes_that_are_not_a_value() {
    let is_utf8 = |value: &Value| !value.to_string().contains("Unparsable utf-8");
    for tag in instances() {
        let part = (
            values(&tag),
            any::<prop::sample::Index>(),
            vec(any::<u8>(), 0..9),
        );
        check(&part, 4, |((_, mut bytes), position, garbage)| {
            // Replaces one byte, truncates the rest, or appends bytes.
            let position = position.index(bytes.len());
            bytes.splice(
                position..(position + garbage.len() / 4).min(bytes.len()),
                garbage,
            );
            match FRAMEWORK.value_to_json(&tag, &bytes) {
                Ok(value) if is_utf8(&value) => {
                    prop_assert_eq!(
                        FRAMEWORK.value_from_json(&tag, &value),
                        Ok(bytes),
                        "{}",
                        tag
                    );
                }
                // Text that is not UTF-8 has a JSON form, which is not accepted as input.
                Ok(_) | Err(_) => {}
            }
            Ok(())
        });
    }
}
