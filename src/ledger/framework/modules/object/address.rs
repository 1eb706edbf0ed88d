//! Derivation of object addresses.
//!
//! An address is the SHA3-256 hash of the inputs and a scheme byte. Each kind of derivation has its
//! own byte, so that two kinds never produce the same address. The bytes are constants of the
//! `object` module of the reference node.

use ledger_crypto::{HashBatch, HashValue};
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// Scheme of an address derived from the address of another object.
const DERIVED_SCHEME: u8 = 0xfc;
/// Scheme of an address derived from the next creation number of an account.
const GUID_SCHEME: u8 = 0xfd;
/// Scheme of an address derived from a seed.
const SEED_SCHEME: u8 = 0xfe;

fn sha3_address(parts: &[&[u8]]) -> AccountAddress {
    AccountAddress::new(*HashValue::sha3_of(parts).as_bytes())
}

/// Returns the address of the object that `creator` creates with `seed`.
pub fn named_address(creator: AccountAddress, seed: &[u8]) -> AccountAddress {
    sha3_address(&[creator.as_bytes(), seed, &[SEED_SCHEME]])
}

/// Returns the address of the object that belongs to `owner` and is derived from the object at
/// `derive_from`, such as the primary store of an asset.
pub fn user_derived_address(owner: AccountAddress, derive_from: AccountAddress) -> AccountAddress {
    sha3_address(&[owner.as_bytes(), derive_from.as_bytes(), &[DERIVED_SCHEME]])
}

/// Returns [`user_derived_address`] of each of `owners`, in their order.
pub fn user_derived_addresses(
    owners: &[AccountAddress],
    derive_from: AccountAddress,
) -> Vec<AccountAddress> {
    let mut batch = HashBatch::default();
    for owner in owners {
        batch.push_unprefixed(&[owner.as_bytes(), derive_from.as_bytes(), &[DERIVED_SCHEME]]);
    }
    let hashes = batch.finish().into_iter();
    hashes
        .map(|hash| AccountAddress::new(*hash.as_bytes()))
        .collect()
}

/// Returns the address of the object that `source` creates with the creation number `creation_num`.
pub fn guid_address(source: AccountAddress, creation_num: u64) -> AccountAddress {
    sha3_address(&[
        &creation_num.to_le_bytes(),
        source.as_bytes(),
        &[GUID_SCHEME],
    ])
}

/// Charges for one derivation that hashes addresses and a seed of `seed_bytes`.
///
/// # Errors
///
/// Returns [`VmError::OutOfGas`] if gas runs out.
pub fn charge_derivation(context: &mut Context<'_>, seed_bytes: usize) -> Result<(), VmError> {
    let bytes = (seed_bytes as u64).saturating_add(2 * HashValue::LENGTH as u64);
    context.charge(cost::HASH_BASE.saturating_add(cost::HASH_PER_BYTE.saturating_mul(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The TypeScript SDK computed the first three addresses (`createObjectAddress`,
    /// `createUserDerivedObjectAddress`). It has no function for the last one, which is the
    /// SHA3-256 hash of the BCS form of `guid::ID` and the scheme, computed with another
    /// implementation of the hash.
    #[test]
    fn derives_the_same_addresses_as_clients() {
        let creator = AccountAddress::new([0x11; 32]);
        let other = AccountAddress::new([0x22; 32]);
        let cases = [
            (
                named_address(creator, b"MOON"),
                "0x0e79f18e10a70bcc8555547dedf25e7c532ab03715006a7ee5b55f93580b86b6",
            ),
            (
                named_address(creator, b""),
                "0xf9494bb0c04d85dcf4d941989510c44a8bea79be2cc4f3ef918c89eab3477a5e",
            ),
            (
                user_derived_address(creator, other),
                "0x8218a0768db3652c210d09c228ea478aa90aedbe404ecbeef99f738244a92e6c",
            ),
            (
                guid_address(creator, 7),
                "0xc86cf13a753f105b7333235fbeeb7cdc1323bf1556495b1860471492c92484b2",
            ),
        ];
        for (derived, expected) in cases {
            assert_eq!(derived, expected.parse().unwrap());
        }
        let owners = [creator, other, AccountAddress::ONE];
        let single = owners.map(|owner| user_derived_address(owner, other));
        assert_eq!(user_derived_addresses(&owners, other), single);
    }
}
