//! Arbitrary values of a type in JSON and BCS, generated without the code under test.

use super::declared::DECLARED;
use ethnum::{I256, U256};
use ledger_types::TypeTag;
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

/// A value in JSON and in BCS.
pub type Forms = (Value, Vec<u8>);

/// Numbers of up to 32 bits are JSON numbers, larger ones decimal text.
macro_rules! integers {
    ($strategy:expr, $as_text:literal) => {
        $strategy
            .prop_map(|n| {
                let json = if $as_text {
                    json!(n.to_string())
                } else {
                    serde_json::from_str(&n.to_string()).unwrap()
                };
                (json, n.to_le_bytes().to_vec())
            })
            .boxed()
    };
}

macro_rules! with_edges {
    ($type:ty) => {
        prop_oneof![4 => any::<$type>(), 1 => Just(<$type>::MIN), 1 => Just(<$type>::MAX)]
    };
}

fn length(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length > 127 {
        bytes.push((length % 128) as u8 + 128);
        length /= 128;
    }
    bytes.push(length as u8);
    bytes
}

fn address() -> BoxedStrategy<(String, Vec<u8>)> {
    let small = any::<u8>().prop_map(|last| {
        let mut bytes = [0; 32];
        bytes[31] = last;
        bytes
    });
    let printed = |bytes: [u8; 32]| {
        let digits = hex::encode(bytes);
        let digits = digits.trim_start_matches('0');
        (
            format!("0x{}", if digits.is_empty() { "0" } else { digits }),
            bytes.to_vec(),
        )
    };
    prop_oneof![any::<[u8; 32]>(), small]
        .prop_map(printed)
        .boxed()
}

fn sequence(items: Vec<Forms>) -> Forms {
    let mut bytes = length(items.len());
    let (values, encoded): (Vec<Value>, Vec<Vec<u8>>) = items.into_iter().unzip();
    bytes.extend(encoded.concat());
    (values.into(), bytes)
}

fn field(name: &'static str) -> impl Fn(Forms) -> Forms {
    move |(value, bytes)| (json!({ name: value }), bytes)
}

/// Returns arbitrary values of a type.
pub fn values(tag: &TypeTag) -> BoxedStrategy<Forms> {
    let wide = |bytes: [u8; 32]| bytes;
    match tag {
        TypeTag::Bool => any::<bool>()
            .prop_map(|flag| (json!(flag), vec![u8::from(flag)]))
            .boxed(),
        TypeTag::U8 => integers!(with_edges!(u8), false),
        TypeTag::U16 => integers!(with_edges!(u16), false),
        TypeTag::U32 => integers!(with_edges!(u32), false),
        TypeTag::I8 => integers!(with_edges!(i8), false),
        TypeTag::I16 => integers!(with_edges!(i16), false),
        TypeTag::I32 => integers!(with_edges!(i32), false),
        TypeTag::U64 => integers!(with_edges!(u64), true),
        TypeTag::U128 => integers!(with_edges!(u128), true),
        TypeTag::I64 => integers!(with_edges!(i64), true),
        TypeTag::I128 => integers!(with_edges!(i128), true),
        TypeTag::U256 => {
            let number = any::<[u8; 32]>()
                .prop_map(wide)
                .prop_map(U256::from_le_bytes);
            integers!(
                prop_oneof![4 => number, 1 => Just(U256::MIN), 1 => Just(U256::MAX)],
                true
            )
        }
        TypeTag::I256 => {
            let number = any::<[u8; 32]>()
                .prop_map(wide)
                .prop_map(I256::from_le_bytes);
            integers!(
                prop_oneof![4 => number, 1 => Just(I256::MIN), 1 => Just(I256::MAX)],
                true
            )
        }
        TypeTag::Address | TypeTag::Signer => address()
            .prop_map(|(text, bytes)| (json!(text), bytes))
            .boxed(),
        TypeTag::Vector(item) if **item == TypeTag::U8 => vec(any::<u8>(), 0..200)
            .prop_map(|data| {
                (
                    json!(format!("0x{}", hex::encode(&data))),
                    [length(data.len()), data].concat(),
                )
            })
            .boxed(),
        TypeTag::Vector(item) => vec(values(item), 0..4).prop_map(sequence).boxed(),
        TypeTag::Struct(tag) => structs(&tag.to_string(), &tag.type_args),
        TypeTag::Function(never) => match *never {},
    }
}

fn structs(printed: &str, type_args: &[TypeTag]) -> BoxedStrategy<Forms> {
    let name = printed.split('<').next().unwrap();
    match name {
        "0x1::string::String" => ".{0,60}"
            .prop_map(|text| {
                (
                    json!(text),
                    [length(text.len()), text.into_bytes()].concat(),
                )
            })
            .boxed(),
        "0x1::option::Option" => vec(values(&type_args[0]), 0..2)
            .prop_map(sequence)
            .prop_map(field("vec"))
            .boxed(),
        "0x1::object::Object" => address()
            .prop_map(|(text, bytes)| (json!({ "inner": text }), bytes))
            .boxed(),
        _ => {
            let declared = DECLARED.iter().find(|declared| declared.name == name);
            let declared = declared.unwrap_or_else(|| panic!("{name} is not declared"));
            let (names, types): (Vec<_>, Vec<_>) = declared.resolved(type_args).into_iter().unzip();
            let fields: Vec<_> = types.iter().map(values).collect();
            fields
                .prop_map(move |fields| {
                    let (values, bytes): (Vec<Value>, Vec<Vec<u8>>) = fields.into_iter().unzip();
                    (
                        Map::from_iter(names.iter().cloned().zip(values)).into(),
                        bytes.concat(),
                    )
                })
                .boxed()
        }
    }
}
