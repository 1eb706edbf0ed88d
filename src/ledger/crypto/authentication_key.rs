//! Authentication keys of accounts.

use crate::{Ed25519PublicKey, HashBatch, HashValue};

/// The kind of a public key, as the last byte of the preimage of an authentication key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(
    missing_docs,
    reason = "the variants are the kinds of keys of the same names"
)]
pub enum Scheme {
    Ed25519 = 0,
    MultiEd25519 = 1,
    SingleKey = 2,
    MultiKey = 3,
}

/// Returns the authentication key of an account that signs with `public_key`.
///
/// The key is `SHA3-256(public_key || scheme)`. It is also the address of an account that is
/// created from `public_key`.
pub fn authentication_key(public_key: &[u8], scheme: Scheme) -> HashValue {
    HashValue::sha3_of(&[public_key, &[scheme as u8]])
}

impl Ed25519PublicKey {
    /// Returns the authentication key of an account that has this key as its only signer.
    pub fn authentication_key(&self) -> HashValue {
        authentication_key(&self.0, Scheme::Ed25519)
    }

    /// Appends the preimage of [`Self::authentication_key`] to a batch.
    pub fn push_authentication_key(&self, batch: &mut HashBatch) {
        batch.push_unprefixed(&[&self.0, &[Scheme::Ed25519 as u8]]);
    }
}
