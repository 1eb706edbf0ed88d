//! Items of tables.

use super::{
    ErrorCode, Operation, StatusCode, Success, Tag, Value, error, errors, json, parameter, schema,
};
use crate::routes::tables::{ItemRequest, RawItemRequest};

/// The handle of the table in examples: that of the paired assets of coins.
const HANDLE: &str = "0x7";

fn item_of_table(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    Operation::new(id, Tag::Tables, summary, description)
        .parameter(parameter::path(
            "table_handle",
            "The address that is the handle of the table, with or without `0x`.",
            parameter::address_text(),
            HANDLE,
        ))
        .parameter(parameter::ledger_version())
        .errors(errors::STATE_VERSION)
        .errors(&[error(
            StatusCode::NOT_FOUND,
            ErrorCode::TableItemNotFound,
            "The table has no item under this key at this version, or there is no such table.",
        )])
}

/// `POST /v1/tables/{table_handle}/item`
pub(crate) fn item() -> Operation {
    let request = json!({"key_type": "address", "value_type": "u64", "key": "0x5"});
    let success = Success::ok("The value, in the JSON form of `value_type`.")
        .json(schema::<Value>(), json!("7"))
        .bcs("The value as BCS, as the state stores it.");
    item_of_table(
        "get_table_item",
        "An item of a table by its key in JSON",
        "The key is written as JSON of `key_type` and the value read as one of `value_type`; both types are those \
         that the request names, whatever types the table has.",
    )
    .json_body(schema::<ItemRequest>(), request)
    .success(success)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "A type is none, the key is none of its type, or the value is none of the type that the request names.",
    )])
}

/// `POST /v1/tables/{table_handle}/raw_item`
pub(crate) fn raw_item() -> Operation {
    let success = Success::ok("The value.")
        .json(schema::<Value>(), json!("7"))
        .bcs("The value as BCS, as the state stores it.");
    item_of_table(
        "get_raw_table_item",
        "An item of a table by the bytes of its key",
        "The key is given as its BCS bytes in hex. In JSON the value has the form of the type that the table \
         recorded when it was made, or is its bytes in hex where it recorded none.",
    )
    .json_body(
        schema::<RawItemRequest>(),
        json!({"key": "0x0000000000000000000000000000000000000000000000000000000000000005"}),
    )
    .success(success)
}
