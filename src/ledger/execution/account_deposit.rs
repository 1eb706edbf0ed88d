//! Storage deposit for the account resource of a sender.
//!
//! The epilogue writes the account resource that holds the sequence number. The first transaction
//! of a sender creates it, and pays its deposit even if the call fails.
//!
//! As on the reference node, `max_gas_amount` must cover the deposit. Validation checks this.

use ledger_framework::modules::account::{self, Account};
use ledger_types::{
    AccountAddress, RawTransaction, ReplayProtector, SignedTransaction, StateError, StateView,
};
use ledger_vm::{Chain, Context, SlotChange, StorageDeposits, VmError};
use std::{num::NonZeroU64, sync::LazyLock};

/// Returns the gas unit price at which the transaction pays for storage.
///
/// Returns `None`, free storage without refunds, if the chain accepts a gas price of zero. A refund
/// must not exceed the payment: a slot created at price zero would otherwise earn its owner a
/// refund when it is deleted.
pub(super) fn storage_gas_price(chain: &Chain, raw: &RawTransaction) -> Option<NonZeroU64> {
    NonZeroU64::new(raw.gas_unit_price).filter(|_| chain.parameters().gas_unit_price_min > 0)
}

/// Returns whether `transaction` may create the account resource of its sender.
fn may_create_account(transaction: &SignedTransaction) -> bool {
    transaction.raw.replay_protector() == ReplayProtector::SequenceNumber(0)
}

/// Returns the storage deposit of a new account, which is the same for all addresses.
fn storage_deposit(chain: &Chain) -> StorageDeposits {
    static VALUE_BYTES: LazyLock<usize> = LazyLock::new(|| {
        let account = Account::implicit(AccountAddress::ZERO);
        bcs::serialized_size(&account).expect("an account has a BCS form")
    });
    let key_bytes = chain.registry().resource_key_length::<Account>(&[]);
    let mut deposits = StorageDeposits::default();
    deposits.add(SlotChange {
        bytes_before: None,
        bytes_after: Some(key_bytes + *VALUE_BYTES),
    });
    deposits
}

/// Returns the part of the deposit that `max_gas_amount` must cover for the account that `transaction`
/// may create, in the coin's smallest unit.
pub(super) fn account_deposit_max(chain: &Chain, transaction: &SignedTransaction) -> u64 {
    if may_create_account(transaction) {
        storage_deposit(chain).paid
    } else {
        0
    }
}

/// Returns the storage deposit of the account that `transaction` creates on `state`.
///
/// Returns `None` if the transaction creates no account.
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read.
pub(super) fn account_deposit(
    chain: &Chain,
    state: &dyn StateView,
    transaction: &SignedTransaction,
) -> Result<Option<StorageDeposits>, StateError> {
    if !may_create_account(transaction) {
        return Ok(None);
    }
    let sender = transaction.raw.sender;
    let key = chain.registry().resource_key::<Account>(&sender, &[]);
    let exists = state.get(&key)?.is_some();
    Ok((!exists).then(|| storage_deposit(chain)))
}

/// Creates the account before the writes are charged, so that the charge includes its deposit.
///
/// # Errors
///
/// Returns [`VmError::OutOfGas`] if the gas is used up, and [`VmError::State`] if the state cannot
/// be read.
pub(super) fn create_account(
    context: &mut Context<'_>,
    address: AccountAddress,
) -> Result<(), VmError> {
    let account = account::load(context, address)?;
    context.write_resource(address, &[], &account)
}
