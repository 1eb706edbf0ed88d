//! Items of tables, by the bytes of their key or by its JSON form (docs/reference/rest-contract.md#s4-7).

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
use ledger_types::{AccountAddress, LedgerInfo, StateKey, TypeTag};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// An item by the bytes of its key.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RawItemRequest {
    /// The key as BCS, in hex.
    key: HexBytes,
}

/// `POST /v1/tables/{table_handle}/raw_item`
///
/// Responds in BCS with the stored bytes. Responds in JSON with the value by the type that the table
/// recorded when it was created, or with the bytes in hexadecimal if none is recorded
/// (docs/interface.md#rule-9).
pub(crate) async fn raw_item(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let handle: AccountAddress = cx.path("table_handle")?;
    let RawItemRequest { key: HexBytes(key) } = cx.json_body().await?;
    let shown_key = hex_text(&key);
    let item = ItemKey::new(handle, &key, shown_key);
    let (chain, format) = (cx.chain().clone(), cx.format());
    let (ledger_info, (bytes, types)) = cx
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
    render(&cx, ledger_info, bytes, move |chain, bytes| {
        Ok(match types {
            Some(types) => ValueJson::new(chain, &types.value, bytes),
            None => ValueJson::Hex(bytes),
        })
    })
    .await
}

/// An item by its key in JSON.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ItemRequest {
    /// The type of the key.
    key_type: String,
    /// The type of the value.
    value_type: String,
    /// The key, in the JSON form of its type.
    key: Value,
}

/// `POST /v1/tables/{table_handle}/item`
///
/// The types are those that the client names, whatever the table recorded.
pub(crate) async fn item(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let handle: AccountAddress = cx.path("table_handle")?;
    let (item, value_type) = named_item(handle, &cx.json_body().await?, cx.chain())?;
    let (ledger_info, bytes) = cx
        .read_state(move |snapshot, version| item.read(snapshot, version))
        .await?;
    render(&cx, ledger_info, bytes, move |chain, bytes| {
        let value = chain
            .registry()
            .json_view(&value_type, bytes)
            .map(ValueJson::Shown);
        value.map_err(|cause| {
            ErrorKind::InvalidInput(format!("the value is no {value_type}: {cause}"))
        })
    })
    .await
}

/// Which item a request names, and the type of its value. Nothing else of the request is kept while the item
/// is read: as JSON values it may take many times the memory of its body.
fn named_item(
    handle: AccountAddress,
    request: &ItemRequest,
    chain: &Chain,
) -> Result<(ItemKey, TypeTag), ErrorKind> {
    let key_type = parse_type("key_type", &request.key_type)?;
    let value_type = parse_type("value_type", &request.value_type)?;
    let key = chain
        .registry()
        .value_from_json(&key_type, &request.key)
        .map_err(|cause| ErrorKind::InvalidInput(format!("the key is no {key_type}: {cause}")))?;
    Ok((
        ItemKey::new(handle, &key, request.key.to_string()),
        value_type,
    ))
}

/// The item as it is stored, or as `shown` in JSON.
async fn render(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    bytes: Bytes,
    shown: impl for<'c> FnOnce(&'c Chain, Bytes) -> Result<ValueJson<'c>, ErrorKind> + Send + 'static,
) -> Result<LedgerResponse, ApiError> {
    if cx.format() == Format::Bcs {
        return Ok(LedgerResponse::bytes(ledger_info, Format::Bcs, bytes));
    }
    let permit = cx.state.large_responses().acquire_for(bytes.len())?;
    let chain = cx.chain().clone();
    large_responses::render(cx.node(), permit, move || {
        let value = shown(&chain, bytes).map_err(|problem| problem.at(ledger_info))?;
        LedgerResponse::json(ledger_info, &value)
    })
    .await
}

fn parse_type(name: &str, text: &str) -> Result<TypeTag, ErrorKind> {
    text.parse()
        .map_err(|cause| ErrorKind::InvalidInput(format!("{name} is no type: {cause}")))
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

    fn read(
        self,
        snapshot: &Snapshot,
        version: u64,
    ) -> Result<Result<Bytes, ErrorKind>, StoreError> {
        let found = snapshot.state_value(&self.state_key, version)?;
        Ok(found.ok_or(ErrorKind::TableItemNotFound {
            handle: self.handle,
            key: self.shown,
            version,
        }))
    }
}
