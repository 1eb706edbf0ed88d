//! State values by their state keys, of any kind (docs/reference/reference-node.md#r10). Unlike the
//! reference node, this node also responds in JSON.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind},
    limits::large_responses,
    model::{
        format::Format,
        json::{HexBytes, ValueJson},
        read_types,
    },
};
use bytes::Bytes;
use ledger_crypto::hex_text;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, StateKey, StateKeyParts, TypeTag};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// A value by its key.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RawStateValueRequest {
    /// The key as BCS, in hex.
    key: HexBytes,
}

/// What the BCS form of a table item's key begins with.
const TABLE_ITEM: u8 = 1;

/// A value of the state on the wire. The reference has a second variant, with what was deposited for the
/// value, which nothing is on this ledger.
#[derive(Serialize)]
enum StateValue<'a> {
    V0(&'a Bytes),
}

/// `POST /v1/experimental/state_values/raw`
///
/// JSON is the value of a resource or of an item of a table that recorded its types; any other value, such
/// as that of a group of resources, is its bytes in hex.
pub(crate) async fn raw(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let RawStateValueRequest {
        key: HexBytes(wire),
    } = cx.json_body().await?;
    let (key, parts) = read_key(&wire)?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    let (ledger_info, (bytes, value_type)) = cx
        .read_state(move |snapshot, version| {
            let Some(bytes) = snapshot.state_value(&key, version)? else {
                let key = hex_text(&wire);
                return Ok(Err(ErrorKind::StateValueNotFound { key, version }));
            };
            let value_type = match format {
                Format::Json => value_type(&chain, snapshot, parts, version)?,
                Format::Bcs => None,
            };
            Ok(Ok((bytes, value_type)))
        })
        .await?;
    if format == Format::Bcs {
        return LedgerResponse::bcs(ledger_info, &StateValue::V0(&bytes));
    }
    let permit = cx.state.large_responses().acquire_for(bytes.len())?;
    let chain = cx.chain().clone();
    large_responses::render(cx.node(), permit, move || {
        let shown = match value_type {
            Some(value_type) => ValueJson::new(&chain, &value_type, bytes),
            None => ValueJson::Hex(bytes),
        };
        LedgerResponse::json(ledger_info, &shown)
    })
    .await
}

/// A state key in BCS. That of a resource or module is its storage encoding; in that of a table item the
/// item's key has its length before it.
///
/// # Errors
/// 400 when the bytes are no state key.
fn read_key(wire: &Bytes) -> Result<(StateKey, StateKeyParts), ErrorKind> {
    let no_key = |cause: &dyn Display| {
        ErrorKind::InvalidInput(format!(
            "Failed to deserialize input into StateKey: {cause}"
        ))
    };
    let key = match wire.split_first() {
        Some((&TABLE_ITEM, item)) => {
            let item: Result<(AccountAddress, Bytes), _> = bcs::from_bytes(item);
            let (handle, key) = item.map_err(|cause| no_key(&cause))?;
            StateKey::table_item(&handle, &key)
        }
        _ => StateKey::from_encoded(wire.clone()),
    };
    let parts = key.decode().map_err(|cause| no_key(&cause))?;
    Ok((key, parts))
}

/// The type of the value, where one is known.
///
/// # Errors
/// When the store fails.
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
