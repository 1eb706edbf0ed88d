//! Proposals of a multisig account: creation, votes, and the removal of rejected ones.

use super::{
    errors::{
        EINVALID_PAYLOAD_HASH, EINVALID_SEQUENCE_NUMBER, EMAX_PENDING_TRANSACTIONS_EXCEEDED,
        ENOT_ENOUGH_REJECTIONS, EPAYLOAD_CANNOT_BE_EMPTY, ETRANSACTION_NOT_FOUND,
    },
    events::{CreateTransaction, ExecuteRejectedTransaction, Vote},
    transaction::MultisigTransaction,
    types::{MultisigAccount, load_for_owner},
};
use crate::modules::simple_map::SimpleMap;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError};
use serde_bytes::ByteBuf;

type Address = AccountAddress;

const USECS_PER_SEC: u64 = 1_000_000;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("create_transaction", create_transaction),
        Function::entry("create_transaction_with_hash", create_transaction_with_hash),
        Function::entry("approve_transaction", approve_transaction),
        Function::entry("reject_transaction", reject_transaction),
        Function::entry("vote_transanction", vote_transaction),
        Function::entry("vote_transaction", vote_transaction),
        Function::entry("vote_transactions", vote_transactions),
        Function::entry("execute_rejected_transaction", execute_rejected_transaction),
        Function::entry(
            "execute_rejected_transactions",
            execute_rejected_transactions,
        ),
    ]
}

fn create_transaction(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    payload: ByteBuf,
) -> Result<(), VmError> {
    if payload.is_empty() {
        return context.abort("multisig_account", &EPAYLOAD_CANNOT_BE_EMPTY);
    }
    propose(context, owner.0, multisig_account, Some(payload), None)
}

fn create_transaction_with_hash(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    payload_hash: Vec<u8>,
) -> Result<(), VmError> {
    if payload_hash.len() != HashValue::LENGTH {
        return context.abort("multisig_account", &EINVALID_PAYLOAD_HASH);
    }
    propose(context, owner.0, multisig_account, None, Some(payload_hash))
}

/// Adds a pending transaction, with the approval of its creator.
fn propose(
    context: &mut Context<'_>,
    creator: Address,
    multisig_account: Address,
    payload: Option<ByteBuf>,
    payload_hash: Option<Vec<u8>>,
) -> Result<(), VmError> {
    let mut multisig = load_for_owner(context, multisig_account, creator)?;
    if multisig.queue_capacity() == 0 {
        return context.abort("multisig_account", &EMAX_PENDING_TRANSACTIONS_EXCEEDED);
    }
    let mut votes = SimpleMap::default();
    votes.upsert(creator, true);
    let transaction = MultisigTransaction {
        payload,
        payload_hash,
        votes,
        creator,
        creation_time_secs: context.timestamp_usecs() / USECS_PER_SEC,
    };
    let sequence_number = multisig.next_sequence_number;
    multisig.next_sequence_number = sequence_number.checked_add(1).ok_or(VmError::Arithmetic)?;
    multisig
        .transactions
        .add(context, &sequence_number, &transaction)?;
    context.write_resource(multisig_account, &[], &multisig)?;
    context.emit(&CreateTransaction {
        multisig_account,
        creator,
        sequence_number,
        transaction,
    })
}

fn approve_transaction(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    sequence_number: u64,
) -> Result<(), VmError> {
    vote_transaction(
        context,
        type_args,
        owner,
        multisig_account,
        sequence_number,
        true,
    )
}

fn reject_transaction(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    sequence_number: u64,
) -> Result<(), VmError> {
    vote_transaction(
        context,
        type_args,
        owner,
        multisig_account,
        sequence_number,
        false,
    )
}

/// Approves or rejects a transaction on behalf of an owner, and replaces an earlier vote.
fn vote_transaction(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    sequence_number: u64,
    approved: bool,
) -> Result<(), VmError> {
    let multisig = load_for_owner(context, multisig_account, owner.0)?;
    vote(
        context,
        owner.0,
        multisig_account,
        &multisig,
        sequence_number,
        approved,
    )
}

