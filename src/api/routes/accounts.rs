//! Account, resource, and balance at an address, in the state of version `ledger_version`.

use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{AtVersion, Parameter, Path},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{
        format::Format,
        json::{JsonString, ResourceJson},
        read_resource,
    },
    openapi::{
        StatusCode,
        errors::{self, documented_only, error},
        operation::{Operation, Success, Tag},
        parameter::{address_text, struct_tag_text},
        schemas::schema,
    },
};
use ledger_crypto::hex_text;
use ledger_framework::{self, AssetType, modules::account::Account};
use ledger_types::{AccountAddress, StateKey, StructTag};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::str::FromStr;

/// The address of an account.
pub(crate) enum Address {}

impl Parameter for Address {
    type Value = AccountAddress;
    const NAME: &'static str = "address";
    const DESCRIPTION: &'static str =
        "Address of the account, with or without `0x`. Leading zeros may be omitted.";
    const SCHEMA: fn() -> Value = address_text;
    const EXAMPLE: fn() -> Value = || json!("0x1");
}

/// Describes a read of the state at an address.
pub(super) fn state_operation(
    id: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Operation {
    Operation::new(id, Tag::Accounts, summary, description)
        .parameter(Path::<Address>::describe())
        .parameter(AtVersion::describe())
        .errors(errors::STATE_VERSION)
}

/// Parameters of the next page of a list with a cursor, as runtime expressions.
pub(super) const NEXT_PAGE: &[(&str, &str)] = &[
    ("address", "$request.path.address"),
    ("start", "$response.header.x-{VENDOR}-cursor"),
];

/// Description of the cursor at which a page starts.
pub(super) const CURSOR_DESCRIPTION: &str = "Start of the page: the cursor of the previous page. A \
                                             cursor is valid only on this node.";

/// Returns the schema of a cursor.
pub(super) fn cursor_text() -> Value {
    json!({"type": "string", "pattern": "^(0x)?([0-9a-fA-F]{2})+$"})
}

/// An account.
#[derive(Serialize, JsonSchema)]
struct AccountJson {
    /// Sequence number of the next transaction.
    sequence_number: JsonString<u64>,
    /// Authentication key in hexadecimal. Signatures are checked against it.
    #[schemars(regex(pattern = "^0x([0-9a-f]{2})*$"))]
    authentication_key: String,
}

/// Handles `GET /v1/accounts/{address}`.
///
/// Every address is an account. An address without an account resource has the implicit account,
/// with sequence number 0 and the address as authentication key.
pub(super) async fn account(
    cx: RequestContext,
    Path(address): Path<Address>,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let key = StateKey::resource(&address, &cx.chain().registry().tag_of::<Account>(&[]));
    let (ledger_info, stored) = cx
        .read_few(move |snapshot| Ok(snapshot.state_value(&key, version.resolve(snapshot)?)?))
        .await?;
    let undecodable = |cause: bcs::Error| {
        ErrorKind::internal("an account cannot be decoded", &cause).at(ledger_info)
    };
    match (cx.format(), stored) {
        (Format::Bcs, Some(bytes)) => Ok(LedgerResponse::bytes(ledger_info, Format::Bcs, bytes)),
        (Format::Bcs, None) => LedgerResponse::bcs(ledger_info, &Account::implicit(address)),
        (Format::Json, stored) => {
            let account: Account = match stored {
                Some(bytes) => bcs::from_bytes(&bytes).map_err(undecodable)?,
                None => Account::implicit(address),
            };
            let json = AccountJson {
                sequence_number: JsonString(account.sequence_number),
                authentication_key: hex_text(&account.authentication_key),
            };
            LedgerResponse::json(ledger_info, &json)
        }
    }
}

/// Describes [`account`].
pub(super) fn describe_account() -> Operation {
    let example = json!({
        "sequence_number": "0",
        "authentication_key": format!("0x{:064x}", 1),
    });
    let success = Success::ok("The account.")
        .json(schema::<AccountJson>(), example)
        .bcs("The account resource in BCS, as the state stores it.");
    state_operation(
        "get_account",
        "Get the sequence number and authentication key of an account",
        "`sequence_number` is that of the next transaction of the account. Every address is an \
         account. An address without an account resource has sequence number 0, and its \
         address as authentication key.",
    )
    .success(success)
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never returned by this node, because every address is an account. Other nodes with this \
         API may return it.",
    )])
}

/// The type of a resource.
pub(super) enum ResourceType {}

