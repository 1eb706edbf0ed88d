//! What the state holds at an address: account, resources, modules, balances.

use super::{
    ErrorCode, Operation, StatusCode, Success, Tag, Value, documented_only, error, errors, json,
    parameter, schema,
};
use crate::{
    model::json::{ModuleJson, ResourceJson},
    routes::accounts::AccountJson,
};

/// A read of the state at an address.
fn read(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    Operation::new(id, Tag::Accounts, summary, description)
        .parameter(parameter::address())
        .parameter(parameter::ledger_version())
        .errors(errors::STATE_VERSION)
}

/// `GET /v1/accounts/{address}`
pub(crate) fn account() -> Operation {
    let example = json!({
        "sequence_number": "0",
        "authentication_key": format!("0x{:064x}", 1),
    });
    let success = Success::ok("The account.")
        .json(schema::<AccountJson>(), example)
        .bcs("The account resource as BCS, as the state stores it.");
    read(
        "get_account",
        "Sequence number and authentication key",
        "`sequence_number` is that of the next transaction of the account. Every address is an account: one \
         that nothing was written to has sequence number 0, and its address for authentication key.",
    )
    .success(success)
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never the answer here, as every address is an account; other nodes of this interface may give it.",
    )])
}

/// `GET /v1/accounts/{address}/resources`
pub(crate) fn resources() -> Operation {
    let success = Success::ok("A page of the resources.")
        .json(schema::<Vec<ResourceJson>>(), json!([resource_example()]))
        .bcs("A BCS map from the type of a resource to its bytes.")
        .with_cursor()
        .link("next_page", "get_account_resources", NEXT_PAGE);
    read(
        "get_account_resources",
        "The resources of an account",
        "All resources at the address, members of resource groups beside the others; modules are listed apart. \
         A page ends with its limit or at about 8 MiB. One that does not hold the rest has `X-{VENDOR}-CURSOR`, \
         which is the `start` of the next one; give the `ledger_version` of the first page with it, so that all \
         pages are of one moment. A page may be shorter than its limit, even empty, and still have a cursor.",
    )
    .parameter(start(RESOURCE_CURSOR))
    .parameter(parameter::limit(
        "How many resources a page has at most; 9999 without it and above it.",
    ))
    .success(success)
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "`start` is no cursor of this account on this node.",
    )])
}

fn resource_example() -> Value {
    json!({"type": "0x1::chain_id::ChainId", "data": {"id": 4}})
}

/// `GET /v1/accounts/{address}/resource/{resource_type}`
pub(crate) fn resource() -> Operation {
    let success = Success::ok("The resource.")
        .json(schema::<ResourceJson>(), resource_example())
        .bcs("The resource as BCS, as the state stores it.");
    read(
        "get_account_resource",
        "One resource of an account",
        "The resource of this type at the address, also where it is a member of a resource group. The type is a \
         struct tag, to be percent-encoded where it has type arguments; white space in it makes no difference.",
    )
    .parameter(parameter::path(
        "resource_type",
        "The type of the resource.",
        parameter::struct_tag_text(),
        "0x1::chain_id::ChainId",
    ))
    .success(success)
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::ResourceNotFound,
        "There is no such resource at the address at this version.",
    )])
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

/// `GET /v1/accounts/{address}/module/{module_name}`
pub(crate) fn module() -> Operation {
    let success = Success::ok("The module.")
        .json(schema::<ModuleJson>(), module_example())
        .bcs("The bytecode, which is empty for modules that are part of the node.");
    read(
        "get_account_module",
        "One module of an account",
        "The interface of a module: its functions and structs. The modules of this chain are part of the node, so \
         `bytecode` is `0x`.",
    )
    .parameter(parameter::path(
        "module_name",
        "The name of the module.",
        parameter::identifier_text(),
        "chain_id",
    ))
    .success(success)
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::ModuleNotFound,
        "There is no such module at the address at this version.",
    )])
}

/// `GET /v1/accounts/{address}/modules`
pub(crate) fn modules() -> Operation {
    let success = Success::ok("A page of the modules, ascending by name.")
        .json(schema::<Vec<ModuleJson>>(), json!([module_example()]))
        .bcs("A BCS map from module to bytecode, which is empty for modules that are part of the node.")
        .with_cursor()
        .link("next_page", "get_account_modules", NEXT_PAGE);
    read(
        "get_account_modules",
        "The modules of an account",
        "All modules at the address. A page that does not hold the rest has `X-{VENDOR}-CURSOR`, which is the \
         `start` of the next one; give the `ledger_version` of the first page with it, so that all pages are of \
         one moment.",
    )
    .parameter(start(MODULE_CURSOR))
    .parameter(parameter::limit("How many modules a page has at most; 9999 without it and above it."))
    .success(success)
    .errors(errors::LIMIT)
}

/// Where the next page of a listing with a cursor begins. Runtime expressions name the header of the chain.
const NEXT_PAGE: &[(&str, &str)] = &[
    ("address", "$request.path.address"),
    ("start", "$response.header.x-{VENDOR}-cursor"),
];

/// Where a page of a listing with a cursor begins.
fn start(example: &'static str) -> parameter::Parameter {
    parameter::query(
        "start",
        "Where the page begins: the cursor of the page before it. It means nothing outside of this node.",
        json!({"type": "string", "pattern": "^(0x)?([0-9a-fA-F]{2})+$"}),
        example,
    )
}

/// The cursor of the module `aggregator` at `0x1`.
const MODULE_CURSOR: &str = "0000000000000000000000000000000000000000000000000000000000000000012c\
                             0000000000000000000000000000000000000000000000000000000000000000010a\
                             61676772656761746f72";

/// A cursor of resources. Each node has its own, so that this one is none of any other.
const RESOURCE_CURSOR: &str = "8bdb33df861b2b2fbc0ba7302846b6c8";

/// `GET /v1/accounts/{address}/balance/{asset_type}`
pub(crate) fn balance() -> Operation {
    let success = Success::ok("The balance, a number.")
        .json(schema::<u64>(), json!(1_000_000))
        .bcs("The balance as a BCS u64.");
    read(
        "get_account_balance",
        "The balance of a coin or a fungible asset",
        "The balance in the asset's smallest unit. An asset is named by the type of its coin or by the address of its metadata; of a \
         fungible asset only the primary store counts. What is unknown has balance 0.",
    )
    .parameter(parameter::path(
        "asset_type",
        "An address, with or without `0x`, or the struct tag of a coin.",
        json!({"type": "string", "maxLength": 4096, "anyOf": [
            parameter::address_text(),
            parameter::struct_tag_text(),
        ]}),
        "0xa",
    ))
    .success(success)
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never the answer here: what is unknown has balance 0.",
    )])
}
