//! What the state holds at an address: account, resource, balance. All of them take
//! `ledger_version`.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind},
    model::{
        format::Format,
        json::{JsonString, ResourceJson},
        read_resource,
    },
};
use ledger_crypto::hex_text;
use ledger_framework::{self, AssetType, modules::account::Account};
use ledger_types::{AccountAddress, StateKey, StructTag};
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;

/// An account.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AccountJson {
    /// That of its next transaction.
    sequence_number: JsonString<u64>,
    /// What its signatures are held against, in hex.
    #[schemars(regex(pattern = "^0x([0-9a-f]{2})*$"))]
    authentication_key: String,
}

/// `GET /v1/accounts/{address}`
///
/// Every address is an account: until something is written there it reads as the implicit one, with
/// sequence number 0 and itself as authentication key.
pub(crate) async fn account(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let key = StateKey::resource(&address, &cx.chain().registry().tag_of::<Account>(&[]));
    let (ledger_info, stored) = cx
        .read_few_of_state(move |snapshot, version| snapshot.state_value(&key, version).map(Ok))
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

/// `GET /v1/accounts/{address}/resource/{resource_type}`
pub(crate) async fn resource(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let tag: StructTag = cx.path("resource_type")?;
    let (asked, chain) = (tag.clone(), cx.chain().clone());
    let (ledger_info, bytes) = cx
        .read_few_of_state(move |snapshot, version| {
            let found = read_resource(&chain, snapshot, &address, &asked, version)?;
            Ok(found.ok_or(ErrorKind::ResourceNotFound {
                address,
                tag: Box::new(asked),
                version,
            }))
        })
        .await?;
    match cx.format() {
        Format::Json => {
            LedgerResponse::json(ledger_info, &ResourceJson::new(cx.chain(), tag, bytes))
        }
        Format::Bcs => Ok(LedgerResponse::bytes(ledger_info, Format::Bcs, bytes)),
    }
}

/// `GET /v1/accounts/{address}/balance/{asset_type}`
///
/// The balance is a JSON number (docs/reference/rest-contract.md#s4-8), and 0 for an unknown account or asset
/// (docs/interface.md#rule-11).
pub(crate) async fn balance(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let AssetName(asset) = cx.path("asset_type")?;
    let chain = cx.chain().clone();
    let (ledger_info, balance) = cx
        .read_few_of_state(move |snapshot, version| {
            let balance =
                ledger_framework::balance(&chain, &snapshot.state_at(version), &address, &asset);
            Ok(balance.map_err(|cause| ErrorKind::internal("reading a balance failed", &cause)))
        })
        .await?;
    cx.answer(ledger_info, || balance, || balance)
}

/// An asset in a path: an address, with or without `0x`, or a coin type.
struct AssetName(AssetType);

impl FromStr for AssetName {
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
