//! Single keys and signatures, each with its kind.

use super::hex_form::{HexArray, HexBytes};
use ledger::{
    crypto::{Ed25519PublicKey, Ed25519Signature},
    transaction::{AnyPublicKey, AnySignature},
};
use serde::{Deserialize, Serialize};

/// An ed25519 key and signature; their lengths are exact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Ed25519Json {
    pub public_key: HexArray<32>,
    pub signature: HexArray<64>,
}

/// A public key of any kind that the ledger reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub(crate) enum PublicKeyJson {
    Ed25519(HexArray<32>),
    Secp256k1Ecdsa(HexBytes),
    Secp256r1Ecdsa(HexBytes),
}

/// A signature of any kind that the ledger reads. A WebAuthn assertion is shown as its BCS bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub(crate) enum AnySignatureJson {
    Ed25519(HexArray<64>),
    Secp256k1Ecdsa(HexBytes),
    WebAuthn(HexBytes),
}

/// One of several signatures, with the place of its key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct IndexedSignatureJson {
    pub index: u8,
    pub signature: AnySignatureJson,
}

impl Ed25519Json {
    pub fn new(public_key: &Ed25519PublicKey, signature: &Ed25519Signature) -> Self {
        Self {
            public_key: HexArray(public_key.0),
            signature: HexArray(signature.0),
        }
    }
}

impl From<&AnyPublicKey> for PublicKeyJson {
    fn from(key: &AnyPublicKey) -> Self {
        match key {
            AnyPublicKey::Ed25519(key) => Self::Ed25519(HexArray(key.0)),
            AnyPublicKey::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(HexBytes(bytes.clone())),
            AnyPublicKey::Secp256r1Ecdsa(bytes) => Self::Secp256r1Ecdsa(HexBytes(bytes.clone())),
            AnyPublicKey::Keyless(never) => match *never {},
            AnyPublicKey::FederatedKeyless(never) => match *never {},
            AnyPublicKey::SlhDsa(never) => match *never {},
        }
    }
}

impl From<PublicKeyJson> for AnyPublicKey {
    fn from(key: PublicKeyJson) -> Self {
        match key {
            PublicKeyJson::Ed25519(key) => Self::Ed25519(Ed25519PublicKey(key.0)),
            PublicKeyJson::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(bytes.0),
            PublicKeyJson::Secp256r1Ecdsa(bytes) => Self::Secp256r1Ecdsa(bytes.0),
        }
    }
}

impl From<&AnySignature> for AnySignatureJson {
    fn from(signature: &AnySignature) -> Self {
        match signature {
            AnySignature::Ed25519(signature) => Self::Ed25519(HexArray(signature.0)),
            AnySignature::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(HexBytes(bytes.clone())),
            AnySignature::WebAuthn(assertion) => {
                let bytes = bcs::to_bytes(assertion).expect("an assertion has a BCS form");
                Self::WebAuthn(HexBytes(bytes.into()))
            }
            AnySignature::Keyless(never) => match *never {},
            AnySignature::SlhDsa(never) => match *never {},
        }
    }
}

impl TryFrom<AnySignatureJson> for AnySignature {
    type Error = bcs::Error;

    fn try_from(signature: AnySignatureJson) -> Result<Self, bcs::Error> {
        Ok(match signature {
            AnySignatureJson::Ed25519(signature) => Self::Ed25519(Ed25519Signature(signature.0)),
            AnySignatureJson::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(bytes.0),
            AnySignatureJson::WebAuthn(bytes) => Self::WebAuthn(bcs::from_bytes(&bytes.0)?),
        })
    }
}
