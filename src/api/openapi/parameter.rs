//! Parameters of paths and queries, and those that several operations share.

use serde_json::{Value, json};

/// Location of a parameter in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParameterLocation {
    Path,
    Query,
    Header,
}

/// A parameter.
pub(crate) struct Parameter {
    pub place: ParameterLocation,
    pub name: &'static str,
    pub description: &'static str,
    /// Whether a request must have the parameter. Path parameters are always required.
    pub required: bool,
    pub schema: Value,
    pub example: Value,
    /// Name of its component in the document, if many operations have the parameter.
    pub component: Option<&'static str>,
}

/// Returns a path parameter.
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
        component: None,
    }
}

/// Returns an optional query parameter.
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
        component: None,
    }
}

/// Returns a required query parameter.
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

/// Returns the schema of an integer of 64 bits as a string of decimal digits.
pub(crate) fn u64_text() -> Value {
    json!({"type": "string", "format": "uint64", "pattern": "^[0-9]{1,20}$"})
}

/// Returns the schema of an integer of 64 bits.
pub(crate) fn u64_number() -> Value {
    json!({"type": "integer", "format": "uint64", "minimum": 0, "maximum": u64::MAX})
}

/// Returns the schema of an address, with or without `0x` and leading zeros.
pub(crate) fn address_text() -> Value {
    json!({"type": "string", "format": "hex", "pattern": "^(0x)?[0-9a-fA-F]{1,64}$"})
}

/// Returns the schema of a hash, with or without `0x`.
pub(crate) fn hash_text() -> Value {
    json!({"type": "string", "format": "hex", "pattern": "^(0x)?[0-9a-fA-F]{64}$"})
}

/// Returns the schema of a name of a module, a struct or a field.
pub(crate) fn identifier_text() -> Value {
    json!({
        "type": "string",
        "maxLength": 255,
        "pattern": "^([a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+)$",
    })
}

/// Returns the schema of a struct tag. The pattern accepts any type arguments, because nested ones
/// are not a regular language.
pub(crate) fn struct_tag_text() -> Value {
    json!({"type": "string", "maxLength": 4096, "pattern": STRUCT_TAG})
}

/// Pattern of [`struct_tag_text`].
const STRUCT_TAG: &str = concat!(
    r"^\s*0x[0-9a-fA-F]{1,64}\s*",
    r"::\s*[a-zA-Z_][a-zA-Z0-9_]*\s*",
    r"::\s*[a-zA-Z_][a-zA-Z0-9_]*\s*",
    r"(<.+>\s*)?$",
);

/// Returns the schema of a flag.
pub(crate) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// Returns the query parameter with the version of the state to read.
pub(crate) fn ledger_version() -> Parameter {
    query(
        "ledger_version",
        "Version of the state to read; by default the newest one.",
        u64_text(),
        "0",
    )
}

/// Name of the query parameter with the version that the ledger must have at least.
pub(crate) const MIN_LEDGER_VERSION: &str = "min_ledger_version";

/// Name of the query parameter with the maximum duration of a wait.
pub(crate) const TIMEOUT_MS: &str = "timeout_ms";

/// Returns the parameters of a read that waits until the ledger has a version.
pub(crate) fn min_version() -> [Parameter; 3] {
    let of_query = Parameter {
        component: Some("MinLedgerVersion"),
        ..query(
            MIN_LEDGER_VERSION,
            "Version that the ledger must have at least, such as that of an earlier response of \
             any connection or node. The node responds when it has the version.",
            u64_text(),
            "0",
        )
    };
    let of_header = Parameter {
        place: ParameterLocation::Header,
        name: "X-{VENDOR}-MIN-LEDGER-VERSION",
        description: "The same as `min_ledger_version`. The larger one counts if a request has \
                      both.",
        component: Some("MinLedgerVersionHeader"),
        ..query("", "", u64_text(), "0")
    };
    let timeout = Parameter {
        component: Some("TimeoutMs"),
        ..query(
            TIMEOUT_MS,
            "Maximum time of a wait, in milliseconds; by default `wait.timeout_ms` of the \
             configuration, at most `wait.timeout_max_ms`.",
            u64_number(),
            1_000,
        )
    };
    [of_query, of_header, timeout]
}

/// Returns the query parameter with the maximum number of items of a page.
pub(crate) fn limit(description: &'static str) -> Parameter {
    let schema = json!({"type": "integer", "format": "uint16", "minimum": 1, "maximum": u16::MAX});
    query("limit", description, schema, 5)
}

/// Returns the query parameter with the maximum duration of a wait for a commit.
pub(crate) fn timeout_ms(description: &'static str) -> Parameter {
    query(TIMEOUT_MS, description, u64_number(), 5_000)
}
