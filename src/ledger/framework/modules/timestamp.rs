//! `0x1::timestamp`: the time of the newest block, which is the only clock of the ledger.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError, move_structs};

const USECS_PER_SEC: u64 = 1_000_000;

move_structs! {
    module "timestamp";

    /// The time of the newest block.
    CurrentTimeMicroseconds as "CurrentTimeMicroseconds" has ["key"] {
        /// Microseconds since 1970.
        microseconds: u64,
    }
}

/// Writes the time of genesis, which is 0.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let genesis_time = CurrentTimeMicroseconds { microseconds: 0 };
    context.write_resource(AccountAddress::ONE, &[], &genesis_time)
}

fn now_microseconds(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
    let now: CurrentTimeMicroseconds = context.require_resource(AccountAddress::ONE, &[])?;
    Ok(now.microseconds)
}

fn now_seconds(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<u64, VmError> {
    Ok(now_microseconds(context, type_args)? / USECS_PER_SEC)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "timestamp",
        structs: vec![CurrentTimeMicroseconds::declaration()],
        functions: vec![
            Function::view("now_microseconds", now_microseconds),
            Function::view("now_seconds", now_seconds),
        ],
        errors: &[],
    }
}
