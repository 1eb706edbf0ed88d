//! Room for the account of a sender for whom another pays.
//!
//! The epilogue writes the account that holds the sequence number. A sender who pays holds coins, whose
//! store was paid for; one who does not could have an account made for each of its keys for next to nothing.
//! So its first transaction pays for the account's room, whatever becomes of the call. As in the reference,
//! `max_gas_amount` must cover it, which is a rule of validation.

use ledger_framework::modules::account::{self, Account};
use ledger_types::{AccountAddress, ReplayProtector, SignedTransaction, StateError, StateView};
use ledger_vm::{Chain, Context, SlotChange, StorageFee, VmError};

/// Whether `transaction` may be the one that makes its sender's account, with another to pay for it.
fn may_make_account(transaction: &SignedTransaction) -> bool {
    let sender = transaction.raw.sender;
    let fee_payer = transaction.authenticator.fee_payer();
    fee_payer.is_some_and(|(payer, _)| payer != sender)
        && transaction.raw.replay_protector() == ReplayProtector::SequenceNumber(0)
}

/// What the room of a new account costs.
fn storage_deposit(chain: &Chain, address: AccountAddress) -> StorageFee {
    let key = chain.registry().resource_key::<Account>(&address, &[]);
    let value =
        bcs::serialized_size(&Account::implicit(address)).expect("an account has a BCS form");
    let mut fee = StorageFee::default();
    fee.add(SlotChange {
        bytes_before: None,
        bytes_after: Some(key.as_bytes().len() + value),
    });
    fee
}

/// The coins that `max_gas_amount` must cover for the account that `transaction` may make.
pub(super) fn account_deposit_max(chain: &Chain, transaction: &SignedTransaction) -> u64 {
    if may_make_account(transaction) {
        storage_deposit(chain, transaction.raw.sender).fee
    } else {
        0
    }
}

/// What the room of the account costs that `transaction` makes on `state`; `None` where it makes none, or
/// one whose room was paid for.
///
/// # Errors
/// When the state cannot be read.
pub(super) fn account_deposit(
    chain: &Chain,
    state: &dyn StateView,
    transaction: &SignedTransaction,
) -> Result<Option<StorageFee>, StateError> {
    if !may_make_account(transaction) {
        return Ok(None);
    }
    let sender = transaction.raw.sender;
    let key = chain.registry().resource_key::<Account>(&sender, &[]);
    let is_there = state.get(&key)?.is_some();
    Ok((!is_there).then(|| storage_deposit(chain, sender)))
}

/// Makes the account, so that it is charged with what the call wrote.
pub(super) fn make(context: &mut Context<'_>, address: AccountAddress) -> Result<(), VmError> {
    let account = account::load(context, address)?;
    context.write_resource(address, &[], &account)
}
