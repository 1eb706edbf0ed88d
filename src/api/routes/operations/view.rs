//! Calls of view functions.

use super::{
    ErrorCode, Media, Operation, StatusCode, Success, Tag, Value, error, errors, json, parameter,
    schema,
};
use crate::model::json::CallRequest;

/// `POST /v1/view`
pub(crate) fn view() -> Operation {
    let request = json!({
        "function": "0x1::chain_id::get",
        "type_arguments": [],
        "arguments": [],
    });
    let success = Success::ok("The values that the function returned, in their order.")
        .json(schema::<Vec<Value>>(), json!([4]))
        .bcs("A BCS vector with the bytes of each value.")
        .with_gas_used();
    Operation::new(
        "view",
        Tag::View,
        "Call a view function",
        "Runs a function that reads the state at a version and changes nothing. It ends with an error when it has \
         used as much gas as a transaction may. What it used stands in `X-{VENDOR}-GAS-USED`; nobody pays for it.",
    )
    .parameter(parameter::ledger_version())
    .json_body(schema::<CallRequest>(), request)
    .bcs_body(
        Media::ViewFunctionBcs,
        "A call in BCS: module, function, type arguments, and a vector with the BCS bytes of each argument.",
    )
    .success(success)
    .errors(errors::STATE_VERSION)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "There is no such view function, the arguments do not fit it, or it did not come to its end; then \
         `vm_error_code` says how it ended.",
    )])
}
