//! Values of the state by their key.

use super::{
    ErrorCode, Operation, StatusCode, Success, Tag, Value, error, errors, json, parameter, schema,
};
use crate::routes::state_values::RawStateValueRequest;

/// `POST /v1/experimental/state_values/raw`
pub(crate) fn raw() -> Operation {
    let success = Success::ok("The value.")
        .json(schema::<Value>(), json!("0x00"))
        .bcs("A BCS enum of one variant, number 0, which holds the bytes of the value as the state stores them.");
    Operation::new(
        "get_raw_state_value",
        Tag::Tables,
        "A value of the state by its key",
        "The key is given as BCS in hex: 0, an address and a vector of bytes for what is at an address, where the \
         vector is 0 and a module, 1 and the type of a resource or 2 and that of a group; 1, the handle and the key \
         as a vector of bytes for an item of a table. In JSON the value of a resource and of an item of a table that \
         recorded its types has the form of its type; any other is its bytes in hex.",
    )
    .parameter(parameter::ledger_version())
    .json_body(
        schema::<RawStateValueRequest>(),
        json!({"key": format!("0x01{:064x}2000{:062x}", 7, 5)}),
    )
    .success(success)
    .errors(errors::STATE_VERSION)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The bytes are no state key.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::StateValueNotFound,
            "Nothing is stored under this key at this version.",
        ),
    ])
}
