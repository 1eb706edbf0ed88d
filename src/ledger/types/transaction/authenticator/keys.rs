//! Public keys and signatures of every kind as they stand on the wire, and what an account's
//! authentication key is made of.

use super::unsupported::{
    FederatedKeylessPublicKey, KeylessPublicKey, KeylessSignature, SlhDsaPublicKey, SlhDsaSignature,
};
use bytes::Bytes;
use ledger_crypto::{
    Ed25519PublicKey, Ed25519Signature, HashValue, Scheme, authentication_key, webauthn::Assertion,
};
use serde::{Deserialize, Serialize};

/// Several ed25519 keys and a threshold byte, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519PublicKey(pub Bytes);

impl MultiEd25519PublicKey {
    /// The authentication key of an account that signs with these keys.
    pub fn authentication_key(&self) -> HashValue {
        authentication_key(&self.0, Scheme::MultiEd25519)
    }
}

/// Several ed25519 signatures and a 4-byte bitmap, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519Signature(pub Bytes);

/// A public key of any kind. The order of the variants is the wire's.
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
    /// The authentication key of an account that signs with this key alone.
    pub fn authentication_key(&self) -> HashValue {
        bcs_authentication_key(self, Scheme::SingleKey)
    }

    /// What signatures of this key are called in a refusal, where this ledger checks none of its kind.
    pub fn unsupported(&self) -> Option<&'static str> {
        match self {
            Self::Ed25519(_) | Self::Secp256k1Ecdsa(_) | Self::Secp256r1Ecdsa(_) => None,
            Self::Keyless(_) => Some("a keyless signature"),
            Self::FederatedKeyless(_) => Some("a federated keyless signature"),
            Self::SlhDsa(_) => Some("an SLH-DSA signature"),
        }
    }
}

/// A signature of any kind. The order of the variants is the wire's.
///
/// A keyless signature is boxed: it is several times as large as the others and never held for long.
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
    /// What this signature is called in a refusal, where this ledger checks none of its kind.
    pub fn unsupported(&self) -> Option<&'static str> {
        match self {
            Self::Ed25519(_) | Self::Secp256k1Ecdsa(_) | Self::WebAuthn(_) => None,
            Self::Keyless(_) => Some("a keyless signature"),
            Self::SlhDsa(_) => Some("an SLH-DSA signature"),
        }
    }
}

/// Several keys of any kind, of which some must sign.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiKey {
    /// The keys.
    pub public_keys: Vec<AnyPublicKey>,
    /// How many must sign.
    pub signatures_required: u8,
}

impl MultiKey {
    /// The most keys of a set, which is what the bitmap has room for.
    pub const KEYS_MAX: usize = 32;

    /// The authentication key of an account that signs with these keys.
    pub fn authentication_key(&self) -> HashValue {
        bcs_authentication_key(self, Scheme::MultiKey)
    }
}

/// The authentication key of a public key whose preimage is its BCS form.
fn bcs_authentication_key<K: Serialize>(public_key: &K, scheme: Scheme) -> HashValue {
    let bytes = bcs::to_bytes(public_key).expect("a public key has a BCS form");
    authentication_key(&bytes, scheme)
}
