//! Rules of a multisig payload: the check before it, the payload itself, and the result after it.
//!
//! `multisig.rs` of `ledger-execution` runs the payload between these steps.

use super::{
    errors::{ENOT_ENOUGH_APPROVALS, EPAYLOAD_DOES_NOT_MATCH, EPAYLOAD_DOES_NOT_MATCH_HASH},
    events::{TransactionExecutionFailed, TransactionExecutionSucceeded, Vote},
    proposals::pending,
    transaction::{ExecutionError, MultisigTransaction},
    types::{load, load_for_owner},
};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};
use serde_bytes::ByteBuf;

type Address = AccountAddress;

/// Checks that `executor` may execute the next transaction of a multisig account.
///
/// `provided` is the BCS form of the payload in the executor's transaction, if it has one. The
/// execution counts as an approval by the executor.
///
/// # Errors
///
/// Aborts with the first of these that applies:
///
/// * `EACCOUNT_NOT_MULTISIG` if the account is not a multisig account.
/// * `ENOT_OWNER` if the executor is not an owner.
/// * `ETRANSACTION_NOT_FOUND` if no transaction is pending.
/// * `ENOT_ENOUGH_APPROVALS` if fewer owners than required approve the transaction.
/// * `EPAYLOAD_DOES_NOT_MATCH_HASH` if a hash was proposed, and `provided` is absent or has another
///   hash.
/// * `EPAYLOAD_DOES_NOT_MATCH` if a payload was proposed, and `provided` is another one.
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn check_payload(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    provided: Option<&[u8]>,
) -> Result<(), VmError> {
    let multisig = load_for_owner(context, multisig_account, executor)?;
    let number = multisig.next_to_resolve();
    let mut transaction = pending(context, &multisig, number)?;
    multisig.vote(&mut transaction, executor, true);
    if multisig.tally(&transaction).approvals < multisig.num_signatures_required {
        return context.abort("multisig_account", &ENOT_ENOUGH_APPROVALS);
    }
    check_match(context, &transaction, provided)
}

fn check_match(
    context: &Context<'_>,
    transaction: &MultisigTransaction,
    provided: Option<&[u8]>,
) -> Result<(), VmError> {
    if let Some(payload_hash) = &transaction.payload_hash {
        let hash = provided.map(|payload| HashValue::sha3_of(&[payload]));
        if hash.is_none_or(|hash| hash.as_bytes().as_slice() != payload_hash) {
            return context.abort("multisig_account", &EPAYLOAD_DOES_NOT_MATCH_HASH);
        }
    }
    match (&transaction.payload, provided) {
        (Some(stored), Some(provided)) if stored.as_slice() != provided => {
            context.abort("multisig_account", &EPAYLOAD_DOES_NOT_MATCH)
        }
        _ => Ok(()),
    }
}

/// Returns the payload of a multisig account's next transaction, which [`check_payload`] has
/// accepted.
///
/// This is the provided payload, or else the stored one, which costs as much as if it were sent.
///
/// # Errors
///
/// Aborts with `EACCOUNT_NOT_MULTISIG`, `ENOT_OWNER`, or `ETRANSACTION_NOT_FOUND` under the
/// conditions of [`check_payload`]. Returns [`VmError::State`] if the state cannot be read, and
/// [`VmError::OutOfGas`] if gas runs out.
pub fn next_payload(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    provided: Option<Vec<u8>>,
) -> Result<Vec<u8>, VmError> {
    let multisig = load_for_owner(context, multisig_account, executor)?;
    let number = multisig.next_to_resolve();
    let transaction = pending(context, &multisig, number)?;
    // The check was free of charge, so the hash is charged here.
    if transaction.payload_hash.is_some() {
        let bytes = provided.as_ref().map_or(0, Vec::len) as u64;
        context
            .charge(cost::HASH_BASE.saturating_add(bytes.saturating_mul(cost::HASH_PER_BYTE)))?;
    }
    if let Some(provided) = provided {
        // The charge for the size of the transaction includes these bytes.
        return Ok(provided);
    }
    let stored = transaction.payload.unwrap_or_default().into_vec();
    context.charge(cost::PAYLOAD_PER_BYTE.saturating_mul(stored.len() as u64))?;
    Ok(stored)
}

/// Values of an executed transaction for its event.
struct ResolvedTransaction {
    sequence_number: u64,
    num_approvals: u64,
}

/// Removes the executed transaction from the pending ones.
///
/// Counts the votes again, because the payload may have changed the account. Emits a [`Vote`] if
/// the executor had not approved the transaction before.
fn resolve_executed(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
) -> Result<ResolvedTransaction, VmError> {
    let mut multisig = load(context, multisig_account)?;
    let sequence_number = multisig.next_to_resolve();
    let mut transaction = multisig.transactions.remove(context, &sequence_number)?;
    multisig.last_executed_sequence_number = sequence_number;
    context.write_resource(multisig_account, &[], &multisig)?;
    let mut num_approvals = multisig.tally(&transaction).approvals;
    if transaction.votes.upsert(executor, true) != Some(true) {
        // Also counted if the payload removed the executor from the owners, because the executor
        // was an owner before it.
        num_approvals = num_approvals.saturating_add(1);
        context.emit(&Vote {
            multisig_account,
            owner: executor,
            sequence_number,
            approved: true,
        })?;
    }
    Ok(ResolvedTransaction {
        sequence_number,
        num_approvals,
    })
}

/// Resolves a transaction after its payload succeeded.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out. Returns [`VmError::Miscellaneous`] if the event exceeds a limit of the transaction.
pub fn resolve_succeeded(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    transaction_payload: Vec<u8>,
) -> Result<(), VmError> {
    let resolved = resolve_executed(context, executor, multisig_account)?;
    context.emit(&TransactionExecutionSucceeded {
        multisig_account,
        executor,
        sequence_number: resolved.sequence_number,
        transaction_payload: ByteBuf::from(transaction_payload),
        num_approvals: resolved.num_approvals,
    })
}

/// Resolves a transaction after its payload failed and was rolled back.
///
/// # Errors
///
/// Returns the errors of [`resolve_succeeded`].
pub fn resolve_failed(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    transaction_payload: Vec<u8>,
    execution_error: ExecutionError,
) -> Result<(), VmError> {
    let resolved = resolve_executed(context, executor, multisig_account)?;
    context.emit(&TransactionExecutionFailed {
        multisig_account,
        executor,
        sequence_number: resolved.sequence_number,
        transaction_payload: ByteBuf::from(transaction_payload),
        num_approvals: resolved.num_approvals,
        execution_error,
    })
}
