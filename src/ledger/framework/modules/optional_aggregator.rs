//! `0x1::optional_aggregator` and `0x1::aggregator`: how a coin's supply is laid out. This ledger
//! keeps supplies as plain integers and changes the chain coin's once a block.

use crate::{
    AccountAddress,
    framework::declare::{ModuleDeclaration, MoveStruct, move_structs},
};

mod aggregator {
    use super::*;

    move_structs! {
        module "aggregator";

        /// A number kept in a table of its own; unused here, part of the layout.
        Aggregator as "Aggregator" has ["store"] {
            /// The table.
            handle: AccountAddress,
            /// The key in it.
            key: AccountAddress,
            /// The largest value.
            limit: u128,
        }
    }
}
pub use aggregator::Aggregator;

move_structs! {
    module "optional_aggregator";

    /// A number with a limit.
    Integer as "Integer" has ["store"] {
        /// The number.
        value: u128,
        /// The largest value.
        limit: u128,
    }

    /// Either an aggregator or an integer.
    OptionalAggregator as "OptionalAggregator" has ["store"] {
        /// Never set on this ledger.
        aggregator: Option<Aggregator>,
        /// The number.
        integer: Option<Integer>,
    }
}

impl OptionalAggregator {
    /// A number without a limit of its own.
    pub fn unlimited(value: u128) -> Self {
        Self {
            aggregator: None,
            integer: Some(Integer {
                value,
                limit: u128::MAX,
            }),
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "optional_aggregator",
        structs: vec![Integer::declaration(), OptionalAggregator::declaration()],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn aggregator_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "aggregator",
        structs: vec![Aggregator::declaration()],
        functions: vec![],
        errors: &[],
    }
}
