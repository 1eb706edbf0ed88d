//! Calls of entry functions.

use ledger_types::{AccountAddress, EntryFunction};
use ledger_vm::{Context, Inputs, MiscellaneousStatus, VmError};

/// Calls an entry function with `signers` as its signers.
///
/// # Errors
///
/// Fails with:
///
/// * `LINKER_ERROR` if the framework version of the block has no such module.
/// * `FUNCTION_RESOLUTION_FAILURE` if the module has no such function.
/// * `INVALID_MAIN_FUNCTION_SIGNATURE` if the function is no entry function.
/// * The error of the function.
pub(super) fn call_entry_function(
    context: &mut Context<'_>,
    signers: &[AccountAddress],
    call: &EntryFunction,
) -> Result<(), VmError> {
    let registry = context.chain().registry();
    let function = registry.called_function(call, context.framework_version())?;
    if !function.is_entry() {
        return Err(MiscellaneousStatus::InvalidMainFunctionSignature.into());
    }
    function.call(context, &call.type_args, Inputs::new(signers, &call.args))?;
    Ok(())
}
