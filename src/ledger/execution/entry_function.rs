//! Calls of entry functions.

use ledger_types::{AccountAddress, EntryFunction};
use ledger_vm::{Context, Inputs, MiscellaneousStatus, VmError};

/// Calls an entry function with `signers` as its signers.
///
/// # Errors
///
/// Returns `LINKER_ERROR` if the framework version of the block has no such entry function, or the
/// error of the function.
pub(super) fn call_entry_function(
    context: &mut Context<'_>,
    signers: &[AccountAddress],
    call: &EntryFunction,
) -> Result<(), VmError> {
    let registry = context.chain().registry();
    let function = registry
        .function(&call.module, &call.function)
        .filter(|function| function.is_entry())
        .filter(|_| registry.has_module(&call.module, context.framework_version()))
        .ok_or(MiscellaneousStatus::LinkerError)?;
    function.call(context, &call.type_args, Inputs::new(signers, &call.args))?;
    Ok(())
}
