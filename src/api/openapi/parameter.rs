//! Parameters of paths and queries, those that several operations share among them.

use serde_json::{Value, json};

/// Where a parameter stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParameterLocation {
    Path,
    Query,
}

/// A parameter.
pub(crate) struct Parameter {
    pub place: ParameterLocation,
    pub name: &'static str,
    pub description: &'static str,
    /// A path has all of its parameters; a query those that the operation cannot do without.
    pub required: bool,
    pub schema: Value,
    pub example: Value,
}

/// A parameter of a path.
pub(crate) fn path(
    name: &'static str,
    description: &'static str,
    schema: Value,
    example: impl Into<Value>,
) -> Parameter {
    Parameter {
        place: ParameterLocation::Path,
        name,
        description,
        required: true,
        schema,
        example: example.into(),
    }
}

/// A query parameter that may be left out.
pub(crate) fn query(
    name: &'static str,
    description: &'static str,
    schema: Value,
    example: impl Into<Value>,
) -> Parameter {
    Parameter {
        place: ParameterLocation::Query,
        name,
        description,
        required: false,
        schema,
        example: example.into(),
    }
}

/// A query parameter that must be given.
pub(crate) fn required_query(
    name: &'static str,
    description: &'static str,
    schema: Value,
    example: impl Into<Value>,
) -> Parameter {
    Parameter {
        required: true,
        ..query(name, description, schema, example)
    }
}

/// A number of 64 bits as text in decimal digits.
pub(crate) fn u64_text() -> Value {
    json!({"type": "string", "format": "uint64", "pattern": "^[0-9]{1,20}$"})
}

/// A number of 64 bits.
pub(crate) fn u64_number() -> Value {
    json!({"type": "integer", "format": "uint64", "minimum": 0, "maximum": u64::MAX})
}

/// An address, with or without `0x`, leading zeros free.
pub(crate) fn address_text() -> Value {
    json!({"type": "string", "format": "hex", "pattern": "^(0x)?[0-9a-fA-F]{1,64}$"})
}

/// A hash, with or without `0x`.
pub(crate) fn hash_text() -> Value {
    json!({"type": "string", "format": "hex", "pattern": "^(0x)?[0-9a-fA-F]{64}$"})
}

/// A name of a module, a struct or a field.
pub(crate) fn identifier_text() -> Value {
    json!({"type": "string", "maxLength": 255, "pattern": "^([a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+)$"})
}

/// A struct tag. What stands between `<` and `>` is left to the parser: its nesting is no regular language.
pub(crate) fn struct_tag_text() -> Value {
    json!({"type": "string", "maxLength": 4096, "pattern": STRUCT_TAG})
}

const STRUCT_TAG: &str = r"^\s*0x[0-9a-fA-F]{1,64}\s*::\s*[a-zA-Z_][a-zA-Z0-9_]*\s*::\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(<.+>\s*)?$";

/// A flag.
pub(crate) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// The address of an account, in a path.
pub(crate) fn address() -> Parameter {
    path(
        "address",
        "The address of the account, with or without `0x`; leading zeros may be left out.",
        address_text(),
        "0x1",
    )
}

/// Which version of the state is read.
pub(crate) fn ledger_version() -> Parameter {
    query(
        "ledger_version",
        "The version of the ledger whose state is read; the newest one without it.",
        u64_text(),
        "0",
    )
}

/// How many things a listing gives at most.
pub(crate) fn limit(description: &'static str) -> Parameter {
    let schema = json!({"type": "integer", "format": "uint16", "minimum": 1, "maximum": u16::MAX});
    query("limit", description, schema, 5)
}
