//! Resource accounts.
//!
//! The address of a resource account is derived from a creator and a seed. The holder of its signer
//! capability acts for it.

use super::{Account, errors};
use crate::modules::multisig_account::MultisigAccount;
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// Last byte of the hash input of a resource account's address (docs/reference/framework.md#f2).
const RESOURCE_ACCOUNT_SCHEME: u8 = 0xff;

/// Authentication key of an account that no signature can authorize.
const ZERO_AUTHENTICATION_KEY: [u8; 32] = [0; 32];

/// Returns the address of the resource account of `source` and `seed`.
pub fn resource_address(source: AccountAddress, seed: &[u8]) -> AccountAddress {
    let hash = HashValue::sha3_of(&[source.as_bytes(), seed, &[RESOURCE_ACCOUNT_SCHEME]]);
    AccountAddress::new(*hash.as_bytes())
}

/// Creates the resource account of `source` and `seed`, and returns its address.
///
/// No public key hashes to the authentication key of the account, and the account offers the right
/// to sign to itself. The account may already exist at this point because others have paid into it.
///
/// # Errors
///
/// Aborts with:
///
/// * `ERESOURCE_ACCCOUNT_EXISTS` if the resource account was created before.
/// * `EACCOUNT_ALREADY_USED` if the account has sent transactions.
pub(crate) fn create_resource_account(
    context: &mut Context<'_>,
    source: AccountAddress,
    seed: &[u8],
) -> Result<AccountAddress, VmError> {
    let hashed_bytes = (AccountAddress::LENGTH + seed.len() + 1) as u64;
    context.charge(cost::HASH_BASE + hashed_bytes * cost::HASH_PER_BYTE)?;
    let address = resource_address(source, seed);
    let mut account = super::load(context, address)?;
    if account.signer_capability_offer.r#for.is_some() {
        return context.abort("account", &errors::ERESOURCE_ACCCOUNT_EXISTS);
    }
    if account.sequence_number > 0 {
        return context.abort("account", &errors::EACCOUNT_ALREADY_USED);
    }
    if was_created(context, address, &account)? {
        return context.abort("account", &errors::ERESOURCE_ACCCOUNT_EXISTS);
    }
    account.authentication_key = ZERO_AUTHENTICATION_KEY.to_vec();
    account.signer_capability_offer.r#for = Some(address);
    context.write_resource::<Account>(address, &[], &account)?;
    Ok(address)
}

/// Returns `true` if the resource account at `address` was created before.
///
/// The caller has checked that the account offers no right to sign and has sent no transaction.
/// This does not suffice, because a multisig account sends no transaction when it acts. It can
/// revoke the offer and even set its key to that of a new account. A second creation would then
/// return control of it to its creator. The reference node checks only the offer and the sequence
/// number.
fn was_created(
    context: &mut Context<'_>,
    address: AccountAddress,
    account: &Account,
) -> Result<bool, VmError> {
    Ok(account.authentication_key != address.as_bytes()
        || context.has_resource::<MultisigAccount>(address, &[])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_the_addresses_of_the_sdk() {
        // Expected values of `createResourceAddress` in the TypeScript SDK.
        for (source, seed, address) in [
            (
                0xcafe,
                &b"seed"[..],
                "0x2a5577ab389c872bdeb183d2d218c7b03685120190a9e6789a1a06c79f59ec16",
            ),
            (
                0xb0b,
                b"",
                "0x7bf44681af49220483cb38f3acc10c3b5164a80441fca9fd1f22d44cd35b5ec8",
            ),
        ] {
            let source = AccountAddress::from_low_u64(source);
            assert_eq!(resource_address(source, seed).to_string(), address);
        }
    }
}
