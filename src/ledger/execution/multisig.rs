//! Execution of multisig payloads.
//!
//! One of the owners of a multisig account sends and pays for the next transaction of the account.
//! `modules::multisig_account` checks the required approvals.
//!
//! The effects of a payload that fails are rolled back. It counts as executed, and an event reports
//! the failure; the transaction that carried it succeeds. The transaction itself fails only if its
//! gas is used up or it exceeds a limit.

use super::entry_function::call_entry_function;
use ledger_framework::modules::multisig_account::{
    EACCOUNT_NOT_MULTISIG, ENOT_ENOUGH_APPROVALS, ENOT_OWNER, EPAYLOAD_DOES_NOT_MATCH,
    EPAYLOAD_DOES_NOT_MATCH_HASH, ETRANSACTION_NOT_FOUND, ExecutionError, check_payload,
    next_payload, resolve_failed, resolve_succeeded,
};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, EntryFunction, LedgerInfo, ModuleId,
    RawTransaction, StateError, StateView, ValidationStatus as Status,
    transaction::{Executable, MultisigPayload, SIGNED_TRANSACTION_DEPTH_MAX},
};
use ledger_vm::{
    BlockState, Chain, Context, Environment, ErrorConstant, MiscellaneousStatus, VmError,
};

/// Multisig payload of a transaction.
#[derive(Clone, Copy)]
pub(super) struct MultisigCall<'a> {
    /// Sender of the transaction.
    pub(super) executor: AccountAddress,
    /// Multisig account that acts.
    pub(super) account: AccountAddress,
    /// Called function, or `None` if the call is stored on the ledger.
    pub(super) call: Option<&'a EntryFunction>,
}

impl<'a> MultisigCall<'a> {
    /// Returns the multisig payload of `raw`, or `None` if it has none.
    pub(super) fn of(raw: &'a RawTransaction) -> Option<Self> {
        match raw.payload.executable() {
            Ok(Executable::Multisig { account, call }) => Some(Self {
                executor: raw.sender,
                account,
                call,
            }),
            _ => None,
        }
    }

    /// Returns the payload in the BCS form that a proposal stores or names by its hash.
    ///
    /// The form is the same for all wire forms of the payload. Returns `None` if the call is stored
    /// on the ledger.
    fn provided_bytes(&self) -> Option<Vec<u8>> {
        let payload = MultisigPayload::EntryFunction(self.call?.clone());
        Some(bcs::to_bytes(&payload).expect("a payload has a BCS form"))
    }
}

/// Returns the validation status of an abort of the prologue, or `None` if it has none
/// (docs/reference/framework.md#f11).
fn discard_status(error: &ErrorConstant) -> Option<Status> {
    Some(match *error {
        EACCOUNT_NOT_MULTISIG => Status::AccountNotMultisig,
        ENOT_OWNER => Status::NotMultisigOwner,
        ETRANSACTION_NOT_FOUND => Status::MultisigTransactionNotFound,
        ENOT_ENOUGH_APPROVALS => Status::MultisigTransactionInsufficientApprovals,
        EPAYLOAD_DOES_NOT_MATCH_HASH => Status::MultisigTransactionPayloadDoesNotMatchHash,
        EPAYLOAD_DOES_NOT_MATCH => Status::MultisigTransactionPayloadDoesNotMatch,
        _ => return None,
    })
}

/// Checks the multisig payload of a submitted transaction against the newest committed state.
///
/// `info` describes that state. Accepts a transaction without a multisig payload. The prologue of
/// the block repeats the check.
///
/// # Errors
///
/// The outer error is a [`StateError`]: the state cannot be read, or the check fails without a
/// validation status. The inner error is the [`Discard`] of a rejected transaction; its status is
/// one of those of the multisig prologue (docs/reference/framework.md#f11).
pub fn validate_multisig_for_admission(
    chain: &Chain,
    state: &dyn StateView,
    info: &LedgerInfo,
    transaction: &CheckedTransaction,
) -> Result<Result<(), Discard>, StateError> {
    let Some(call) = MultisigCall::of(transaction.raw()) else {
        return Ok(Ok(()));
    };
    let environment = Environment::after(info, transaction.hash());
    validate(chain, &BlockState::new(state), environment, call)
}

/// Checks that the multisig account permits the execution of its next transaction on `state`.
///
/// # Errors
///
/// The outer error is a [`StateError`]: the state cannot be read, or the check fails without a
/// validation status. The inner error is the [`Discard`] of a rejected transaction.
pub(super) fn validate(
    chain: &Chain,
    state: &BlockState<'_>,
    environment: Environment,
    call: MultisigCall<'_>,
) -> Result<Result<(), Discard>, StateError> {
    let mut context = Context::unmetered(chain, state, environment);
    let provided_bytes = call.provided_bytes();
    match check_payload(
        &mut context,
        call.executor,
        call.account,
        provided_bytes.as_deref(),
    ) {
        Ok(()) => Ok(Ok(())),
        Err(VmError::State(error)) => Err(error),
        Err(VmError::Abort { error, .. }) if discard_status(&error).is_some() => {
            Ok(Err(discard_status(&error)
                .map(Discard::from)
                .expect("the guard found a status")))
        }
        Err(failure) => Err(StateError(format!(
            "the check of a multisig payload failed: {failure:?}"
        ))),
    }
}

