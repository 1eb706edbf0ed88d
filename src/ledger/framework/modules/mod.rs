//! The modules of the framework, one declaration each.
//!
//! To add a module, create its file and add its line to `LATER_VERSIONS` with the next framework
//! version. `../README.md` is a step-by-step guide.
//!
//! Functions that access the state return `VmError::State` if the state cannot be read or decoded,
//! and `VmError::OutOfGas` if gas runs out. An `# Errors` section that lists abort codes omits
//! these two.

pub mod account;
pub mod aggregator_v2;
pub mod block;
pub mod chain_id;
pub mod chain_status;
pub mod code;
pub mod coin;
pub mod dispatchable_fungible_asset;
pub mod ed25519;
pub mod escrow;
pub mod event;
pub mod exchange;
pub mod features;
pub mod fungible_asset;
pub mod gas_schedule;
pub mod managed_coin;
pub mod managed_fungible_asset;
pub mod managed_object;
pub mod multi_ed25519;
pub mod multi_key;
pub mod multisig_account;
pub mod nonce_validation;
pub mod object;
pub mod optional_aggregator;
pub mod primary_fungible_store;
pub mod reconfiguration;
pub mod registry;
pub mod resource_account;
pub mod simple_map;
pub mod single_key;
pub mod stake;
pub mod table;
pub mod table_with_length;
pub mod timestamp;
pub mod transaction_fee;
pub mod type_info;
pub mod vendor_account;
pub mod vendor_coin;

use ledger_vm::{ModuleDeclaration, RegisteredModule};

/// Returns every module with the framework version that introduced it.
pub(super) fn all() -> Vec<RegisteredModule> {
    let initial = first_version().into_iter().map(|module| (1, module));
    let to_registered = |(since_version, declaration)| RegisteredModule {
        since_version,
        declaration,
    };
    let later = LATER_VERSIONS
        .iter()
        .map(|(version, module)| (*version, module()));
    initial.chain(later).map(to_registered).collect()
}

/// A function that returns the declaration of a module.
type DeclareModule = fn() -> ModuleDeclaration;

/// Modules added after version 1, each with the framework version that introduced it.
///
/// A chain enables each version at a height of its own.
const LATER_VERSIONS: &[(u64, DeclareModule)] = &[
    (2, escrow::module),
    (3, exchange::module),
    (3, nonce_validation::module),
];

/// Returns the newest version that introduced a module.
pub(super) const fn newest_version() -> u64 {
    let mut newest = 1;
    let mut index = 0;
    // Iterators are not available while the compiler evaluates.
    while index < LATER_VERSIONS.len() {
        if LATER_VERSIONS[index].0 > newest {
            newest = LATER_VERSIONS[index].0;
        }
        index += 1;
    }
    newest
}

/// Returns the modules of version 1, which every chain has from genesis.
fn first_version() -> Vec<ModuleDeclaration> {
    vec![
        account::module(),
        optional_aggregator::aggregator_module(),
        aggregator_v2::module(),
        block::module(),
        chain_id::module(),
        chain_status::module(),
        code::module(),
        code::any_module(),
        coin::module(),
        ed25519::module(),
        dispatchable_fungible_asset::module(),
        event::module(),
        event::guid_module(),
        features::module(),
        fungible_asset::module(),
        gas_schedule::module(),
        multi_ed25519::module(),
        multi_key::module(),
        managed_coin::module(),
        managed_fungible_asset::module(),
        managed_object::module(),
        multisig_account::module(),
        object::module(),
        optional_aggregator::module(),
        resource_account::module(),
        primary_fungible_store::module(),
        reconfiguration::module(),
        registry::module(),
        simple_map::module(),
        single_key::module(),
        stake::module(),
        table::module(),
        table_with_length::module(),
        timestamp::module(),
        transaction_fee::module(),
        transaction_fee::validation_module(),
        type_info::module(),
        vendor_account::module(),
        vendor_coin::module(),
    ]
}
