//! Coins of accounts: deposits, withdrawals, and transfers.
//!
//! The primary store of a coin's paired asset holds the coins of an account. The first operation on
//! a coin pairs it.
//!
//! Coins that a program holds in a resource of its own, as [`Coin`](super::Coin), are in no store:
//! [`withdraw`] moves them from the supply of the asset to that of the coin, and [`deposit`] moves
//! them back.

use super::{
    info::{grow_supply, shrink_supply},
    paired_metadata,
    pairing::ensure_paired,
};
use crate::modules::{
    fungible_asset::{self, TransferRef},
    object::Object,
    primary_fungible_store,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, VmError};

/// Withdraws `amount` of `coin`, in its smallest unit, from the store of `owner`. The caller keeps
/// the coins in a resource.
///
/// # Errors
///
/// Aborts with:
///
/// * `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
/// * `EINSUFFICIENT_BALANCE` of `fungible_asset` if the store holds less.
/// * `ESTORE_IS_FROZEN` of `fungible_asset` if the store is frozen, even if `amount` is 0.
pub fn withdraw(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    burn(context, coin, owner, amount)?;
    grow_supply(context, coin, amount)
}

/// Deposits `amount` of `coin`, in its smallest unit, which the caller kept in a resource, into the
/// store of `owner`.
///
/// # Errors
///
/// Returns the errors of [`mint`].
pub fn deposit(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    shrink_supply(context, coin, amount)?;
    mint(context, coin, owner, amount)
}

/// Mints `amount` of `coin`, in its smallest unit, into the store of `to`.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Fails with:
///
/// * `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
/// * `EMAX_SUPPLY_EXCEEDED` of `fungible_asset` if the supply would exceed 128 bits.
/// * `ESTORE_IS_FROZEN` of `fungible_asset` if the store is frozen, even if `amount` is 0.
/// * [`VmError::Arithmetic`] if the balance would exceed 64 bits.
pub fn mint(
    context: &mut Context<'_>,
    coin: &TypeTag,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let metadata = ensure_paired(context, coin)?;
    if amount > 0 {
        fungible_asset::increase_supply(context, metadata, amount)?;
    }
    primary_fungible_store::deposit_minted(context, to, metadata, amount)
}

/// Burns `amount` of `coin`, in its smallest unit, from the store of `from`.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Returns the errors of [`withdraw`].
pub fn burn(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let metadata = ensure_paired(context, coin)?;
    primary_fungible_store::withdraw_burned(context, from, metadata, amount)?;
    if amount > 0 {
        fungible_asset::decrease_supply(context, metadata, amount)?;
    }
    Ok(())
}

/// Returns the balance of `owner` in the smallest unit of `coin`, or 0 without a store.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn balance_of(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<u64, VmError> {
    match paired_metadata(context, coin)? {
        Some(metadata) => primary_fungible_store::balance_of(context, owner, metadata),
        None => Ok(0),
    }
}

/// Transfers `amount` of `coin`, in its smallest unit, from one account to another.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized. Also returns the errors
/// of [`primary_fungible_store::transfer_between`].
pub fn transfer_between(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let metadata = ensure_paired(context, coin)?;
    primary_fungible_store::transfer_between(context, from, metadata, to, amount)
}

/// Transfers `amount` of the chain's coin, in its smallest unit, from one account to another.
///
/// Unlike [`transfer_between`], it checks neither the owner of the store nor a freeze, because the
/// owner of an account's store never changes and nobody can freeze the chain's coin.
///
/// # Errors
///
/// Aborts with `EINSUFFICIENT_BALANCE` of `fungible_asset` if `from` holds less than `amount`, and
/// with `ECANNOT_RESERVED_ADDRESS` of `account` if `to` may have no store
/// ([`primary_fungible_store::ensure_store`]). Returns [`VmError::Arithmetic`] if the balance of
/// `to` would exceed 64 bits.
pub fn transfer_native(
    context: &mut Context<'_>,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let metadata = AccountAddress::NATIVE_ASSET;
    let from = primary_fungible_store::ensure_store(context, from, metadata)?;
    let to = primary_fungible_store::ensure_store(context, to, metadata)?;
    fungible_asset::transfer_unchecked(context, metadata, from, to, amount)
}

/// Freezes or unfreezes the store of `owner`, which is created if it is missing.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
pub fn set_frozen(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    frozen: bool,
) -> Result<(), VmError> {
    let metadata = ensure_paired(context, coin)?;
    let store = primary_fungible_store::ensure_store(context, owner, metadata)?;
    let transfer_ref = TransferRef {
        metadata: Object::at(metadata),
    };
    fungible_asset::set_frozen_flag(context, &transfer_ref, store, frozen)
}
