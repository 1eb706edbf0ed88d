//! JSON schemas of values that are strings in JSON (docs/reference/rest-contract.md#s2-1).
//!
//! The schema of a response is exact; the schema of a request accepts what the parsers accept.

use super::{HexBytes, JsonString, hex_form::HexArray};
use crate::model::DecimalText;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ModuleId, StructTag, TypeTag};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// A type that JSON represents as a string.
pub(crate) trait StringSchema {
    /// Name of the component in the OpenAPI document.
    const NAME: &'static str;

    /// Returns the schema of the strings in responses.
    fn response_schema() -> Schema;

    /// Returns the schema of the strings in requests.
    fn request_schema() -> Schema {
        Self::response_schema()
    }
}

impl<T: StringSchema> StringSchema for &T {
    const NAME: &'static str = T::NAME;

    fn response_schema() -> Schema {
        T::response_schema()
    }

    fn request_schema() -> Schema {
        T::request_schema()
    }
}

impl<T: StringSchema> JsonSchema for JsonString<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            T::response_schema()
        } else {
            T::request_schema()
        }
    }
}

impl StringSchema for u64 {
    const NAME: &'static str = "U64";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "uint64",
            "pattern": "^(0|[1-9][0-9]{0,19})$",
            "description": "A number of 64 bits, without sign, in decimal digits.",
            "examples": ["1"],
        })
    }

    fn request_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "uint64",
            "pattern": "^0*[0-9]{1,20}$",
            "description": "A number of 64 bits, without sign, in decimal digits.",
            "examples": ["1"],
        })
    }
}

impl StringSchema for u128 {
    const NAME: &'static str = "U128";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^(0|[1-9][0-9]{0,38})$",
            "description": "A number of 128 bits, without sign, in decimal digits.",
            "examples": ["1"],
        })
    }
}

impl<T: StringSchema> JsonSchema for DecimalText<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        JsonString::<T>::json_schema(generator)
    }
}

impl StringSchema for AccountAddress {
    const NAME: &'static str = "Address";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "hex",
            "pattern": "^0x(0|[1-9a-f][0-9a-f]{0,63})$",
            "description": "An address: `0x` and its digits without leading zeros.",
            "examples": ["0x1"],
        })
    }

    fn request_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "hex",
            "pattern": "^(0x)?[0-9a-fA-F]{1,64}$",
            "description": "An address, with or without `0x`; leading zeros may be left out.",
            "examples": ["0x1"],
        })
    }
}

impl StringSchema for HashValue {
    const NAME: &'static str = "HashValue";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "hex",
            "pattern": "^0x[0-9a-f]{64}$",
            "description": "A hash of 32 bytes.",
            "examples": [format!("0x{:064x}", 0xa)],
        })
    }

    fn request_schema() -> Schema {
        json_schema!({
            "type": "string",
            "format": "hex",
            "pattern": "^(0x)?[0-9a-fA-F]{64}$",
            "description": "A hash of 32 bytes, with or without `0x`.",
            "examples": [format!("0x{:064x}", 0xa)],
        })
    }
}

/// Pattern of a module id. It has no end, so that more can follow.
const MODULE: &str = "^0x(0|[1-9a-f][0-9a-f]{0,63})::[a-zA-Z_][a-zA-Z0-9_]*";
/// Pattern of a member's name after a module id.
const MEMBER: &str = "::[a-zA-Z_][a-zA-Z0-9_]*";

impl StringSchema for ModuleId {
    const NAME: &'static str = "MoveModuleId";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!("{MODULE}$"),
            "description": "A module: its address and its name.",
            "examples": ["0x1::coin"],
        })
    }
}

impl StringSchema for StructTag {
    const NAME: &'static str = "MoveStructTag";

    // Type arguments nest, and no regular expression matches nested angle brackets.
    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!("{MODULE}{MEMBER}(<.+>)?$"),
            "description": "A struct type: address, module, name, and type arguments in angle \
                            brackets.",
            "examples": ["0x1::account::Account"],
        })
    }
}

impl StringSchema for TypeTag {
    const NAME: &'static str = "MoveType";

    fn response_schema() -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 2,
            "description": "A type: `bool`, `u8` to `u256`, `i8` to `i256`, `address`, `signer`, \
                            `vector<T>`, or a struct type.",
            "examples": ["vector<0x1::account::Account>"],
        })
    }
}

/// Returns the schema of bytes in hexadecimal. `repeat` is a regular expression's quantifier of
/// their number.
fn hex_schema(generator: &SchemaGenerator, repeat: &str, description: &str) -> Schema {
    let pattern = if generator.contract().is_serialize() {
        format!("^0x([0-9a-f]{{2}}){repeat}$")
    } else {
        format!("^(0x)?([0-9a-fA-F]{{2}}){repeat}$")
    };
    json_schema!({
        "type": "string",
        "format": "hex",
        "pattern": pattern,
        "description": description,
    })
}

impl JsonSchema for HexBytes {
    fn schema_name() -> Cow<'static, str> {
        "HexBytes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        hex_schema(generator, "*", "Bytes, two digits each.")
    }
}

impl<const N: usize> JsonSchema for HexArray<N> {
    fn schema_name() -> Cow<'static, str> {
        format!("HexBytes{N}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        hex_schema(
            generator,
            &format!("{{{N}}}"),
            &format!("{N} bytes, two digits each."),
        )
    }
}

/// Returns the schema of a function name, as `0x1::module::function`.
pub(crate) fn function_schema(generator: &mut SchemaGenerator) -> Schema {
    if generator.contract().is_serialize() {
        json_schema!({"type": "string", "pattern": format!("{MODULE}{MEMBER}$")})
    } else {
        json_schema!({
            "type": "string",
            "pattern": "::",
            "description": "Address, module and name of a function.",
            "examples": ["0x1::coin::transfer"],
        })
    }
}

/// Returns the schema of bytes as [`ledger_crypto::hex_text`] formats them.
pub(crate) fn hex_text_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<HexBytes>()
}
