//! Wire forms of public keys and signatures of every kind, and the authentication keys of accounts.

use super::unsupported::{
    FederatedKeylessPublicKey, KeylessPublicKey, KeylessSignature, SlhDsaPublicKey, SlhDsaSignature,
};
use bytes::Bytes;
use ledger_crypto::{
    Ed25519PublicKey, Ed25519Signature, HashValue, Scheme, authentication_key, webauthn::Assertion,
};
use serde::{Deserialize, Serialize};

/// Several Ed25519 keys and a threshold byte, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519PublicKey(pub Bytes);

impl MultiEd25519PublicKey {
    /// Returns the authentication key of an account that signs with these keys.
    pub fn authentication_key(&self) -> HashValue {
        authentication_key(&self.0, Scheme::MultiEd25519)
    }
}

/// Several Ed25519 signatures and a 4-byte bitmap, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519Signature(pub Bytes);

/// A public key of any kind. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AnyPublicKey {
    Ed25519(Ed25519PublicKey),
    Secp256k1Ecdsa(Bytes),
    Secp256r1Ecdsa(Bytes),
    Keyless(Box<KeylessPublicKey>),
    FederatedKeyless(Box<FederatedKeylessPublicKey>),
    SlhDsa(SlhDsaPublicKey),
}

impl AnyPublicKey {
    /// Returns the authentication key of an account that signs with this key alone.
    pub fn authentication_key(&self) -> HashValue {
        bcs_authentication_key(self, Scheme::SingleKey)
    }

    /// Returns the name of this key's signatures in error messages, or `None` if this ledger checks
    /// them.
    pub fn unsupported_kind(&self) -> Option<&'static str> {
        match self {
            Self::Ed25519(_) | Self::Secp256k1Ecdsa(_) | Self::Secp256r1Ecdsa(_) => None,
            Self::Keyless(_) => Some("a keyless signature"),
            Self::FederatedKeyless(_) => Some("a federated keyless signature"),
            Self::SlhDsa(_) => Some("an SLH-DSA signature"),
        }
    }
}

/// A signature of any kind. The order of the variants is part of the BCS format.
///
/// A keyless signature is boxed, because it is several times as large as the others and always
/// short-lived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AnySignature {
    Ed25519(Ed25519Signature),
    Secp256k1Ecdsa(Bytes),
    WebAuthn(Assertion),
    Keyless(Box<KeylessSignature>),
    SlhDsa(SlhDsaSignature),
}

impl AnySignature {
    /// Returns the name of this signature in error messages, or `None` if this ledger checks it.
    pub fn unsupported_kind(&self) -> Option<&'static str> {
        match self {
            Self::Ed25519(_) | Self::Secp256k1Ecdsa(_) | Self::WebAuthn(_) => None,
            Self::Keyless(_) => Some("a keyless signature"),
            Self::SlhDsa(_) => Some("an SLH-DSA signature"),
        }
    }
}

/// A set of keys of any kind with the number of keys that must sign.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiKey {
    /// The keys, in the order of the bitmap.
    pub public_keys: Vec<AnyPublicKey>,
    /// Number of keys that must sign.
    pub signatures_required: u8,
}

impl MultiKey {
    /// Maximum number of keys in a set, which is the capacity of the bitmap.
    pub const KEYS_MAX: usize = 32;

    /// Returns the authentication key of an account that signs with these keys.
    pub fn authentication_key(&self) -> HashValue {
        bcs_authentication_key(self, Scheme::MultiKey)
    }
}

/// Returns the authentication key of a public key, which hashes the key's BCS form.
fn bcs_authentication_key<K: Serialize>(public_key: &K, scheme: Scheme) -> HashValue {
    let bytes = bcs::to_bytes(public_key).expect("a public key has a BCS form");
    authentication_key(&bytes, scheme)
}
