//! Where objects are: SHA3-256 of what they are made of and one byte for the way they are made, so
//! that no two ways give the same address (constants of the reference's `object` module).

use crate::{
    AccountAddress, HashValue,
    execute::{Context, Failure, cost},
};

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
    hashed(&[&creation_num.to_le_bytes(), source.as_bytes(), &[GUID_SCHEME]])
}

/// Charges for one derivation that hashes a seed of `seed_bytes` beside addresses.
///
/// # Errors
/// When gas runs out.
pub fn charge_derivation(context: &mut Context<'_>, seed_bytes: usize) -> Result<(), Failure> {
    let bytes = (seed_bytes as u64).saturating_add(2 * HashValue::LENGTH as u64);
    context.charge(cost::HASH_BASE.saturating_add(cost::HASH_PER_BYTE.saturating_mul(bytes)))
}
