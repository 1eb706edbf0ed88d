//! `0x1::type_info`: the name of a type as data in resources, events, and signed messages.

use ledger_types::AccountAddress;
use ledger_vm::{ModuleDeclaration, MoveStruct, move_structs};

move_structs! {
    module "type_info";

    /// The name of a type.
    TypeInfo as "TypeInfo" has ["copy", "drop", "store"] {
        /// Address of the module.
        account_address: AccountAddress,
        /// Name of the module.
        module_name: Vec<u8>,
        /// Name of the struct, including its type arguments.
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
