//! Digests that stand for state keys, accounts and event streams in the index.
//!
//! Keyed with a secret of the data directory (SipHash-1-3, 128 bit): whoever chooses names cannot
//! make two of them meet, and a digest costs a tenth of a cryptographic hash.
//!
//! The digests of the state keys of one address begin with the same bytes, so that its slots stand
//! together in the index and can be listed; which address that is, the row decides.

use crate::StoreError;
use ledger_types::{AccountAddress, EventKey, StateKey};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// How many bytes of a state key's digest are kept. All of them, since the state below the window
/// is told apart by the digest alone.
pub(crate) const STATE_DIGEST_BYTES: usize = 16;
/// How many of them are the same for all keys of one address. Of 10^9 addresses one in 280,000 shares
/// them with another, which costs a listing some rows to skip. The other 10 bytes tell the keys of an
/// address apart: two of 10^6 keys of one address meet with probability 4 * 10^-13, two of 10^9 addresses
/// with 100 keys each with 4 * 10^-12.
pub(crate) const ADDRESS_PREFIX_BYTES: usize = 6;
/// How many bytes of an account's or stream's digest are kept; the row decides where two meet.
pub(crate) const PREFIX_BYTES: usize = 12;
/// A digest of a state key, or of what has its place beside them in the index.
pub(crate) type StateDigest = [u8; STATE_DIGEST_BYTES];
/// Begins the storage encoding of a state key that belongs to an address; the address follows.
const OF_ADDRESS: u8 = 0;

/// The secret of a data directory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigestKey([u8; 16]);

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey")
    }
}

impl DigestKey {
    /// A new secret.
    pub(crate) fn random() -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// The secret as it was stored.
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    fn hasher(&self, parts: &[&[u8]]) -> SipHasher13 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        for part in parts {
            hasher.write(part);
        }
        hasher
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.hasher(parts).finish128().as_bytes()
    }

    fn prefix(&self, parts: &[&[u8]]) -> [u8; PREFIX_BYTES] {
        first_bytes(&self.hasher(parts))
    }

    /// The digest of a state key; that of a key of an address begins as [`Self::owner`] says.
    pub(crate) fn state_key(&self, key: &StateKey) -> StateDigest {
        self.encoded_state_key(key.as_bytes())
    }

    /// As [`Self::state_key`], of a key in its storage encoding.
    pub(crate) fn encoded_state_key(&self, encoded: &[u8]) -> StateDigest {
        let of_address = encoded.strip_prefix(&[OF_ADDRESS]);
        let Some((address, path)) = of_address.and_then(<[u8]>::split_first_chunk) else {
            return self.digest(&[encoded]);
        };
        let mut hasher = self.address_hasher(&AccountAddress::new(*address));
        let prefix: [u8; ADDRESS_PREFIX_BYTES] = first_bytes(&hasher);
        hasher.write(path);
        let mut digest = hasher.finish128().as_bytes();
        digest[..ADDRESS_PREFIX_BYTES].copy_from_slice(&prefix);
        digest
    }

    /// How the digests of the state keys of an address begin.
    pub(crate) fn address_prefix(&self, address: &AccountAddress) -> [u8; ADDRESS_PREFIX_BYTES] {
        first_bytes(&self.address_hasher(address))
    }

    fn address_hasher(&self, address: &AccountAddress) -> SipHasher13 {
        self.hasher(&[&[OF_ADDRESS], address.as_bytes()])
    }

    /// The prefix of an account.
    pub(crate) fn account(&self, address: &AccountAddress) -> [u8; PREFIX_BYTES] {
        self.prefix(&[address.as_bytes()])
    }

    /// The prefix of an account's transactions with a nonce. What is hashed is longer than an address,
    /// so it is that of no account.
    pub(crate) fn orderless(&self, address: &AccountAddress) -> [u8; PREFIX_BYTES] {
        self.prefix(&[address.as_bytes(), b"orderless"])
    }

    /// The prefix of an event stream.
    pub(crate) fn stream(&self, key: &EventKey) -> [u8; PREFIX_BYTES] {
        self.prefix(&[
            key.account_address.as_bytes(),
            &key.creation_number.to_be_bytes(),
        ])
    }

    /// The secret of the block log. What is hashed begins with a byte that begins no state key, and is shorter
    /// than what stands for a stream.
    pub(crate) fn wal_key(&self) -> LogKey {
        LogKey(self.digest(&[&[u8::MAX], b"block log"]))
    }

    /// The digest of an event stream among the entries below the window. What is hashed begins with a
    /// byte that begins no state key.
    pub(crate) fn stream_end(&self, key: &EventKey) -> StateDigest {
        self.digest(&[
            &[u8::MAX],
            key.account_address.as_bytes(),
            &key.creation_number.to_be_bytes(),
        ])
    }
}

pub(crate) const DIGEST_BYTES: usize = 16;
pub(crate) type Digest = [u8; DIGEST_BYTES];

/// The secret of the digests.
#[derive(Clone, Copy)]
pub(crate) struct LogKey(pub(crate) [u8; 16]);

impl std::fmt::Debug for LogKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogKey")
    }
}

impl LogKey {
    pub(crate) fn digest(&self, bytes: &[u8]) -> Digest {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(bytes);
        hasher.finish128().as_bytes()
    }
}

/// The first bytes of the digest of what was hashed so far.
fn first_bytes<const N: usize>(hasher: &SipHasher13) -> [u8; N] {
    let mut first = [0; N];
    first.copy_from_slice(&hasher.finish128().as_bytes()[..N]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_address_begin_alike_and_no_others() {
        let key = DigestKey::from_bytes([7; 16]);
        let (one, other) = (AccountAddress::ONE, AccountAddress::from_low_u64(2));
        let tags = ["0x1::a::A", "0x1::a::B", "0x1::b::B<u8>"].map(|tag| tag.parse().unwrap());
        let state_keys = tags.iter().flat_map(|tag| {
            [
                StateKey::resource(&one, tag),
                StateKey::resource_group(&one, tag),
            ]
        });
        let mut digests: Vec<_> = state_keys.map(|slot| key.state_key(&slot)).collect();
        assert!(
            digests
                .iter()
                .all(|digest| digest.starts_with(&key.address_prefix(&one)))
        );
        digests.sort_unstable();
        digests.dedup_by_key(|digest| digest[ADDRESS_PREFIX_BYTES..].to_vec());
        assert_eq!(digests.len(), 6, "the rest tells them apart");
        for foreign in [
            StateKey::resource(&other, &tags[0]),
            StateKey::table_item(&one, &[]),
            StateKey::table_item(&one, &StateKey::resource(&one, &tags[0]).as_bytes()[33..]),
        ] {
            assert!(
                !key.state_key(&foreign)
                    .starts_with(&key.address_prefix(&one))
            );
        }
    }

    /// A table's keys come from clients and may be nearly as long as a transaction.
    #[test]
    fn distinguishes_long_keys_by_every_byte() {
        let digest_key = DigestKey::from_bytes([7; 16]);
        let mut item = vec![1; 64 * 1024];
        let mut digests =
            vec![digest_key.state_key(&StateKey::table_item(&AccountAddress::ONE, &item))];
        for place in (0..item.len())
            .step_by(997)
            .chain([32 * 1024, item.len() - 1])
        {
            item[place] ^= 1;
            digests.push(digest_key.state_key(&StateKey::table_item(&AccountAddress::ONE, &item)));
            item[place] ^= 1;
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
