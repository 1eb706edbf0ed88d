//! Move types and their parts, as text and in BCS.
//!
//! Checks that a printed form parses as the same value, that a value has only one BCS form, and
//! that parsed types do not nest deeper than [`TYPE_DEPTH_MAX`].

use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, Identifier, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeTag};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

/// Maximum nesting depth of a decoded value, which is that of a submitted transaction.
const BCS_DEPTH_MAX: usize = 16;

/// Checks the input as each type, in BCS and as text.
///
/// # Panics
///
/// Panics if a form does not decode to the same value, or if a type nests too deep.
pub fn run(input: &[u8]) {
    if let Some(tag) = check_bcs::<TypeTag>(input) {
        tag.depth();
    }
    check_bcs::<StructTag>(input);
    check_bcs::<ModuleId>(input);
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    if let Some(tag) = check_text::<TypeTag>(text) {
        assert!(
            tag.depth() <= TYPE_DEPTH_MAX,
            "{tag} exceeds the maximum depth"
        );
    }
    if let Some(tag) = check_text::<StructTag>(text) {
        let of_struct = TypeTag::from(tag);
        assert_eq!(
            text.parse(),
            Ok(of_struct),
            "the text of a struct is that of a type"
        );
    }
    check_text::<ModuleId>(text);
    check_text::<Identifier>(text);
    check_text::<AccountAddress>(text);
    check_text::<HashValue>(text);
}

/// Parses a text. Returns `None` if it is not a `T`.
///
/// # Panics
///
/// Panics if the printed form of the value does not parse as the same value.
fn check_text<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let printed = value.to_string();
    let parsed: Option<T> = printed.parse().ok();
    assert_eq!(parsed.as_ref(), Some(&value), "printed as {printed:?}");
    Some(value)
}

/// Decodes bytes. Returns `None` if they are not a `T`.
///
/// # Panics
///
/// Panics if the value has a second BCS form, or if its printed form parses as another value. The
/// printed form may be invalid, because BCS can nest deeper than text.
fn check_bcs<T>(bytes: &[u8]) -> Option<T>
where
    T: FromStr + Display + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let value: T = bcs::from_bytes_with_limit(bytes, BCS_DEPTH_MAX).ok()?;
    assert_eq!(
        bcs::to_bytes(&value).as_deref(),
        Ok(bytes),
        "{value} has two BCS forms"
    );
    if let Ok(parsed) = value.to_string().parse::<T>() {
        assert_eq!(parsed, value);
    }
    Some(value)
}
