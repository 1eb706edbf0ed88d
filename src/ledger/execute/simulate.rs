//! Runs a transaction that nobody signed, on the newest state, to see what it would do and cost.

use super::{
    BlockState, Discard,
    block::commit_output,
    context::Environment,
    user::{Outcome, Purpose, execute_user},
};
use crate::{
    Accumulator, Chain, CheckedTransaction, ExecutedTransaction, LedgerInfo, SignedTransaction, StateError,
    StateView, Transaction,
};

/// Why a simulation has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SimulateError {
    /// The transaction would be refused.
    #[error(transparent)]
    Discard(#[from] Discard),
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
}

/// What `transaction` would do right after the ledger stood as `info` says, in a block of its own at
/// the same time. Its signatures are not looked at; where it names a key, that must be the account's.
/// The root of the accumulator in the result stands for nothing.
///
/// # Errors
/// When it would be refused, or the state cannot be read.
pub fn simulate(
    chain: &Chain,
    state: &dyn StateView,
    info: &LedgerInfo,
    transaction: &SignedTransaction,
) -> Result<ExecutedTransaction, SimulateError> {
    let checked = CheckedTransaction::trusted(transaction.clone(), chain.vendor());
    let environment = Environment {
        height: info.block_height.saturating_add(1),
        timestamp_usecs: info.timestamp_usecs,
        transaction_hash: checked.hash(),
    };
    let state = BlockState::new(state);
    match execute_user(chain, &state, &checked, environment, Purpose::Simulate)? {
        Outcome::Discarded(discard) => Err(discard.into()),
        Outcome::Kept { output, .. } => {
            let hash = checked.hash();
            let transaction = Transaction::User(checked.into_transaction());
            let accumulator = &mut Accumulator::default();
            Ok(commit_output(chain, accumulator, transaction, hash, output))
        }
    }
}
