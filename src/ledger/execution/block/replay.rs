//! Execution of a committed block once more, to compare its results with the stored ones.

use super::{BlockExecution, ExecuteError};
use crate::finalize::finalize;
use ledger_types::{Accumulator, BlockHeader, CheckedTransaction, ExecutedTransaction, StateView};
use ledger_vm::Chain;
use std::sync::Arc;

/// Executes the committed user transactions of the block with `header` again on `view`, the state
/// before the block, and appends their infos to `accumulator`.
///
/// The discarded transactions of the block are not needed, because they change no state. So this is
/// exact, but does not verify their status codes.
///
/// # Errors
///
/// * [`ExecuteError::State`] if the state cannot be read.
/// * [`ExecuteError::Invariant`] if a transaction is rejected, if a limit of the block is reached
///   before it, or if the metadata or epilogue transaction fails: such a block was never committed
///   on this state.
pub fn replay_block(
    chain: &Chain,
    view: &dyn StateView,
    accumulator: &mut Accumulator,
    header: &BlockHeader,
    transactions: &[Arc<CheckedTransaction>],
) -> Result<Vec<ExecutedTransaction>, ExecuteError> {
    let height = header.height;
    let mut execution = BlockExecution::new(chain, header, view, transactions);
    execution.execute_metadata(header)?;
    for transaction in transactions {
        let invariant = |reason: &str| ExecuteError::Invariant {
            height,
            reason: format!("its committed transaction {} {reason}", transaction.hash()),
        };
        if execution.is_full() {
            return Err(invariant("follows the one that reached a limit"));
        }
        if let Some(discard) = execution.execute_user(transaction)? {
            let code = discard.status.code();
            return Err(invariant(&format!("is rejected with status {code}")));
        }
    }
    execution.execute_epilogue(height)?;
    Ok(finalize(chain, accumulator, execution.outputs))
}
