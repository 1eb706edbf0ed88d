//! Which account a key belongs to: a table that proven rotations keep, so that a wallet finds the account
//! of a key whose hash is no longer the account's address.

use super::{Account, errors};
use crate::modules::table::Table;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Signer, VmError, move_structs};

move_structs! {
    module "account";

    /// The accounts of keys that were rotated to; at `0x1`.
    OriginatingAddress as "OriginatingAddress" has ["key"] {
        /// The account under the authentication key, read as an address.
        address_map: Table<AccountAddress, AccountAddress>,
    }
}

/// Makes the empty table; a part of genesis.
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

/// Records that `address` has the key `new` in place of its current one.
///
/// # Errors
/// `ENEW_AUTH_KEY_SAME_AS_CURRENT`, `EINVALID_ORIGINATING_ADDRESS` where the current key is recorded for
/// another account, `ENEW_AUTH_KEY_ALREADY_MAPPED`.
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

/// The view: the account of a key that a proven rotation gave it.
pub(super) fn originating_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    authentication_key: AccountAddress,
) -> Result<Option<AccountAddress>, VmError> {
    table(context)?.get(context, &authentication_key)
}

/// The entry function, which the reference refuses for good: it recorded keys without a proof.
pub(super) fn set_originating_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    _: Signer,
) -> Result<(), VmError> {
    context.abort("account", &errors::ESET_ORIGINATING_ADDRESS_DISABLED)
}
