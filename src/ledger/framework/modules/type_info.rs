//! `0x1::type_info`: what a type is called, as data inside resources, events and signed messages.

use ledger_types::AccountAddress;
use ledger_vm::{ModuleDeclaration, MoveStruct, move_structs};

move_structs! {
    module "type_info";

    /// What a type is called.
    TypeInfo as "TypeInfo" has ["copy", "drop", "store"] {
        /// Where its module lives.
        account_address: AccountAddress,
        /// The module's name.
        module_name: Vec<u8>,
        /// The struct's name with its type arguments.
        struct_name: Vec<u8>,
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "type_info",
        structs: vec![TypeInfo::declaration()],
        functions: vec![],
        errors: &[],
    }
}
