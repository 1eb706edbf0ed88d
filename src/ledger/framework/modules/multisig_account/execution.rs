//! The rules of a multisig payload: when it may run, what runs, and what is left of it. The executor
//! runs it between (`multisig.rs` of `ledger-execution`).

use super::{
    errors::{ENOT_ENOUGH_APPROVALS, EPAYLOAD_DOES_NOT_MATCH, EPAYLOAD_DOES_NOT_MATCH_HASH},
    events::{TransactionExecutionFailed, TransactionExecutionSucceeded, Vote},
    proposals::pending,
    types::{ExecutionError, MultisigTransaction, load, load_for},
};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};
use serde_bytes::ByteBuf;

type Address = AccountAddress;

/// Checks that `executor` may execute the next transaction of a multisig account with the payload that
/// it sent, whose BCS form is `provided`. The executor's approval counts as given.
///
/// # Errors
/// `EACCOUNT_NOT_MULTISIG`, `ENOT_OWNER`, `ETRANSACTION_NOT_FOUND`, `ENOT_ENOUGH_APPROVALS`,
/// `EPAYLOAD_DOES_NOT_MATCH_HASH`, `EPAYLOAD_DOES_NOT_MATCH`, in this order; when the state cannot be
/// read.
pub fn check_payload(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    provided: Option<&[u8]>,
) -> Result<(), VmError> {
    let multisig = load_for(context, multisig_account, executor)?;
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

/// The payload of the next transaction of a multisig account, which [`check_payload`] let pass: the one
/// that was sent, else the stored one, which costs as much as if it were sent.
///
/// # Errors
/// As [`check_payload`]; when gas runs out.
pub fn next_payload(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    provided: Option<Vec<u8>>,
) -> Result<Vec<u8>, VmError> {
    let multisig = load_for(context, multisig_account, executor)?;
    let number = multisig.next_to_resolve();
    let transaction = pending(context, &multisig, number)?;
    // The check before was free of charge; what it hashed is paid for here.
    if transaction.payload_hash.is_some() {
        let bytes = provided.as_ref().map_or(0, Vec::len) as u64;
        context
            .charge(cost::HASH_BASE.saturating_add(bytes.saturating_mul(cost::HASH_PER_BYTE)))?;
    }
    if let Some(provided) = provided {
        // Its bytes were paid for with those of the transaction.
        return Ok(provided);
    }
    let stored = transaction.payload.unwrap_or_default().into_vec();
    context.charge(cost::PAYLOAD_PER_BYTE.saturating_mul(stored.len() as u64))?;
    Ok(stored)
}

/// What an executed transaction is called in its event.
struct Closed {
    sequence_number: u64,
    num_approvals: u64,
}

/// Takes the executed transaction out of those that wait. The payload may have changed the account, so
/// votes are counted anew.
fn close(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
) -> Result<Closed, VmError> {
    let mut multisig = load(context, multisig_account)?;
    let sequence_number = multisig.next_to_resolve();
    let mut transaction = multisig.transactions.remove(context, &sequence_number)?;
    multisig.last_executed_sequence_number = sequence_number;
    context.write_resource(multisig_account, &[], &multisig)?;
    let mut num_approvals = multisig.tally(&transaction).approvals;
    if transaction.votes.upsert(executor, true) != Some(true) {
        // Counted also where the payload removed the executor from the owners: it was one before.
        num_approvals = num_approvals.saturating_add(1);
        context.emit(&Vote {
            multisig_account,
            owner: executor,
            sequence_number,
            approved: true,
        })?;
    }
    Ok(Closed {
        sequence_number,
        num_approvals,
    })
}

/// Ends a transaction whose payload did what it was to do.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn close_succeeded(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    transaction_payload: Vec<u8>,
) -> Result<(), VmError> {
    let closed = close(context, executor, multisig_account)?;
    context.emit(&TransactionExecutionSucceeded {
        multisig_account,
        executor,
        sequence_number: closed.sequence_number,
        transaction_payload: ByteBuf::from(transaction_payload),
        num_approvals: closed.num_approvals,
    })
}

/// Ends a transaction whose payload failed and was undone.
///
/// # Errors
/// As [`close_succeeded`].
pub fn close_failed(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    transaction_payload: Vec<u8>,
    execution_error: ExecutionError,
) -> Result<(), VmError> {
    let closed = close(context, executor, multisig_account)?;
    context.emit(&TransactionExecutionFailed {
        multisig_account,
        executor,
        sequence_number: closed.sequence_number,
        transaction_payload: ByteBuf::from(transaction_payload),
        num_approvals: closed.num_approvals,
        execution_error,
    })
}
