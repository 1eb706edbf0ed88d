//! `0x1::chain_status`: the marker for the end of genesis.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError, move_structs};

move_structs! {
    module "chain_status";

    /// The last resource that genesis writes. A chain that has it is operating.
    GenesisEndMarker as "GenesisEndMarker" has ["key"] {
        /// Placeholder: a struct without fields encodes as one byte.
        dummy_field: bool,
    }
}

/// Writes the marker. Genesis calls this last.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
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
