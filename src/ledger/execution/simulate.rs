//! Runs a transaction that nobody signed, on the newest state, to see what it would do and cost.

use super::{
    finalize::{ExecutedOutput, Output, finalize},
    user::{ExecutionMode, Outcome, execute_user},
};
use ledger_types::{
    Accumulator, CheckedTransaction, ExecutedTransaction, ExecutionStatus, LedgerInfo,
    SignedTransaction, StateError, StateView, Transaction, WriteSet,
};
use ledger_vm::{BlockState, Chain, Environment};

/// What `transaction` would do right after the ledger stood as `info` says, in a block of its own that is
/// cut when the clock shows `now_usecs`: a ledger that nobody used for a while has an old time, by which
/// what expires within a bound of the block would be judged wrongly. Its signatures are not looked at;
/// where it names a key, that must be the account's. The root of the accumulator in the result stands
/// for nothing.
///
/// A transaction that would be refused fails with the status of the refusal, uses nothing and does
/// nothing: that is how SDKs expect to be told.
///
/// # Errors
/// When the state cannot be read.
pub fn simulate(
    chain: &Chain,
    state: &dyn StateView,
    info: &LedgerInfo,
    now_usecs: u64,
    transaction: &SignedTransaction,
) -> Result<ExecutedTransaction, StateError> {
    let checked = CheckedTransaction::trusted(transaction.clone(), chain.vendor());
    let environment = Environment::after(info, checked.hash()).not_before(now_usecs);
    let state = BlockState::new(state);
    let output = match execute_user(
        chain,
        &state,
        &checked,
        environment,
        ExecutionMode::Simulate,
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
