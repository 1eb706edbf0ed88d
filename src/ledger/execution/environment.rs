//! The block environment that belongs to a state.

use ledger_framework::modules::{block::BlockResource, timestamp::CurrentTimeMicroseconds};
use ledger_types::{AccountAddress, StateError};
use ledger_vm::{BlockState, Chain, Context, Environment, VmError};

/// Returns the environment of the newest block of `state`, without a transaction.
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read or does not contain the resources of a block.
pub(crate) fn newest_block(
    chain: &Chain,
    state: &BlockState<'_>,
) -> Result<Environment, StateError> {
    let mut context = Context::unmetered(chain, state, Environment::NONE);
    let into_state_error = |failure: VmError| match failure {
        VmError::State(error) => error,
        other => StateError(format!("the newest block is not in the state: {other:?}")),
    };
    let at = AccountAddress::ONE;
    let block: BlockResource = context
        .require_resource(at, &[])
        .map_err(into_state_error)?;
    let time: CurrentTimeMicroseconds = context
        .require_resource(at, &[])
        .map_err(into_state_error)?;
    Ok(Environment {
        height: block.height,
        timestamp_usecs: time.microseconds,
        ..Environment::NONE
    })
}