impl Parameter for ResourceType {
    type Value = StructTag;
    const NAME: &'static str = "resource_type";
    const DESCRIPTION: &'static str = "Type of the resource.";
    const SCHEMA: fn() -> Value = struct_tag_text;
    const EXAMPLE: fn() -> Value = || json!("0x1::chain_id::ChainId");
}

/// Handles `GET /v1/accounts/{address}/resource/{resource_type}`.
pub(super) async fn resource(
    cx: RequestContext,
    Path(address): Path<Address>,
    Path(tag): Path<ResourceType>,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let (requested_tag, chain) = (tag.clone(), cx.chain().clone());
    let mut body = cx.body_writer();
    let (ledger_info, (bytes, body)) = cx
        .read_few(move |snapshot| {
            let version = version.resolve(snapshot)?;
            let found = read_resource(&chain, snapshot, &address, &requested_tag, version)?;
            let bytes = found.ok_or(ErrorKind::ResourceNotFound {
                address,
                tag: Box::new(requested_tag),
                version,
            })?;
            body.lease_values(bytes.len())?;
            Ok((bytes, body))
        })
        .await?;
    if cx.format() == Format::Bcs {
        return Ok(body.respond_with(ledger_info, Format::Bcs, vec![bytes]));
    }
    let size_bytes = bytes.len();
    let chain = cx.chain().clone();
    cx.render(size_bytes, move || {
        body.json(ledger_info, &ResourceJson::new(&chain, tag, bytes))
    })
    .await
}

/// Describes [`resource`].
pub(super) fn describe_resource() -> Operation {
    let success = Success::ok("The resource.")
        .json(schema::<ResourceJson>(), resource_example())
        .bcs("Stored bytes of the resource, in BCS.");
    state_operation(
        "get_account_resource",
        "Get a resource of an account",
        "Returns the resource of this type at the address, even if it is a member of a resource \
         group. The type is a struct tag, which must be percent-encoded if it has type arguments. \
         White space in it is ignored.",
    )
    .parameter(Path::<ResourceType>::describe())
    .success(success)
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::ResourceNotFound,
        "The address does not have this resource at this version.",
    )])
}

pub(super) fn resource_example() -> Value {
    json!({"type": "0x1::chain_id::ChainId", "data": {"id": 4}})
}

/// An asset in a path: an address, with or without `0x`, or a coin type.
pub(super) struct Asset(AssetType);

impl FromStr for Asset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self(AssetType::FungibleAsset(address)));
        }
        let tag = text
            .parse()
            .map_err(|cause| format!("neither an address nor a struct tag: {cause}"))?;
        Ok(Self(AssetType::Coin(tag)))
    }
}

impl Parameter for Asset {
    type Value = Self;
    const NAME: &'static str = "asset_type";
    const DESCRIPTION: &'static str = "Address with or without `0x`, or struct tag of a coin.";
    const SCHEMA: fn() -> Value = || {
        json!({"type": "string", "maxLength": 4096, "anyOf": [
            address_text(),
            struct_tag_text(),
        ]})
    };
    const EXAMPLE: fn() -> Value = || json!("0xa");
}

/// Handles `GET /v1/accounts/{address}/balance/{asset_type}`.
///
/// The balance is a JSON number (docs/reference/rest-contract.md#s4-8), and 0 for an unknown
/// account or asset (docs/use/interface.md#paired-assets).
pub(super) async fn balance(
    cx: RequestContext,
    Path(address): Path<Address>,
    Path(Asset(asset)): Path<Asset>,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let chain = cx.chain().clone();
    let (ledger_info, balance) = cx
        .read_few(move |snapshot| {
            let balance = snapshot.read_state(version.resolve(snapshot)?, |state| {
                Ok(ledger_framework::balance(&chain, state, &address, &asset))
            })?;
            Ok(balance.map_err(|cause| ErrorKind::internal("reading a balance failed", &cause))?)
        })
        .await?;
    cx.respond(ledger_info, || balance, || balance)
}

/// Describes [`balance`].
pub(super) fn describe_balance() -> Operation {
    let success = Success::ok("The balance, a JSON number.")
        .json(schema::<u64>(), json!(1_000_000))
        .bcs("The balance, as a BCS u64.");
    state_operation(
        "get_account_balance",
        "Get the balance of a coin or a fungible asset",
        "Returns the balance in the asset's smallest unit. An asset is identified by its coin type \
         or by the address of its metadata. For a fungible asset, only the primary store counts. \
         An unknown account or asset has balance 0.",
    )
    .parameter(Path::<Asset>::describe())
    .success(success)
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never returned by this operation: an unknown account or asset has balance 0.",
    )])
}
