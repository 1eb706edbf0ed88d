//! Types as text and in BCS: the printed form parses to the same type, and nesting is bounded.

use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, Identifier, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeTag};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

/// Maximum depth of the types of a transaction.
const BCS_DEPTH_MAX: usize = 16;

pub fn run(input: &[u8]) {
    if let Some(tag) = in_bcs::<TypeTag>(input) {
        tag.depth();
    }
    in_bcs::<StructTag>(input);
    in_bcs::<ModuleId>(input);
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    if let Some(tag) = printed_alike::<TypeTag>(text) {
        assert!(tag.depth() <= TYPE_DEPTH_MAX, "{tag} nests too deep");
    }
    if let Some(tag) = printed_alike::<StructTag>(text) {
        let of_struct = TypeTag::Struct(Box::new(tag));
        assert_eq!(text.parse(), Ok(of_struct), "a struct is a type");
    }
    printed_alike::<ModuleId>(text);
    printed_alike::<Identifier>(text);
    printed_alike::<AccountAddress>(text);
    printed_alike::<HashValue>(text);
}

/// Parses a text. Asserts that the printed form of the value parses to the same value.
fn printed_alike<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let printed = value.to_string();
    let again: Option<T> = printed.parse().ok();
    assert_eq!(again.as_ref(), Some(&value), "printed as {printed:?}");
    Some(value)
}

/// Decodes bytes. Asserts that the value has one BCS form, and that its text, if it can be parsed,
/// is the same value.
fn in_bcs<T>(bytes: &[u8]) -> Option<T>
where
    T: FromStr + Display + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let value: T = bcs::from_bytes_with_limit(bytes, BCS_DEPTH_MAX).ok()?;
    assert_eq!(
        bcs::to_bytes(&value).as_deref(),
        Ok(bytes),
        "{value} has two BCS forms"
    );
    if let Ok(again) = value.to_string().parse::<T>() {
        assert_eq!(again, value);
    }
    Some(value)
}
