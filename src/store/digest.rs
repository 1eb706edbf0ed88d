//! Digests that stand for state keys, accounts and event streams in the index.
//!
//! Keyed with a secret of the data directory (SipHash-1-3, 128 bit): whoever chooses names cannot
//! make two of them meet, and a digest costs a tenth of a cryptographic hash.

use crate::StoreError;
use ledger::{AccountAddress, EventKey};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// How many bytes of a state key's digest are kept. All of them, since the state below the window
/// is told apart by the digest alone: two of 10^10 keys meet with probability 10^-19.
pub(crate) const STATE_DIGEST_BYTES: usize = 16;
/// How many bytes of an account's or stream's digest are kept; the row decides where two meet.
pub(crate) const PREFIX_BYTES: usize = 12;

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

    fn digest(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        for part in parts {
            hasher.write(part);
        }
        hasher.finish128().as_bytes()
    }

    fn prefix(&self, parts: &[&[u8]]) -> [u8; PREFIX_BYTES] {
        let digest = self.digest(parts);
        let mut prefix = [0; PREFIX_BYTES];
        prefix.copy_from_slice(&digest[..PREFIX_BYTES]);
        prefix
    }

    /// The digest of a state key in its storage encoding.
    pub(crate) fn state_key(&self, encoded: &[u8]) -> [u8; STATE_DIGEST_BYTES] {
        self.digest(&[encoded])
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
        self.prefix(&[key.account_address.as_bytes(), &key.creation_number.to_be_bytes()])
    }

    /// The digest of an event stream among the entries below the window. What is hashed begins with a
    /// byte that begins no state key.
    pub(crate) fn stream_end(&self, key: &EventKey) -> [u8; STATE_DIGEST_BYTES] {
        self.digest(&[
            &[u8::MAX],
            key.account_address.as_bytes(),
            &key.creation_number.to_be_bytes(),
        ])
    }
}
