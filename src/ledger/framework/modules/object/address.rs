//! Where objects are: SHA3-256 of what they are made of and one byte for the way they are made, so
//! that no two ways give the same address (constants of the reference's `object` module).

use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// Made of another object's address.
const DERIVED_SCHEME: u8 = 0xfc;
/// Made of an account's next creation number.
const GUID_SCHEME: u8 = 0xfd;
/// Made of a seed.
const SEED_SCHEME: u8 = 0xfe;

fn hashed(parts: &[&[u8]]) -> AccountAddress {
    AccountAddress::new(*HashValue::sha3_of(parts).as_bytes())
}

/// The address of the object that `creator` makes under `seed`.
pub fn named_address(creator: AccountAddress, seed: &[u8]) -> AccountAddress {
    hashed(&[creator.as_bytes(), seed, &[SEED_SCHEME]])
}

/// The address of the object that belongs to `owner` and is derived from the object at `derive_from`,
/// such as the primary store of an asset.
pub fn user_derived_address(owner: AccountAddress, derive_from: AccountAddress) -> AccountAddress {
    hashed(&[owner.as_bytes(), derive_from.as_bytes(), &[DERIVED_SCHEME]])
}

/// The address of the object that `source` made as its `creation_num`-th thing.
pub fn guid_address(source: AccountAddress, creation_num: u64) -> AccountAddress {
    hashed(&[
        &creation_num.to_le_bytes(),
        source.as_bytes(),
        &[GUID_SCHEME],
    ])
}

/// Charges for one derivation that hashes a seed of `seed_bytes` beside addresses.
///
/// # Errors
/// When gas runs out.
pub fn charge_derivation(context: &mut Context<'_>, seed_bytes: usize) -> Result<(), VmError> {
    let bytes = (seed_bytes as u64).saturating_add(2 * HashValue::LENGTH as u64);
    context.charge(cost::HASH_BASE.saturating_add(cost::HASH_PER_BYTE.saturating_mul(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two were made with the TypeScript SDK (`createObjectAddress`,
    /// `createUserDerivedObjectAddress`), which has no function for the third: that is SHA3-256 of the
    /// BCS form of `guid::ID` and the scheme, made with another implementation of the hash.
    #[test]
    fn addresses_are_those_of_the_clients() {
        let creator = AccountAddress::new([0x11; 32]);
        let other = AccountAddress::new([0x22; 32]);
        let known = [
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
        for (derived, expected) in known {
            assert_eq!(derived, expected.parse().unwrap());
        }
    }
}
