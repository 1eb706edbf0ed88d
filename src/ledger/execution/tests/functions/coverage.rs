//! Coverage of the cases: each entry function has a success, and each abort code has a case.

use crate::functions::{Expected, World, cases};
use ledger_framework::FRAMEWORK_VERSION;
use ledger_types::{AccountAddress, ModuleId};
use std::collections::BTreeSet;

fn modules(world: &World) -> Vec<ModuleId> {
    world
        .chain()
        .registry()
        .module_names(&AccountAddress::ONE, FRAMEWORK_VERSION)
        .into_iter()
        .map(|name| ModuleId {
            address: AccountAddress::ONE,
            name,
        })
        .collect()
}

#[test]
fn covers_every_entry_function_with_a_success() {
    let world = World::new();
    let cases = cases();
    let covered: BTreeSet<&str> = cases
        .iter()
        .filter(|case| case.succeeds() || ALWAYS_FAIL.contains(&case.function))
        .map(|case| case.function)
        .collect();
    let mut missing = Vec::new();
    for module in modules(&world) {
        let abi = world.chain().registry().module_abi(&module).unwrap();
        for function in abi["exposed_functions"].as_array().unwrap() {
            let name = format!("{module}::{}", function["name"].as_str().unwrap());
            if function["is_entry"] == true && !covered.contains(name.as_str()) {
                missing.push(name);
            }
        }
    }
    assert!(
        missing.is_empty(),
        "entry functions without a case: {missing:#?}"
    );
}

/// Entry functions that the reference node retains only to reject their calls.
const ALWAYS_FAIL: &[&str] = &[
    "0x1::account::set_originating_address",
    "0x1::coin::upgrade_supply",
];

#[test]
fn covers_every_abort_code() {
    let world = World::new();
    let cases = cases();
    let covered_aborts: Vec<&str> = cases
        .iter()
        .filter_map(|case| match case.expected {
            Expected::Abort(text) => Some(text),
            _ => None,
        })
        .collect();
    let mut missing = Vec::new();
    for module in modules(&world) {
        for error in world.chain().registry().module_errors(&module) {
            let text = if error.name.is_empty() {
                format!("{module}: {:#x}", error.code())
            } else {
                format!("{module}: {}({:#x}): ", error.name, error.code())
            };
            if !covered_aborts.iter().any(|abort| abort.starts_with(&text))
                && !NOT_RAISED_BY_ENTRY_FUNCTIONS.contains(&error.name)
            {
                missing.push(text);
            }
        }
    }
    let absent_module_aborts = RAISED_FOR_ABSENT_MODULES.iter();
    missing.extend(
        absent_module_aborts
            .filter(|text| !covered_aborts.iter().any(|abort| abort.starts_with(**text)))
            .map(ToString::to_string),
    );
    assert!(missing.is_empty(), "aborts without a case: {missing:#?}");
}

/// Aborts in the names of modules that do not exist, as on the reference node. No ABI lists them.
const RAISED_FOR_ABSENT_MODULES: &[&str] = &[
    "0x1::option: EOPTION_NOT_SET(0x40001): ",
    "0x1::string: EINVALID_UTF8(0x1): ",
];

/// Errors that no entry function raises. `execution.rs` and `multisig/` test them;
/// `coin.rs`, `fungible_asset.rs` and `account/views.rs` test the errors of views.
const NOT_RAISED_BY_ENTRY_FUNCTIONS: &[&str] = &[
    "EOUT_OF_GAS",
    "EFUNGIBLE_METADATA_EXISTENCE",
    "E_NATIVE_FUN_NOT_AVAILABLE",
    "ENO_SIGNER_CAPABILITY_OFFERED",
    "ENOT_ENOUGH_APPROVALS",
    "EPAYLOAD_DOES_NOT_MATCH",
    "EPAYLOAD_DOES_NOT_MATCH_HASH",
];
