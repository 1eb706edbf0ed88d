//! Runs a block: metadata, user transactions in order, epilogue.

use crate::{Chain, ChainTip, ExecutedBlock, OrderedBlock, StateError, StateView};

/// Why a block could not be executed; nothing of it may be committed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExecuteError {
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The block does not follow the tip, or the state breaks an invariant of the framework.
    #[error("block {height}: {reason}")]
    Invariant {
        /// The block's height.
        height: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Executes `block` on the state that `view` shows, right after `tip`. A pure function: the same
/// state, tip and block give the same hashes.
///
/// # Errors
/// When the state cannot be read or the block does not follow the tip.
pub fn execute_block(
    chain: &Chain,
    tip: &ChainTip,
    view: &dyn StateView,
    block: OrderedBlock,
) -> Result<ExecutedBlock, ExecuteError> {
    let _ = (chain, tip, view, block);
    todo!()
}
