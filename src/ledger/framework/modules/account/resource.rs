//! Resource accounts: accounts at an address that follows from a creator and a seed, which the holder of
//! their signer capability acts for.

use super::{Account, errors};
use crate::modules::multisig_account::MultisigAccount;
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// The last byte of the hash input of a resource account's address
/// (docs/reference/framework.md#f2).
const RESOURCE_ACCOUNT_SCHEME: u8 = 0xff;

/// The key of an account that no signature speaks for.
const ZERO_AUTHENTICATION_KEY: [u8; 32] = [0; 32];

/// The address of the resource account of `source` and `seed`.
pub fn resource_address(source: AccountAddress, seed: &[u8]) -> AccountAddress {
    let hash = HashValue::sha3_of(&[source.as_bytes(), seed, &[RESOURCE_ACCOUNT_SCHEME]]);
    AccountAddress::new(*hash.as_bytes())
}

/// Creates the resource account of `source` and `seed`, with a key that nobody has and the right to sign
/// offered to itself. The account may exist so far as others paid into it.
///
/// # Errors
/// `ERESOURCE_ACCCOUNT_EXISTS`, and `EACCOUNT_ALREADY_USED` where it has sent transactions.
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

/// Whether the account at `address`, which offers the right to sign to nobody and has sent nothing, was
/// created all the same. A multisig account sends nothing when it acts: it can take back the offer and
/// even set its key to that of a new account, and would be its creator's again. The reference looks at
/// the offer and the sequence number alone.
fn was_created(
    context: &mut Context<'_>,
    address: AccountAddress,
    account: &Account,
) -> Result<bool, VmError> {
    Ok(account.authentication_key != address.as_bytes()
        || context
            .read_resource::<MultisigAccount>(address, &[])?
            .is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_sdk() {
        // The TypeScript SDK's `createResourceAddress`.
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
