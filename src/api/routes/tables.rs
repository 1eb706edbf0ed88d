//! Reads of table items, by the bytes of their key or by its JSON form
//! (docs/reference/rest-contract.md#s4-7).

use crate::{
    context::{
        BodyWriter, LedgerResponse, QueryError, RequestContext,
        extract::{AtVersion, JsonBody, Parameter, Path},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{
        format::Format,
        json::{HexBytes, ValueJson},
        read_types,
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        parameter::address_text,
        schemas::schema,
    },
};
use bytes::Bytes;
use ledger_crypto::hex_text;
use ledger_limits::{Demand, WorkKind};
use ledger_store::Snapshot;
use ledger_types::{AccountAddress, LedgerInfo, StateKey, TypeTag};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The handle of a table.
pub(super) enum TableHandle {}

impl Parameter for TableHandle {
    type Value = AccountAddress;
    const NAME: &'static str = "table_handle";
    const DESCRIPTION: &'static str =
        "Address that is the handle of the table, with or without `0x`.";
    const SCHEMA: fn() -> Value = address_text;
    /// Handle of the table of the paired assets of coins.
    const EXAMPLE: fn() -> Value = || json!("0x7");
}

fn operation(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    Operation::new(id, Tag::Tables, summary, description)
        .parameter(Path::<TableHandle>::describe())
        .parameter(AtVersion::describe())
        .errors(errors::STATE_VERSION)
        .errors(&[error(
            StatusCode::NOT_FOUND,
            ErrorCode::TableItemNotFound,
            "The table has no item under this key at this version, or the table does not exist.",
        )])
}

/// A request for a table item by the bytes of its key.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RawItemRequest {
    /// Key in BCS, in hexadecimal.
    key: HexBytes,
}

/// Handles `POST /v1/tables/{table_handle}/raw_item`.
///
/// Responds in BCS with the stored bytes. Responds in JSON with the value by the type that the
/// table recorded when it was created, or with the bytes in hexadecimal if none is recorded
/// (docs/use/interface.md#raw-table-items).
pub(super) async fn raw_item(
    cx: RequestContext,
    Path(handle): Path<TableHandle>,
    body: JsonBody<RawItemRequest>,
    version: Result<AtVersion, ErrorKind>,
) -> Result<LedgerResponse, ApiError> {
    let RawItemRequest { key: HexBytes(key) } = body.read(&cx).await?;
    let version = version?;
    let shown_key = hex_text(&key);
    let item = ItemKey::new(handle, &key, shown_key);
    let (chain, format) = (cx.chain().clone(), cx.format());
    let mut body = cx.body_writer();
    let (ledger_info, (bytes, types, body)) = cx
        .read(WorkKind::PointRead, Demand::rows(2), move |snapshot| {
            let version = version.resolve(snapshot)?;
            let bytes = item.read(snapshot, version)?;
            body.lease_values(bytes.len())?;
            let types = match format {
                Format::Json => read_types(&chain, snapshot, &handle, version)?,
                Format::Bcs => None,
            };
            Ok((bytes, types, body))
        })
        .await?;
    render(&cx, body, ledger_info, bytes, move |chain, bytes| {
        Ok(match types {
            Some(types) => ValueJson::new(chain, &types.value, bytes),
            None => ValueJson::Hex(bytes),
        })
    })
    .await
}

/// Describes [`raw_item`].
pub(super) fn describe_raw_item() -> Operation {
    let success = Success::ok("The value.")
        .json(schema::<Value>(), json!("7"))
        .bcs("Stored bytes of the value, in BCS.");
    operation(
        "get_raw_table_item",
        "Get a table item by the bytes of its key",
        "The key is its BCS bytes in hexadecimal. In JSON, the value has the form of the type that \
         the table recorded when it was created. If the table recorded no type, the value is its \
         bytes in hexadecimal.",
    )
    .json_body(
        schema::<RawItemRequest>(),
        json!({"key": "0x0000000000000000000000000000000000000000000000000000000000000005"}),
    )
    .success(success)
}

/// A request for a table item by its key in JSON.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ItemRequest {
    /// Type of the key.
    key_type: String,
    /// Type of the value.
    value_type: String,
    /// Key, in the JSON form of its type.
    key: Value,
}