/// Votes on all transactions from `starting_sequence_number` to `final_sequence_number`, inclusive.
///
/// Aborts at the first transaction that is not pending, so the maximum number of pending ones
/// bounds the work.
fn vote_transactions(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    starting_sequence_number: u64,
    final_sequence_number: u64,
    approved: bool,
) -> Result<(), VmError> {
    let numbers = starting_sequence_number..=final_sequence_number;
    if numbers.is_empty() {
        return Ok(());
    }
    let multisig = load_for_owner(context, multisig_account, owner.0)?;
    for sequence_number in numbers {
        vote(
            context,
            owner.0,
            multisig_account,
            &multisig,
            sequence_number,
            approved,
        )?;
    }
    Ok(())
}

fn vote(
    context: &mut Context<'_>,
    owner: Address,
    multisig_account: Address,
    multisig: &MultisigAccount,
    sequence_number: u64,
    approved: bool,
) -> Result<(), VmError> {
    let mut transaction = pending(context, multisig, sequence_number)?;
    multisig.vote(&mut transaction, owner, approved);
    multisig
        .transactions
        .upsert(context, &sequence_number, &transaction)?;
    context.emit(&Vote {
        multisig_account,
        owner,
        sequence_number,
        approved,
    })
}

/// Returns the pending transaction with this sequence number.
///
/// # Errors
///
/// Aborts with `ETRANSACTION_NOT_FOUND` if there is none. Returns [`VmError::State`] if the state
/// cannot be read, and [`VmError::OutOfGas`] if gas runs out.
pub(super) fn pending(
    context: &mut Context<'_>,
    multisig: &MultisigAccount,
    sequence_number: u64,
) -> Result<MultisigTransaction, VmError> {
    match multisig.transactions.get(context, &sequence_number)? {
        Some(transaction) => Ok(transaction),
        None => context.abort("multisig_account", &ETRANSACTION_NOT_FOUND),
    }
}

/// Removes the next transaction. The call counts as a rejection by the caller.
fn execute_rejected_transaction(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
) -> Result<(), VmError> {
    let mut multisig = load_for_owner(context, multisig_account, owner.0)?;
    remove_next_rejected(context, owner.0, multisig_account, &mut multisig)?;
    context.write_resource(multisig_account, &[], &multisig)
}

/// Removes all transactions up to `final_sequence_number`, which must be pending.
///
/// The call counts as a rejection of each of them by the caller.
fn execute_rejected_transactions(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    multisig_account: Address,
    final_sequence_number: u64,
) -> Result<(), VmError> {
    let mut multisig = load_for_owner(context, multisig_account, owner.0)?;
    let pending_numbers = multisig.next_to_resolve()..multisig.next_sequence_number;
    if !pending_numbers.contains(&final_sequence_number) {
        return context.abort("multisig_account", &EINVALID_SEQUENCE_NUMBER);
    }
    while multisig.last_executed_sequence_number < final_sequence_number {
        remove_next_rejected(context, owner.0, multisig_account, &mut multisig)?;
    }
    context.write_resource(multisig_account, &[], &multisig)
}

fn remove_next_rejected(
    context: &mut Context<'_>,
    executor: Address,
    multisig_account: Address,
    multisig: &mut MultisigAccount,
) -> Result<(), VmError> {
    let sequence_number = multisig.next_to_resolve();
    let Some(mut transaction) = multisig.transactions.take(context, &sequence_number)? else {
        return context.abort("multisig_account", &ETRANSACTION_NOT_FOUND);
    };
    if multisig.vote(&mut transaction, executor, false) != Some(false) {
        context.emit(&Vote {
            multisig_account,
            owner: executor,
            sequence_number,
            approved: false,
        })?;
    }
    multisig.last_executed_sequence_number = sequence_number;
    let num_rejections = multisig.tally(&transaction).rejections;
    if num_rejections < multisig.num_signatures_required {
        return context.abort("multisig_account", &ENOT_ENOUGH_REJECTIONS);
    }
    context.emit(&ExecuteRejectedTransaction {
        multisig_account,
        sequence_number,
        num_rejections,
        executor,
    })
}
