//! Simulation of a transaction on the newest state, without signatures.

use super::{
    finalize::{ExecutedOutput, Output, finalize},
    user::{Outcome, execute_user},
    validate::ExecutionMode,
};
use ledger_types::{
    Accumulator, CheckedTransaction, ExecutedTransaction, ExecutionStatus, LedgerInfo,
    SignedTransaction, StateError, StateView, Transaction, WriteSet,
};
use ledger_vm::{BlockState, Chain, Environment, Interrupt};

/// Executes `transaction` in a block of its own, directly after the ledger state that `info`
/// describes.
///
/// The time of the block is `now_usecs`, in microseconds since the Unix epoch, or the time of the
/// ledger if that is later. An idle ledger has an old time, which would give wrong results for
/// expirations that are bounded relative to the block time.
///
/// Signatures are not checked. A key that the transaction names must be the key of the account. The
/// accumulator root of the result has no meaning.
///
/// A transaction that validation rejects yields an output with the status code of the rejection, no
/// gas, and no changes, because SDKs expect a rejection in this form.
///
/// A call that `interrupt` ends has the status of used-up gas. What precedes and follows the call
/// is bounded by the size of the transaction, and is not interrupted.
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read.
pub fn simulate(
    chain: &Chain,
    state: &dyn StateView,
    info: &LedgerInfo,
    now_usecs: u64,
    transaction: &SignedTransaction,
    interrupt: Option<Interrupt>,
) -> Result<ExecutedTransaction, StateError> {
    let checked = CheckedTransaction::new_unchecked(transaction.clone(), chain.vendor());
    let environment = Environment::after(info, checked.hash()).with_time_at_least(now_usecs);
    let state = BlockState::new(state);
    let output = match execute_user(
        chain,
        &state,
        &checked,
        environment,
        ExecutionMode::Simulate,
        interrupt,
    )? {
        Outcome::Executed { output, .. } => output,
        Outcome::Discarded(discard) => Output {
            gas_used: 0,
            status: ExecutionStatus::MiscellaneousError(Some(discard.status.code())),
            events: Vec::new(),
            writes: WriteSet::default(),
        },
    };
    let hash = checked.hash();
    let transaction = Transaction::User(checked.shared());
    let outputs = vec![ExecutedOutput {
        transaction,
        hash,
        output,
    }];
    Ok(finalize(chain, &mut Accumulator::default(), outputs).remove(0))
}