/// Handles `POST /v1/tables/{table_handle}/item`.
///
/// The types are those of the request, even if the table recorded others.
pub(super) async fn item(
    cx: RequestContext,
    Path(handle): Path<TableHandle>,
    body: JsonBody<ItemRequest>,
    version: Result<AtVersion, ErrorKind>,
) -> Result<LedgerResponse, ApiError> {
    let chain = cx.chain().clone();
    let (item, value_type) = body
        .read_as(&cx, move |request| parse_item(handle, &request, &chain))
        .await?;
    let version = version?;
    let mut body = cx.body_writer();
    let (ledger_info, (bytes, body)) = cx
        .read(WorkKind::PointRead, Demand::rows(1), move |snapshot| {
            let bytes = item.read(snapshot, version.resolve(snapshot)?)?;
            body.lease_values(bytes.len())?;
            Ok((bytes, body))
        })
        .await?;
    render(&cx, body, ledger_info, bytes, move |chain, bytes| {
        let value = chain
            .registry()
            .json_view(&value_type, bytes)
            .map(ValueJson::View);
        value.map_err(|cause| {
            ErrorKind::InvalidInput(format!("the value is not a valid {value_type}: {cause}"))
        })
    })
    .await
}

/// Describes [`item`].
pub(super) fn describe_item() -> Operation {
    let request = json!({"key_type": "address", "value_type": "u64", "key": "0x5"});
    let success = Success::ok("The value, in the JSON form of `value_type`.")
        .json(schema::<Value>(), json!("7"))
        .bcs("Stored bytes of the value, in BCS.");
    operation(
        "get_table_item",
        "Get a table item by its key in JSON",
        "The key is JSON of type `key_type`, and the value is decoded as `value_type`. Both types \
         are those of the request, even if the table recorded others.",
    )
    .json_body(schema::<ItemRequest>(), request)
    .success(success)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "A type is invalid, the key does not have type `key_type`, or the value does not have type \
         `value_type`.",
    )])
}

/// Returns the item that a request names, and the type of its value.
///
/// The request itself is dropped on the thread that has parsed it, because its JSON values can take
/// many times the memory of the body.
fn parse_item(
    handle: AccountAddress,
    request: &ItemRequest,
    chain: &Chain,
) -> Result<(ItemKey, TypeTag), ErrorKind> {
    let key_type = parse_type("key_type", &request.key_type)?;
    let value_type = parse_type("value_type", &request.value_type)?;
    let key = chain
        .registry()
        .value_from_json(&key_type, &request.key)
        .map_err(|cause| {
            ErrorKind::InvalidInput(format!("the key is not a valid {key_type}: {cause}"))
        })?;
    Ok((
        ItemKey::new(handle, &key, request.key.to_string()),
        value_type,
    ))
}

/// Responds with the stored bytes of an item in BCS, or with the result of `to_json` in JSON.
/// `body` has leased the memory of the bytes.
async fn render<F>(
    cx: &RequestContext,
    body: BodyWriter,
    ledger_info: LedgerInfo,
    bytes: Bytes,
    to_json: F,
) -> Result<LedgerResponse, ApiError>
where
    F: for<'c> FnOnce(&'c Chain, Bytes) -> Result<ValueJson<'c>, ErrorKind> + Send + 'static,
{
    if cx.format() == Format::Bcs {
        return Ok(body.respond_with(ledger_info, Format::Bcs, vec![bytes]));
    }
    let size_bytes = bytes.len();
    let chain = cx.chain().clone();
    cx.render(size_bytes, move || {
        let value = to_json(&chain, bytes).map_err(|problem| problem.at(ledger_info))?;
        body.json(ledger_info, &value)
    })
    .await
}

fn parse_type(name: &str, text: &str) -> Result<TypeTag, ErrorKind> {
    text.parse()
        .map_err(|cause| ErrorKind::InvalidInput(format!("{name} is not a valid type: {cause}")))
}

/// The key of a requested item.
struct ItemKey {
    handle: AccountAddress,
    state_key: StateKey,
    /// The key as in the request.
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

    fn read(self, snapshot: &Snapshot, version: u64) -> Result<Bytes, QueryError> {
        let found = snapshot.state_value(&self.state_key, version)?;
        Ok(found.ok_or(ErrorKind::TableItemNotFound {
            handle: self.handle,
            key: self.shown,
            version,
        })?)
    }
}
