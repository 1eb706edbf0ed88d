//! The modules of the framework, one declaration each. To add one: its file, its line here with the
//! next version of the framework, and `FRAMEWORK_VERSION` one up.

pub mod account;
pub mod block;
pub mod chain_id;
pub mod chain_status;
pub mod coin;
pub mod event;
pub mod gas_schedule;
pub mod object;
pub mod optional_aggregator;
pub mod simple_map;
pub mod table;
pub mod timestamp;
pub mod table_with_length;
pub mod transaction_fee;
pub mod vendor_account;
pub mod vendor_coin;

use super::{ListedModule, declare::ModuleDeclaration};

/// Every module, with the version of the framework that it came with.
pub(super) fn all() -> Vec<ListedModule> {
    let listed = |since_version, declaration| ListedModule {
        since_version,
        declaration,
    };
    first_version()
        .into_iter()
        .map(|module| listed(1, module))
        .collect()
}

/// The modules that every chain has from its genesis on.
fn first_version() -> Vec<ModuleDeclaration> {
    vec![
        account::module(),
        optional_aggregator::aggregator_module(),
        block::module(),
        chain_id::module(),
        chain_status::module(),
        coin::module(),
        event::module(),
        event::guid_module(),
        gas_schedule::module(),
        object::module(),
        optional_aggregator::module(),
        simple_map::module(),
        table::module(),
        table_with_length::module(),
        timestamp::module(),
        transaction_fee::module(),
        transaction_fee::validation_module(),
        account::type_info_module(),
        vendor_account::module(),
        vendor_coin::module(),
    ]
}
