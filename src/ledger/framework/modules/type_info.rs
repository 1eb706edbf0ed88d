//! `0x1::type_info`: the name of a type as data in resources, events, and signed messages.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{ModuleDeclaration, MoveStruct, VmError, abort_codes, move_structs};

const MODULE: &str = "type_info";

abort_codes! {
    const ERRORS;
    pub E_NATIVE_FUN_NOT_AVAILABLE = None 1 "the type is no struct";
}

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

/// Checks that a type is a struct, which alone has a [`TypeInfo`].
///
/// # Errors
///
/// Aborts with `E_NATIVE_FUN_NOT_AVAILABLE` if it is another type.
pub fn ensure_struct(tag: &TypeTag) -> Result<(), VmError> {
    match tag {
        TypeTag::Struct(_) => Ok(()),
        _ => Err(VmError::Abort {
            module: MODULE,
            error: E_NATIVE_FUN_NOT_AVAILABLE,
        }),
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "type_info",
        structs: vec![TypeInfo::declaration()],
        functions: vec![],
        errors: ERRORS,
    }
}
