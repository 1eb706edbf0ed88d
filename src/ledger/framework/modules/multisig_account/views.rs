//! View functions of multisig accounts.
//!
//! A view of an account returns [`VmError::MissingResource`] if it is not a multisig account.

use super::{creation::next_address, transaction::MultisigTransaction, types::MultisigAccount};
use crate::modules::simple_map::SimpleMap;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Values, VmError};
use serde_bytes::ByteBuf;

type Address = AccountAddress;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::view("metadata", metadata),
        Function::view("num_signatures_required", num_signatures_required),
        Function::view("owners", owners),
        Function::view("is_owner", is_owner),
        Function::view("get_transaction", get_transaction),
        Function::view("get_pending_transactions", get_pending_transactions),
        Function::view("get_next_transaction_payload", get_next_transaction_payload),
        Function::view("can_be_executed", can_be_executed),
        Function::view("can_execute", can_execute),
        Function::view("can_be_rejected", can_be_rejected),
        Function::view("can_reject", can_reject),
        Function::view(
            "get_next_multisig_account_address",
            get_next_multisig_account_address,
        ),
        Function::view(
            "last_resolved_sequence_number",
            last_resolved_sequence_number,
        ),
        Function::view("next_sequence_number", next_sequence_number),
        Function::view("vote", vote),
        Function::view(
            "available_transaction_queue_capacity",
            available_transaction_queue_capacity,
        ),
    ]
}

fn read(context: &mut Context<'_>, address: Address) -> Result<MultisigAccount, VmError> {
    context.require_resource(address, &[])
}

/// Returns the pending transaction with an assigned sequence number.
///
/// # Errors
///
/// Aborts with:
///
/// * `EINVALID_SEQUENCE_NUMBER` if no transaction ever had this number.
/// * `EKEY_ABSENT` of `0x1::table` if the transaction is resolved and thus no longer in the table.
fn transaction_of(
    context: &mut Context<'_>,
    multisig: &MultisigAccount,
    sequence_number: u64,
) -> Result<MultisigTransaction, VmError> {
    multisig.check_number(context, sequence_number)?;
    multisig.transactions.borrow(context, &sequence_number)
}

fn metadata(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<SimpleMap<String, Vec<u8>>, VmError> {
    Ok(read(context, address)?.metadata)
}

fn num_signatures_required(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<u64, VmError> {
    Ok(read(context, address)?.num_signatures_required)
}

fn owners(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<Vec<Address>, VmError> {
    Ok(read(context, address)?.owners)
}

fn is_owner(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Address,
    address: Address,
) -> Result<bool, VmError> {
    Ok(read(context, address)?.owners.contains(&owner))
}

fn get_transaction(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
    sequence_number: u64,
) -> Result<MultisigTransaction, VmError> {
    let multisig = read(context, address)?;
    transaction_of(context, &multisig, sequence_number)
}

fn get_pending_transactions(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<Vec<MultisigTransaction>, VmError> {
    let multisig = read(context, address)?;
    (multisig.next_to_resolve()..multisig.next_sequence_number)
        .map(|sequence_number| multisig.transactions.borrow(context, &sequence_number))
        .collect()
}

/// Returns the payload of the next transaction, or `provided_payload` if only a hash was proposed.
fn get_next_transaction_payload(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
    provided_payload: ByteBuf,
) -> Result<ByteBuf, VmError> {
    let multisig = read(context, address)?;
    let number = multisig.next_to_resolve();
    let transaction = multisig.transactions.borrow(context, &number)?;
    Ok(transaction.payload.unwrap_or(provided_payload))
}

/// A resolution of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resolution {
    Executed,
    Rejected,
}

/// Returns `true` if a transaction is the next one and has enough votes for a resolution.
///
/// A vote of `voter` for this resolution is counted as given. Returns `false` if `voter` is not an
/// owner.
fn can_be_resolved(
    context: &mut Context<'_>,
    address: Address,
    sequence_number: u64,
    resolution: Resolution,
    voter: Option<Address>,
) -> Result<bool, VmError> {
    let multisig = read(context, address)?;
    let mut transaction = transaction_of(context, &multisig, sequence_number)?;
    if let Some(voter) = voter {
        if !multisig.owners.contains(&voter) {
            return Ok(false);
        }
        multisig.vote(&mut transaction, voter, resolution == Resolution::Executed);
    }
    let tally = multisig.tally(&transaction);
    let votes = match resolution {
        Resolution::Executed => tally.approvals,
        Resolution::Rejected => tally.rejections,
    };
    Ok(sequence_number == multisig.next_to_resolve() && votes >= multisig.num_signatures_required)
}

fn can_be_executed(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
    sequence_number: u64,
) -> Result<bool, VmError> {
    can_be_resolved(
        context,
        address,
        sequence_number,
        Resolution::Executed,
        None,
    )
}

fn can_execute(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Address,
    address: Address,
    sequence_number: u64,
) -> Result<bool, VmError> {
    can_be_resolved(
        context,
        address,
        sequence_number,
        Resolution::Executed,
        Some(owner),
    )
}

fn can_be_rejected(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
    sequence_number: u64,
) -> Result<bool, VmError> {
    can_be_resolved(
        context,
        address,
        sequence_number,
        Resolution::Rejected,
        None,
    )
}

fn can_reject(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Address,
    address: Address,
    sequence_number: u64,
) -> Result<bool, VmError> {
    can_be_resolved(
        context,
        address,
        sequence_number,
        Resolution::Rejected,
        Some(owner),
    )
}

fn get_next_multisig_account_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    creator: Address,
) -> Result<Address, VmError> {
    next_address(context, creator)
}

fn last_resolved_sequence_number(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<u64, VmError> {
    Ok(read(context, address)?.last_executed_sequence_number)
}

fn next_sequence_number(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<u64, VmError> {
    Ok(read(context, address)?.next_sequence_number)
}

/// Returns two flags: `owner` has voted on the transaction, and `owner` has approved it.
fn vote(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
    sequence_number: u64,
    owner: Address,
) -> Result<Values<(bool, bool)>, VmError> {
    let multisig = read(context, address)?;
    let transaction = transaction_of(context, &multisig, sequence_number)?;
    let vote = transaction.votes.get(&owner);
    Ok(Values((vote.is_some(), vote.copied().unwrap_or(false))))
}

fn available_transaction_queue_capacity(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: Address,
) -> Result<u64, VmError> {
    Ok(read(context, address)?.queue_capacity())
}
