//! Table from authentication keys to the accounts that rotated to them.
//!
//! Rotations with a proof maintain the table. A wallet uses it to find the account of a key after a
//! rotation, because the hash of the key is then no longer the address of the account.

use super::{Account, errors};
use crate::modules::table::Table;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Signer, VmError, move_structs};

move_structs! {
    module "account";

    /// Accounts of keys that were rotated to, stored at `0x1`.
    OriginatingAddress as "OriginatingAddress" has ["key"] {
        /// Account addresses by authentication key, which is encoded as an address.
        address_map: Table<AccountAddress, AccountAddress>,
    }
}

/// Creates the empty table as a part of genesis.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let address_map = Table::new(context)?;
    context.write_resource(
        AccountAddress::ONE,
        &[],
        &OriginatingAddress { address_map },
    )
}

fn table(context: &mut Context<'_>) -> Result<Table<AccountAddress, AccountAddress>, VmError> {
    let originating: OriginatingAddress = context.require_resource(AccountAddress::ONE, &[])?;
    Ok(originating.address_map)
}

/// Records that the key of `address` changes from its current one to `new`.
///
/// Removes the entry of the current key, if there is one.
///
/// # Errors
///
/// Aborts with:
///
/// * `ENEW_AUTH_KEY_SAME_AS_CURRENT` if `new` is the current key.
/// * `EINVALID_ORIGINATING_ADDRESS` if the current key is recorded for another account.
/// * `ENEW_AUTH_KEY_ALREADY_MAPPED` if `new` is recorded for an account.
pub(super) fn record(
    context: &mut Context<'_>,
    address: AccountAddress,
    account: &Account,
    new: AccountAddress,
) -> Result<(), VmError> {
    let current = account.key_as_address();
    if new == current {
        return context.abort("account", &errors::ENEW_AUTH_KEY_SAME_AS_CURRENT);
    }
    let table = table(context)?;
    match table.get(context, &current)? {
        Some(recorded) if recorded != address => {
            return context.abort("account", &errors::EINVALID_ORIGINATING_ADDRESS);
        }
        Some(_) => {
            table.remove(context, &current)?;
        }
        None => {}
    }
    if table.get(context, &new)?.is_some() {
        return context.abort("account", &errors::ENEW_AUTH_KEY_ALREADY_MAPPED);
    }
    table.add(context, &new, &address)
}

/// Returns the account that is recorded for `authentication_key`, or `None` if there is none.
///
/// Only a rotation with a proof records a key.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
/// limit is exceeded.
pub(super) fn originating_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    authentication_key: AccountAddress,
) -> Result<Option<AccountAddress>, VmError> {
    table(context)?.get(context, &authentication_key)
}

/// Aborts with `ESET_ORIGINATING_ADDRESS_DISABLED`.
///
/// The reference node disabled this entry function because it recorded keys without a proof.
pub(super) fn set_originating_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    _: Signer,
) -> Result<(), VmError> {
    context.abort("account", &errors::ESET_ORIGINATING_ADDRESS_DISABLED)
}
