//! Reads of any state value by its state key (docs/reference/reference-node.md#r10). Unlike the
//! reference node, this node also responds in JSON.

use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{AtVersion, JsonBody},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{
        bcs::read_state_key,
        format::Format,
        json::{HexBytes, ValueJson},
        read_types,
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        schemas::schema,
    },
};
use bytes::Bytes;
use ledger_crypto::hex_text;
use ledger_limits::{Demand, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_types::{StateKey, StateKeyParts, TypeTag};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Display;

/// A request for a state value by its key.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RawStateValueRequest {
    /// State key in BCS, in hexadecimal.
    key: HexBytes,
}

/// A state value in BCS. The reference node has a second variant for values with a storage deposit,
/// which this ledger does not have.
#[derive(Serialize)]
enum StateValue<'a> {
    V0(&'a Bytes),
}

/// Handles `POST /v1/experimental/state_values/raw`.
///
/// Responds in JSON with the value of a resource, or of an item of a table that recorded its types.
/// Any other value, such as a resource group, is its bytes in hexadecimal.
pub(super) async fn raw(
    cx: RequestContext,
    body: JsonBody<RawStateValueRequest>,
    version: Result<AtVersion, ErrorKind>,
) -> Result<LedgerResponse, ApiError> {
    let RawStateValueRequest {
        key: HexBytes(wire),
    } = body.read(&cx).await?;
    let (key, parts) = read_key(&wire)?;
    let version = version?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    let mut body = cx.body_writer();
    let (ledger_info, (bytes, value_type, body)) = cx
        .read(WorkKind::PointRead, Demand::rows(1), move |snapshot| {
            let version = version.resolve(snapshot)?;
            let Some(bytes) = snapshot.state_value(&key, version)? else {
                let key = hex_text(&wire);
                return Err(ErrorKind::StateValueNotFound { key, version }.into());
            };
            body.lease_values(bytes.len())?;
            let value_type = match format {
                Format::Json => value_type(&chain, snapshot, parts, version)?,
                Format::Bcs => None,
            };
            Ok((bytes, value_type, body))
        })
        .await?;
    if format == Format::Bcs {
        return body.bcs(ledger_info, &StateValue::V0(&bytes));
    }
    let size_bytes = bytes.len();
    let chain = cx.chain().clone();
    cx.render(size_bytes, move || {
        let shown = match value_type {
            Some(value_type) => ValueJson::new(&chain, &value_type, bytes),
            None => ValueJson::Hex(bytes),
        };
        body.json(ledger_info, &shown)
    })
    .await
}

/// Describes [`raw`].
pub(super) fn describe_raw() -> Operation {
    let success = Success::ok("The value.")
        .json(schema::<Value>(), json!("0x00"))
        .bcs("BCS enum with one variant, number 0, which contains the stored bytes of the value.");
    Operation::new(
        "get_raw_state_value",
        Tag::Tables,
        "Get a state value by its key",
        "The key is BCS in hexadecimal. For a value at an address, it is 0, the address, and a \
         byte vector. The vector contains 0 and a module, 1 and the type of a resource, or 2 and \
         the type of a resource group. For a table item, the key is 1, the table handle, and the \
         key of the item as a byte vector. In JSON, a resource has the form of its type, and so \
         does an item of a table that recorded its types. Any other value is its bytes in \
         hexadecimal.",
    )
    .parameter(AtVersion::describe())
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
            "The bytes are not a state key.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::StateValueNotFound,
            "The state has no value under this key at this version.",
        ),
    ])
}

/// Decodes a state key in BCS.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if the bytes are not a state key.
fn read_key(wire: &Bytes) -> Result<(StateKey, StateKeyParts), ErrorKind> {
    let no_key = |cause: &dyn Display| {
        ErrorKind::InvalidInput(format!(
            "Failed to deserialize input into StateKey: {cause}"
        ))
    };
    let key = read_state_key(wire).map_err(|cause| no_key(&cause))?;
    let parts = key.decode().map_err(|cause| no_key(&cause))?;
    Ok((key, parts))
}

/// Returns the type of the value, or `None` if it is unknown.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
fn value_type(
    chain: &Chain,
    snapshot: &Snapshot,
    parts: StateKeyParts,
    version: u64,
) -> Result<Option<TypeTag>, StoreError> {
    Ok(match parts {
        StateKeyParts::Resource { tag, .. } => Some(tag.into()),
        StateKeyParts::TableItem { handle, .. } => {
            read_types(chain, snapshot, &handle, version)?.map(|types| types.value)
        }
        StateKeyParts::Module(_) | StateKeyParts::ResourceGroup { .. } => None,
    })
}
