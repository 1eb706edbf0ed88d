//! `0x1::chain_id`: the chain id. Every transaction names it and is invalid on other chains.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError, move_structs};

move_structs! {
    module "chain_id";

    /// The chain id.
    ChainId as "ChainId" has ["key"] {
        /// Number of the chain.
        id: u8,
    }
}

/// Writes the chain id.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let id = context.chain().id();
    context.write_resource(AccountAddress::ONE, &[], &ChainId { id })
}

fn get(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u8, VmError> {
    let resource: ChainId = context.require_resource(AccountAddress::ONE, &[])?;
    Ok(resource.id)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "chain_id",
        structs: vec![ChainId::declaration()],
        functions: vec![Function::view("get", get)],
        errors: &[],
    }
}
