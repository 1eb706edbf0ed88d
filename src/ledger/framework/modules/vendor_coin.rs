//! `0x1::{vendor}_coin`: the type of the native coin, in which fees are paid.

use ledger_types::{StructTag, TypeTag, Vendor};
use ledger_vm::{ModuleDeclaration, StructDeclaration};

/// Number of decimal places between one native coin and its smallest unit.
pub const DECIMALS: u8 = 8;

/// Returns the type of the native coin of a chain with this vendor word.
pub fn native_coin(vendor: &Vendor) -> TypeTag {
    let module = format!("{}_coin", vendor.lower());
    let name = format!("{}Coin", vendor.camel());
    StructTag::framework(&module, &name, vec![]).into()
}

pub(super) fn module() -> ModuleDeclaration {
    let coin = StructDeclaration {
        name: "{Vendor}Coin",
        abilities: &["key"],
        is_event: false,
        type_parameters: vec![],
        is_group_member: false,
        // A struct without fields encodes as one byte (docs/reference/framework.md#f8).
        fields: vec![("dummy_field", <bool as ledger_vm::MoveType>::signature())],
    };
    ModuleDeclaration {
        name: "{vendor}_coin",
        structs: vec![coin],
        functions: vec![],
        errors: &[],
    }
}
