//! Digests that replace state keys, accounts, and event streams in the indices, and the key of the
//! write-ahead log.
//!
//! Digests are keyed with a secret of the data directory (SipHash-1-3, 128 bit), so a client that
//! chooses names cannot make two of them collide. A digest takes a tenth of the time of a
//! cryptographic hash.
//!
//! The digests of the state keys of one address begin with the same bytes. The keys are so adjacent
//! in the index and can be listed. The row determines the address.

use crate::StoreError;
use ledger_types::{AccountAddress, EventKey, StateKey};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// Size of a digest, in bytes.
pub(crate) const DIGEST_BYTES: usize = 16;
/// Size of a state key's digest in an index, in bytes: all of it, because only the digest
/// distinguishes entries of the pruned state.
pub(crate) const STATE_DIGEST_BYTES: usize = DIGEST_BYTES;
/// Number of bytes that the digests of all state keys of an address share.
///
/// Of 10^9 addresses, one in 280,000 shares these bytes with another one, and a listing of it skips
/// some rows. The other 10 bytes distinguish the keys of an address. The probability that two of
/// them collide is 4 * 10^-13 for 10^6 keys of one address, and 4 * 10^-12 for 10^9 addresses with
/// 100 keys each.
pub(crate) const ADDRESS_PREFIX_BYTES: usize = 6;
/// Size of an account's or stream's digest in an index, in bytes. The row decides if two collide.
pub(crate) const PREFIX_BYTES: usize = 12;

/// A digest.
pub(crate) type Digest = [u8; DIGEST_BYTES];
/// A digest of a state key, or of an event stream in the pruned state.
pub(crate) type StateDigest = [u8; STATE_DIGEST_BYTES];

/// First byte of the storage encoding of a state key that belongs to an address. The address
/// follows.
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
    /// Creates a random key.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRandomness`] if the system provides no random bytes.
    pub(crate) fn random() -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// Creates a key from its stored bytes.
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
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

    fn digest(&self, parts: &[&[u8]]) -> Digest {
        self.hasher(parts).finish128().as_bytes()
    }

    fn prefix(&self, parts: &[&[u8]]) -> [u8; PREFIX_BYTES] {
        first_bytes(&self.hasher(parts))
    }

    /// Returns the digest of a state key. That of a key of an address begins with
    /// [`Self::address_prefix`].
    pub(crate) fn state_key(&self, key: &StateKey) -> StateDigest {
        self.encoded_state_key(key.as_bytes())
    }

    /// Returns the digest of a state key in its storage encoding.
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

    /// Returns the first bytes in the digests of all state keys of an address.
    pub(crate) fn address_prefix(&self, address: &AccountAddress) -> [u8; ADDRESS_PREFIX_BYTES] {
        first_bytes(&self.address_hasher(address))
    }

    fn address_hasher(&self, address: &AccountAddress) -> SipHasher13 {
        self.hasher(&[&[OF_ADDRESS], address.as_bytes()])
    }

    /// Returns the prefix of an account's transactions with a sequence number.
    pub(crate) fn account(&self, address: &AccountAddress) -> [u8; PREFIX_BYTES] {
        self.prefix(&[address.as_bytes()])
    }

    /// Returns the prefix of an account's transactions with a nonce.
    ///
    /// The hashed bytes are longer than an address, so they are those of no account.
    pub(crate) fn orderless(&self, address: &AccountAddress) -> [u8; PREFIX_BYTES] {
        self.prefix(&[address.as_bytes(), b"orderless"])
    }

    /// Returns the prefix of an event stream.
    pub(crate) fn stream(&self, key: &EventKey) -> [u8; PREFIX_BYTES] {
        self.prefix(&[
            key.account_address.as_bytes(),
            &key.creation_number.to_be_bytes(),
        ])
    }

    /// Returns the key of the write-ahead log.
    ///
    /// The hashed bytes begin with a byte that begins no state key, and are shorter than those of
    /// [`Self::stream_end`].
    pub(crate) fn wal_key(&self) -> LogKey {
        LogKey(self.digest(&[&[u8::MAX], b"block log"]))
    }

    /// Returns the digest of an event stream in the pruned state.
    ///
    /// The hashed bytes begin with a byte that begins no state key.
    pub(crate) fn stream_end(&self, key: &EventKey) -> StateDigest {
        self.digest(&[
            &[u8::MAX],
            key.account_address.as_bytes(),
            &key.creation_number.to_be_bytes(),
        ])
    }
}

/// The key of the digests in the write-ahead log.
#[derive(Clone, Copy)]
pub(crate) struct LogKey(pub(crate) [u8; 16]);

impl std::fmt::Debug for LogKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogKey")
    }
}

impl LogKey {
    /// Returns the digest of `bytes`.
    pub(crate) fn digest(&self, bytes: &[u8]) -> Digest {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(bytes);
        hasher.finish128().as_bytes()
    }
}

/// Returns the first bytes in the digest of the bytes that were hashed so far.
fn first_bytes<const N: usize>(hasher: &SipHasher13) -> [u8; N] {
    let mut first = [0; N];
    first.copy_from_slice(&hasher.finish128().as_bytes()[..N]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_one_address_share_a_prefix() {
        let key = DigestKey::from_bytes([7; 16]);
        let (one, other) = (AccountAddress::ONE, AccountAddress::from_low_u64(2));
        let tags = ["0x1::a::A", "0x1::a::B", "0x1::b::B<u8>"].map(|tag| tag.parse().unwrap());
        let keys = tags.iter().flat_map(|tag| {
            [
                StateKey::resource(&one, tag),
                StateKey::resource_group(&one, tag),
            ]
        });
        let mut digests: Vec<_> = keys.map(|state_key| key.state_key(&state_key)).collect();
        assert!(
            digests
                .iter()
                .all(|digest| digest.starts_with(&key.address_prefix(&one)))
        );
        digests.sort_unstable();
        digests.dedup_by_key(|digest| digest[ADDRESS_PREFIX_BYTES..].to_vec());
        assert_eq!(digests.len(), 6, "the rest distinguishes them");
        for other_key in [
            StateKey::resource(&other, &tags[0]),
            StateKey::table_item(&one, &[]),
            StateKey::table_item(&one, &StateKey::resource(&one, &tags[0]).as_bytes()[33..]),
        ] {
            assert!(
                !key.state_key(&other_key)
                    .starts_with(&key.address_prefix(&one))
            );
        }
    }

    /// Keys of a table come from clients, and can be nearly as long as a transaction.
    #[test]
    fn distinguishes_long_keys_by_every_byte() {
        let digest_key = DigestKey::from_bytes([7; 16]);
        let mut item = vec![1; 64 * 1024];
        let mut digests =
            vec![digest_key.state_key(&StateKey::table_item(&AccountAddress::ONE, &item))];
        for offset in (0..item.len())
            .step_by(997)
            .chain([32 * 1024, item.len() - 1])
        {
            item[offset] ^= 1;
            digests.push(digest_key.state_key(&StateKey::table_item(&AccountAddress::ONE, &item)));
            item[offset] ^= 1;
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