/// Runs the payload as the multisig account, then closes the transaction of the account.
///
/// # Errors
///
/// * [`VmError::OutOfGas`] if the gas is used up.
/// * [`VmError::Miscellaneous`] with `STORAGE_WRITE_LIMIT_REACHED` if a limit of the transaction is
///   exceeded.
/// * [`VmError::State`] if the state cannot be read.
pub(super) fn execute_multisig(
    context: &mut Context<'_>,
    call: MultisigCall<'_>,
) -> Result<(), VmError> {
    let MultisigCall {
        executor, account, ..
    } = call;
    let payload = next_payload(context, executor, account, call.provided_bytes())?;
    let savepoint = context.savepoint();
    match run_payload(context, account, &payload)? {
        Ok(()) => resolve_succeeded(context, executor, account, payload),
        Err(error) => {
            context.roll_back(savepoint);
            resolve_failed(context, executor, account, payload, error)
        }
    }
}

/// Runs a payload in BCS form. The inner error is the failure of the payload.
fn run_payload(
    context: &mut Context<'_>,
    account: AccountAddress,
    payload: &[u8],
) -> Result<Result<(), ExecutionError>, VmError> {
    // Owners may have stored any bytes. A payload that cannot be executed counts as failed, so that
    // the transactions queued behind it need no second round of votes.
    let call = match bcs::from_bytes_with_limit(payload, SIGNED_TRANSACTION_DEPTH_MAX) {
        Ok(MultisigPayload::EntryFunction(call)) => call,
        Ok(MultisigPayload::Script(_)) => {
            return Ok(Err(vm_error(Status::FeatureUnderGating.code())));
        }
        Err(_) => {
            let code = MiscellaneousStatus::FailedToDeserializeArgument as u64;
            return Ok(Err(vm_error(code)));
        }
    };
    match call_entry_function(context, &[account], &call) {
        Ok(()) => Ok(Ok(())),
        Err(failure) => execution_error(context.chain(), failure, &call).map(Err),
    }
}

/// Returns the error of a failure that is neither an abort nor located in a function.
fn vm_error(error_code: u64) -> ExecutionError {
    ExecutionError {
        abort_location: String::new(),
        error_type: "VMError".to_owned(),
        error_code,
    }
}

/// Returns the name of a module as it is in an event: the address has all digits and no prefix.
fn location(module: &ModuleId) -> String {
    format!(
        "{}::{}",
        hex::encode(module.address.as_bytes()),
        module.name
    )
}

/// Converts the failure of a payload to the error of its event.
///
/// # Errors
///
/// Returns `failure` if it ends the whole transaction.
fn execution_error(
    chain: &Chain,
    failure: VmError,
    call: &EntryFunction,
) -> Result<ExecutionError, VmError> {
    if failure.ends_transaction() {
        return Err(failure);
    }
    let code = failure.code()?;
    Ok(match failure {
        VmError::MissingResource | VmError::ResourceExists | VmError::Arithmetic => {
            ExecutionError {
                abort_location: location(&call.module),
                error_type: "MoveExecutionFailure".to_owned(),
                error_code: code,
            }
        }
        VmError::Abort { module, error } => ExecutionError {
            abort_location: location(&chain.registry().module_id(module)),
            error_type: "MoveAbort".to_owned(),
            error_code: error.code(),
        },
        _ => vm_error(code),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_framework::new_chain;
    use ledger_types::{Parameters, Vendor};
    use ledger_vm::Category;

    #[test]
    fn reports_only_failures_of_the_call_as_failed_payloads() {
        let chain = new_chain(4, Vendor::default(), Parameters::default());
        let call = EntryFunction {
            module: "0x1::coin".parse().unwrap(),
            function: "transfer".parse().unwrap(),
            type_args: Vec::new(),
            args: Vec::new(),
        };
        let execution_error_row = |failure| {
            let error = execution_error(&chain, failure, &call).ok()?;
            Some((error.abort_location, error.error_type, error.error_code))
        };
        let row = |module: &str, kind: &str, code| {
            let location = match module {
                "" => String::new(),
                name => format!("{:0>64}::{name}", 1),
            };
            Some((location, kind.to_owned(), code))
        };
        let error = ErrorConstant::new("EWHY", Category::NotFound, 3, "why");
        let abort = VmError::Abort {
            module: "account",
            error,
        };
        let function_failed = |code| row("coin", "MoveExecutionFailure", code);
        let rows = [
            (abort, row("account", "MoveAbort", 0x60003)),
            (VmError::MissingResource, function_failed(4008)),
            (VmError::ResourceExists, function_failed(4004)),
            (VmError::Arithmetic, function_failed(4017)),
            (
                MiscellaneousStatus::LinkerError.into(),
                row("", "VMError", 1081),
            ),
            (MiscellaneousStatus::StorageWriteLimitReached.into(), None),
            (VmError::OutOfGas, None),
            (VmError::State(StateError(String::new())), None),
        ];
        for (failure, expected) in rows {
            assert_eq!(
                execution_error_row(failure.clone()),
                expected,
                "{failure:?}"
            );
        }
    }
}
