//! `0x1::chain_status`: whether genesis is over.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError, move_structs};

move_structs! {
    module "chain_status";

    /// The last that genesis writes: where it stands, the chain operates.
    GenesisEndMarker as "GenesisEndMarker" has ["key"] {
        /// What a struct without fields has in its BCS form.
        dummy_field: bool,
    }
}

/// Writes what the module has at genesis: its end.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let marker = GenesisEndMarker { dummy_field: false };
    context.write_resource(AccountAddress::ONE, &[], &marker)
}

fn is_operating(context: &mut Context<'_>, _: &[TypeTag]) -> Result<bool, VmError> {
    let marker: Option<GenesisEndMarker> = context.read_resource(AccountAddress::ONE, &[])?;
    Ok(marker.is_some())
}

fn is_genesis(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<bool, VmError> {
    Ok(!is_operating(context, type_args)?)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "chain_status",
        structs: vec![GenesisEndMarker::declaration()],
        functions: vec![
            Function::view("is_genesis", is_genesis),
            Function::view("is_operating", is_operating),
        ],
        errors: &[],
    }
}
