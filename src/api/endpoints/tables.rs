//! Items of tables, by the bytes of their key or by its JSON form (interface section 4.7).

use crate::{
    answer::Answer,
    call::Call,
    error::{ApiError, Problem},
    format::Format,
    json::{HexBytes, hex_text, value_or_hex},
    tables::read_types,
};
use bytes::Bytes;
use ledger::{AccountAddress, LedgerInfo, StateKey, TypeTag};
use ledger_store::{Snapshot, StoreError};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct RawItemRequest {
    key: HexBytes,
}

/// `POST /v1/tables/{table_handle}/raw_item`
///
/// BCS is the bytes as they are stored. JSON is the value by the type that the table recorded when it
/// was made, or the bytes in hex where it recorded none (design section 8).
pub(crate) async fn raw_item(mut call: Call) -> Result<Answer, ApiError> {
    let handle: AccountAddress = call.path("table_handle")?;
    let RawItemRequest { key: HexBytes(key) } = call.json_body().await?;
    let shown_key = hex_text(&key);
    let item = ItemKey::new(handle, &key, shown_key);
    let (chain, format) = (call.chain().clone(), call.format());
    let (ledger_info, (bytes, types)) = call
        .read_state(move |snapshot, version| {
            let bytes = match item.read(snapshot, version)? {
                Ok(bytes) => bytes,
                Err(problem) => return Ok(Err(problem)),
            };
            let types = match format {
                Format::Json => read_types(&chain, snapshot, &handle, version)?,
                Format::Bcs => None,
            };
            Ok(Ok((bytes, types)))
        })
        .await?;
    match call.format() {
        Format::Bcs => Ok(Answer::bytes(ledger_info, Format::Bcs, bytes)),
        Format::Json => {
            let value = match types {
                Some(types) => value_or_hex(call.chain(), &types.value, &bytes),
                None => Value::String(hex_text(&bytes)),
            };
            Answer::json(ledger_info, &value)
        }
    }
}

#[derive(Deserialize)]
struct ItemRequest {
    key_type: String,
    value_type: String,
    key: Value,
}

/// `POST /v1/tables/{table_handle}/item`
///
/// The types are those that the client names, whatever the table recorded.
pub(crate) async fn item(mut call: Call) -> Result<Answer, ApiError> {
    let handle: AccountAddress = call.path("table_handle")?;
    let request: ItemRequest = call.json_body().await?;
    let key_type = parse_type("key_type", &request.key_type)?;
    let value_type = parse_type("value_type", &request.value_type)?;
    let key = call
        .chain()
        .framework()
        .value_from_json(&key_type, &request.key)
        .map_err(|cause| Problem::InvalidInput(format!("the key is no {key_type}: {cause}")))?;
    let item = ItemKey::new(handle, &key, request.key.to_string());
    let (ledger_info, bytes) = call
        .read_state(move |snapshot, version| item.read(snapshot, version))
        .await?;
    match call.format() {
        Format::Bcs => Ok(Answer::bytes(ledger_info, Format::Bcs, bytes)),
        Format::Json => typed(&call, ledger_info, &value_type, &bytes),
    }
}

fn typed(
    call: &Call,
    ledger_info: LedgerInfo,
    value_type: &TypeTag,
    bytes: &[u8],
) -> Result<Answer, ApiError> {
    let value = call.chain().framework().value_to_json(value_type, bytes);
    let value = value.map_err(|cause| {
        Problem::InvalidInput(format!("the value is no {value_type}: {cause}")).at(ledger_info)
    })?;
    Answer::json(ledger_info, &value)
}

fn parse_type(name: &str, text: &str) -> Result<TypeTag, Problem> {
    text.parse()
        .map_err(|cause| Problem::InvalidInput(format!("{name} is no type: {cause}")))
}

/// An item that is asked for.
struct ItemKey {
    handle: AccountAddress,
    state_key: StateKey,
    /// The key as the client wrote it.
    shown: String,
}

impl ItemKey {
    fn new(handle: AccountAddress, key: &[u8], shown: String) -> Self {
        Self {
            handle,
            state_key: StateKey::table_item(&handle, key),
            shown,
        }
    }

    fn read(self, snapshot: &Snapshot, version: u64) -> Result<Result<Bytes, Problem>, StoreError> {
        let found = snapshot.state_value(&self.state_key, version)?;
        Ok(found.ok_or(Problem::TableItemNotFound {
            handle: self.handle,
            key: self.shown,
            version,
        }))
    }
}
