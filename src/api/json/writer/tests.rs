//! What is written is what `serde_json` writes.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn written(value: &impl Serialize) -> String {
    let mut out = b"before ".to_vec();
    write_json(value, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.strip_prefix("before ").unwrap().to_owned()
}

fn check(value: &impl Serialize) {
    assert_eq!(written(value), serde_json::to_string(value).unwrap());
}

/// Every kind of value that serde knows.
#[derive(Serialize)]
enum Kind<'a> {
    Unit,
    Newtype(&'a str),
    Tuple(u8, char),
    #[serde(rename = "a \"struct\"")]
    Struct {
        none: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u8>,
        empty: [u8; 0],
    },
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(u8);

#[derive(Serialize)]
struct Tuple(i8, ());

#[derive(Serialize)]
#[serde(tag = "type")]
enum Tagged {
    Flat(Flat),
}

#[derive(Serialize)]
struct Flat {
    before: f64,
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Serialize)]
struct Inner {
    text: String,
    bytes: Printed,
}

/// Serialises as the text that it prints as, in two pieces.
struct Printed(&'static str, &'static str);

impl Display for Printed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0)?;
        formatter.write_str(self.1)
    }
}

impl Serialize for Printed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Serialises as bytes.
struct Raw(&'static [u8]);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[test]
fn every_kind_of_value_is_written() {
    let left_out = None;
    check(&[
        Kind::Unit,
        Kind::Newtype("plain"),
        Kind::Newtype("\"\\\u{1f}\u{7f}é\n"),
        Kind::Tuple(7, '"'),
        Kind::Struct {
            none: None,
            left_out,
            empty: [],
        },
    ]);
    check(&(
        Unit,
        Newtype(1),
        Tuple(-1, ()),
        Some(true),
        false,
        Raw(b"ab"),
        Raw(b""),
    ));
    check(&(
        u64::MAX,
        i64::MIN,
        u128::MAX,
        i128::MIN,
        u32::MAX,
        i32::MIN,
        u16::MAX,
        i16::MIN,
    ));
    check(&(0.1f32, f64::MAX, f64::NAN, 'é'));
    check(&Tagged::Flat(Flat {
        before: 1.5,
        inner: Inner {
            text: "x".to_owned(),
            bytes: Printed("0x", "1"),
        },
    }));
    check(&[
        Printed("a", "\"b"),
        Printed("\\", ""),
        Printed("", ""),
        Printed("a", "b"),
    ]);
    check(&BTreeMap::from([("a", 1), ("b\"", 2)]));
    check(&BTreeMap::<String, u8>::new());
}

#[test]
fn a_key_that_is_no_text_is_an_error() {
    assert!(write_json(&BTreeMap::from([(1, 2)]), &mut Vec::new()).is_err());
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,80}".prop_map(Value::from),
        "[\\x00-\\x22\\x5c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_written_as_serde_json_writes_it(value in values()) {
        prop_assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    }
}
