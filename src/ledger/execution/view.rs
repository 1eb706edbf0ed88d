//! Execution of view functions, which read one version of the state and change nothing.

use crate::environment::newest_block;
use bytes::Bytes;
use ledger_types::{EntryFunction, ExecutionStatus, StateError, StateView, TypeTag};
use ledger_vm::{
    BlockState, Chain, Context, GasMeter, Inputs, Interrupt, MiscellaneousStatus, VmError,
    intrinsic_internal_gas,
};

/// Maximum gas units of a view, as on the reference node (docs/reference/reference-node.md#r12).
pub const VIEW_GAS_MAX: u64 = 2_000_000;

/// Result of a view function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewOutput {
    /// Return values in BCS, with their types.
    pub values: Vec<(TypeTag, Bytes)>,
    /// Gas used, in gas units.
    pub gas_used: u64,
}

/// An error of [`view`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum ViewError {
    /// There is no such view function, or it fails, or its gas is used up.
    #[error("the view function failed")]
    Failed(ViewFailure),
    /// The state cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Failure of a view function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFailure {
    /// Status that a transaction with this failure would have.
    pub status: ExecutionStatus,
    /// Status code of the failure (docs/reference/reference-node.md#r15), which `status` does not
    /// always determine.
    pub code: u64,
}

impl ViewFailure {
    /// Returns the text of the status; see [`Chain::vm_status`].
    pub fn vm_status(&self, chain: &Chain) -> String {
        chain.vm_status(&self.status)
    }
}

/// Runs the view function of `call` on `state`, with at most [`VIEW_GAS_MAX`] gas units, until
/// `interrupt` ends it.
///
/// # Errors
///
/// * [`ViewError::Failed`] if the framework version of the newest block has no such view function,
///   if the function fails, if its gas is used up, or if it is interrupted, which has the status of
///   used-up gas.
/// * [`ViewError::State`] if the state cannot be read.
pub fn view(
    chain: &Chain,
    state: &dyn StateView,
    call: &EntryFunction,
    interrupt: Option<Interrupt>,
) -> Result<ViewOutput, ViewError> {
    let state = BlockState::new(state);
    let environment = newest_block(chain, &state)?;
    // Argument bytes are charged as in a transaction, because they are decoded and may be returned
    // unchanged.
    let size_bytes = call.args.iter().map(Bytes::len).sum();
    let mut context = Context::new(
        chain,
        &state,
        environment,
        GasMeter::new(VIEW_GAS_MAX, intrinsic_internal_gas(size_bytes, 1))
            .with_interrupt(interrupt),
    );
    match run(&mut context, call) {
        Ok(values) => Ok(ViewOutput {
            values,
            gas_used: context.gas_used().total,
        }),
        Err(failure) => Err(ViewError::Failed(ViewFailure {
            code: code(&failure)?,
            status: failure.into_status(chain, Some(call))?,
        })),
    }
}

/// Calls the function. Returns its values with their types.
///
/// # Errors
///
/// Fails with:
///
/// * `LINKER_ERROR` if the framework version of the block has no such module.
/// * `FUNCTION_RESOLUTION_FAILURE` if the module has no such function.
/// * `INVALID_MAIN_FUNCTION_SIGNATURE` if the function is no view function, or has another number
///   of arguments.
/// * The error of the function.
fn run(context: &mut Context<'_>, call: &EntryFunction) -> Result<Vec<(TypeTag, Bytes)>, VmError> {
    let registry = context.chain().registry();
    let function = registry.called_function(call, context.framework_version())?;
    if !function.is_view() {
        return Err(MiscellaneousStatus::InvalidMainFunctionSignature.into());
    }
    let values = function
        .call(context, &call.type_args, Inputs::new(&[], &call.args))
        .map_err(|failure| match failure {
            VmError::Miscellaneous(MiscellaneousStatus::NumberOfArgumentsMismatch) => {
                MiscellaneousStatus::InvalidMainFunctionSignature.into()
            }
            failure => failure,
        })?;
    let types = context
        .chain()
        .registry()
        .return_types(function, &call.type_args)
        .ok_or(MiscellaneousStatus::TypeResolutionFailure)?;
    Ok(types.into_iter().zip(values).collect())
}

/// Status code of a type that its module does not declare, in a view.
const UNKNOWN_TYPE: u64 = 2021;

/// Returns the status code of a failure, which for an unknown type is not that of a transaction.
fn code(failure: &VmError) -> Result<u64, StateError> {
    match failure {
        VmError::Miscellaneous(MiscellaneousStatus::TypeResolutionFailure) => Ok(UNKNOWN_TYPE),
        failure => failure.code(),
    }
}
