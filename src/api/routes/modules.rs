//! The modules at an address, alone or as a list. They are native and belong to the chain, not to the
//! state: each is there, without bytecode, at every version whose framework has it.

use crate::{
    context::{LedgerResponse, PageSize, RequestContext},
    error::{ApiError, ErrorKind},
    model::{
        format::Format,
        json::{HexBytes, ModuleJson},
    },
};
use bytes::Bytes;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, Identifier, ModuleId, StateKey, StateKeyParts};
use ledger_vm::Chain;
use std::{collections::BTreeMap, str::FromStr};

/// The reference's numbers: a client that asks for all gets all at once.
const PAGE: PageSize = PageSize {
    default: 9_999,
    max: 9_999,
};

/// The version of the framework that was on at a version of the ledger.
fn framework_version(chain: &Chain, snapshot: &Snapshot, version: u64) -> Result<u64, StoreError> {
    let block = snapshot.block_of_version(version)?.ok_or_else(|| {
        StoreError::Inconsistent(format!("the block of version {version} is missing"))
    })?;
    Ok(chain.parameters().framework_version(block.header.height))
}

/// `GET /v1/accounts/{address}/module/{module_name}`
pub(crate) async fn module(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let name: Identifier = cx.path("module_name")?;
    let id = ModuleId { address, name };
    let chain = cx.chain().clone();
    let (ledger_info, (version, framework_version)) = cx
        .read_state(move |snapshot, version| {
            Ok(Ok((version, framework_version(&chain, snapshot, version)?)))
        })
        .await?;
    let registry = cx.chain().registry();
    let declared = registry
        .has_module(&id, framework_version)
        .then(|| ModuleJson::declared(cx.chain(), &id));
    let Some(module) = declared.flatten() else {
        let name = id.name;
        return Err(ErrorKind::ModuleNotFound {
            address,
            name,
            version,
        }
        .at(ledger_info));
    };
    match cx.format() {
        Format::Json => LedgerResponse::json(ledger_info, &module),
        Format::Bcs => Ok(LedgerResponse::bytes(
            ledger_info,
            Format::Bcs,
            Bytes::new(),
        )),
    }
}

/// `GET /v1/accounts/{address}/modules`
pub(crate) async fn modules(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let start: Option<Cursor> = cx.query("start")?;
    if start
        .as_ref()
        .is_some_and(|Cursor(start)| start.address != address)
    {
        let other = format!("the cursor is none of the account {address}");
        return Err(ErrorKind::InvalidInput(other).into());
    }
    let limit = cx.limit(PAGE)?;
    let chain = cx.chain().clone();
    let (ledger_info, framework_version) = cx
        .read_state(move |snapshot, version| Ok(Ok(framework_version(&chain, snapshot, version)?)))
        .await?;
    let names = cx
        .chain()
        .registry()
        .module_names(&address, framework_version);
    let mut ids = names
        .into_iter()
        .filter(|name| {
            start
                .as_ref()
                .is_none_or(|Cursor(start)| *name >= start.name)
        })
        .map(|name| ModuleId { address, name });
    let page: Vec<ModuleId> = ids.by_ref().take(limit).collect();
    let next = ids.next().map(|id| Cursor(id).to_string());
    let json = || {
        let view = |id| ModuleJson::declared(cx.chain(), id);
        page.iter().filter_map(view).collect::<Vec<_>>()
    };
    let bcs = || {
        page.iter()
            .map(|id| (id, Bytes::new()))
            .collect::<BTreeMap<_, _>>()
    };
    Ok(cx.answer(ledger_info, json, bcs)?.with_cursor(next))
}

/// The cursor of a page: the state key of its first module, in hexadecimal
/// (docs/reference/reference-node.md#r30).
struct Cursor(ModuleId);

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let HexBytes(key) = text.parse()?;
        match StateKey::from_encoded(key).decode() {
            Ok(StateKeyParts::Module(id)) => Ok(Self(id)),
            Ok(_) => Err("the cursor names no module".to_owned()),
            Err(cause) => Err(cause.to_string()),
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(StateKey::module(&self.0).as_bytes()))
    }
}
