//! The modules of the framework, one declaration each.

pub mod account;
pub mod block;
pub mod coin;
pub mod event;
pub mod optional_aggregator;
pub mod transaction_fee;
pub mod vendor_account;
pub mod vendor_coin;

use super::declare::ModuleDeclaration;

/// Every module, in the order of their names.
pub(super) fn all() -> Vec<ModuleDeclaration> {
    vec![
        account::module(),
        optional_aggregator::aggregator_module(),
        block::module(),
        block::chain_id_module(),
        coin::module(),
        event::module(),
        event::guid_module(),
        optional_aggregator::module(),
        block::timestamp_module(),
        transaction_fee::module(),
        transaction_fee::validation_module(),
        account::type_info_module(),
        vendor_account::module(),
        vendor_coin::module(),
    ]
}
