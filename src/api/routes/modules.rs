//! Reads of one module or of all modules at an address.
//!
//! Modules are native and part of the chain, not of the state. A module exists, without bytecode,
//! at every version whose framework includes it.

use super::accounts::{Address, CURSOR_DESCRIPTION, NEXT_PAGE, cursor_text, state_operation};
use crate::{
    context::{
        LedgerResponse, RequestContext, block_of_version,
        extract::{AtVersion, Combine, PageLimit, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{
        format::Format,
        json::{HexBytes, ModuleJson},
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success},
        parameter::identifier_text,
        schemas::schema,
    },
};
use bytes::Bytes;
use ledger_limits::{Demand, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, Identifier, ModuleId, StateKey, StateKeyParts};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{collections::BTreeMap, str::FromStr};

/// Maximum number of modules in a page, as on the reference node.
type Limit = PageLimit<9_999, 9_999>;

/// Size of content that is rendered in the time of a module, in bytes: 25 us, because the interface
/// of a module is made for each response (`benches/results/2026-11-27-loads.md`).
const MODULE_BYTES: usize = 2 * 1024;

/// Returns the version of the framework at a version of the ledger.
fn framework_version(chain: &Chain, snapshot: &Snapshot, version: u64) -> Result<u64, StoreError> {
    let block = block_of_version(snapshot, version)?;
    Ok(chain.parameters().framework_version(block.header.height))
}

/// The name of a module.
pub(super) enum ModuleName {}

impl Parameter for ModuleName {
    type Value = Identifier;
    const NAME: &'static str = "module_name";
    const DESCRIPTION: &'static str = "Name of the module.";
    const SCHEMA: fn() -> Value = identifier_text;
    const EXAMPLE: fn() -> Value = || json!("chain_id");
}

fn module_example() -> Value {
    json!({"bytecode": "0x", "abi": {
        "address": "0x1",
        "name": "chain_id",
        "friends": [],
        "exposed_functions": [{
            "name": "get",
            "visibility": "public",
            "is_entry": false,
            "is_view": true,
            "generic_type_params": [],
            "params": [],
            "return": ["u8"],
        }],
        "structs": [{
            "name": "ChainId",
            "is_native": false,
            "is_event": false,
            "abilities": ["key"],
            "generic_type_params": [],
            "fields": [{"name": "id", "type": "u8"}],
        }],
    }})
}

/// Handles `GET /v1/accounts/{address}/module/{module_name}`.
pub(super) async fn module(
    cx: RequestContext,
    Path(address): Path<Address>,
    Path(name): Path<ModuleName>,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let id = ModuleId { address, name };
    let chain = cx.chain().clone();
    let (ledger_info, (version, framework_version)) = cx
        .read(WorkKind::PointRead, Demand::rows(1), move |snapshot| {
            let version = version.resolve(snapshot)?;
            Ok((version, framework_version(&chain, snapshot, version)?))
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

/// Describes [`module`].
pub(super) fn describe_module() -> Operation {
    let success = Success::ok("The module.")
        .json(schema::<ModuleJson>(), module_example())
        .bcs("Bytecode, which is empty for modules that are part of the node.");
    state_operation(
        "get_account_module",
        "Get a module of an account",
        "Returns the interface of a module: its functions and structs. The modules of this chain \
         are part of the node, so `bytecode` is `0x`.",
    )
    .parameter(Path::<ModuleName>::describe())
    .success(success)
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::ModuleNotFound,
        "The address does not have this module at this version.",
    )])
}

/// Handles `GET /v1/accounts/{address}/modules`.
pub(super) async fn modules(
    cx: RequestContext,
    PageStart { address, start }: PageStart,
    PageLimit(limit): Limit,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let chain = cx.chain().clone();
    let (ledger_info, framework_version) = cx
        .read(WorkKind::PointRead, Demand::rows(1), move |snapshot| {
            let version = version.resolve(snapshot)?;
            Ok(framework_version(&chain, snapshot, version)?)
        })
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
    let (chain, format, body) = (cx.chain().clone(), cx.format(), cx.body_writer());
    let response = cx.render(page.len() * MODULE_BYTES, move || match format {
        Format::Json => {
            let view = |id| ModuleJson::declared(&chain, id);
            let views: Vec<_> = page.iter().filter_map(view).collect();
            body.json(ledger_info, &views)
        }
        Format::Bcs => {
            let modules = page.iter().map(|id| (id.to_string(), Bytes::new()));
            body.bcs(ledger_info, &modules.collect::<BTreeMap<_, _>>())
        }
    });
    Ok(response.await?.with_cursor(next))
}

/// Describes [`modules`].
pub(super) fn describe_modules() -> Operation {
    let success = Success::ok("A page of modules, in ascending order of name.")
        .json(schema::<Vec<ModuleJson>>(), json!([module_example()]))
        .bcs(
            "BCS map from the text of a module id to bytecode, which is empty for modules that \
             are part of the node.",
        )
        .with_cursor()
        .link("next_page", "get_account_modules", NEXT_PAGE);
    state_operation(
        "get_account_modules",
        "List the modules of an account",
        "Lists all modules at the address. If modules remain, the response has \
         `X-{VENDOR}-CURSOR`, which is the `start` of the next page. Request every page with the \
         `ledger_version` of the first page, so that all pages show the same version.",
    )
    .parameter(QueryParameter::<Cursor>::describe())
    .parameter(Limit::describe(
        "Maximum number of modules in the page: 9999 by default, higher values count as 9999.",
    ))
    .success(success)
    .errors(errors::LIMIT)
}

/// An account, and the cursor at which a page of its modules starts.
pub(super) struct PageStart {
    address: AccountAddress,
    start: Option<Cursor>,
}

impl Combine for PageStart {
    type Parts = (Path<Address>, QueryParameter<Cursor>);

    fn combine((Path(address), QueryParameter(start)): Self::Parts) -> Result<Self, ErrorKind> {
        if start
            .as_ref()
            .is_some_and(|Cursor(start)| start.address != address)
        {
            let other = format!("the cursor does not belong to the account {address}");
            return Err(ErrorKind::InvalidInput(other));
        }
        Ok(Self { address, start })
    }
}

/// The cursor of a page: the state key of its first module, in hexadecimal
/// (docs/reference/reference-node.md#r30).
pub(super) struct Cursor(ModuleId);

impl Parameter for Cursor {
    type Value = Self;
    const NAME: &'static str = "start";
    const DESCRIPTION: &'static str = CURSOR_DESCRIPTION;
    const SCHEMA: fn() -> Value = cursor_text;
    /// Cursor of the module `aggregator` at `0x1`.
    const EXAMPLE: fn() -> Value = || {
        json!(
            "0000000000000000000000000000000000000000000000000000000000000000012c\
             0000000000000000000000000000000000000000000000000000000000000000010a\
             61676772656761746f72"
        )
    };
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let HexBytes(key) = text.parse()?;
        match StateKey::from_encoded(key).decode() {
            Ok(StateKeyParts::Module(id)) => Ok(Self(id)),
            Ok(_) => Err("the cursor does not name a module".to_owned()),
            Err(cause) => Err(cause.to_string()),
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(StateKey::module(&self.0).as_bytes()))
    }
}
