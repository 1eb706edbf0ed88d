//! JSON forms of single public keys and signatures, each with its kind.
//!
//! A key or signature that is a single byte string has the JSON form of its bytes. One with several
//! parts (WebAuthn, keyless, hash-based) has the form of its BCS bytes, as on the reference node.

use super::{
    convert::{SignatureFormError, exact},
    hex_form::{HexArray, HexBytes},
};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_types::transaction::{AnyPublicKey, AnySignature, SIGNED_TRANSACTION_DEPTH_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Name of an Ed25519 key in errors.
pub(super) const ED25519_KEY: &str = "an Ed25519 public key";
/// Name of an Ed25519 signature in errors.
pub(super) const ED25519_SIGNATURE: &str = "an Ed25519 signature";

/// An Ed25519 public key of 32 bytes and a signature of 64 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ed25519Signature", inline)]
pub(crate) struct Ed25519Json {
    pub public_key: HexArray<32>,
    pub signature: HexArray<64>,
}

/// A public key of any kind that the ledger decodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
#[schemars(rename = "PublicKey")]
pub(crate) enum PublicKeyJson {
    Ed25519(HexArray<32>),
    Secp256k1Ecdsa(HexBytes),
    Secp256r1Ecdsa(HexBytes),
    Keyless(HexBytes),
    FederatedKeyless(HexBytes),
    // The reference node's naming rule derives the alias.
    #[serde(rename = "slh_dsa_sha2_128s", alias = "slh_dsa__sha2_128s")]
    SlhDsa(HexBytes),
}

/// A signature of any kind that the ledger decodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
#[schemars(rename = "KeySignature")]
pub(crate) enum AnySignatureJson {
    Ed25519(HexArray<64>),
    Secp256k1Ecdsa(HexBytes),
    WebAuthn(HexBytes),
    Keyless(HexBytes),
    #[serde(rename = "slh_dsa_sha2_128s", alias = "slh_dsa__sha2_128s")]
    SlhDsa(HexBytes),
}

impl Ed25519Json {
    pub fn new(public_key: &Ed25519PublicKey, signature: &Ed25519Signature) -> Self {
        Self {
            public_key: HexArray::new(public_key.0),
            signature: HexArray::new(signature.0),
        }
    }

    /// Returns the key and the signature.
    ///
    /// # Errors
    ///
    /// Returns [`SignatureFormError::Length`] if one of them has another length.
    pub fn parts(&self) -> Result<(Ed25519PublicKey, Ed25519Signature), SignatureFormError> {
        Ok((
            Ed25519PublicKey(exact(ED25519_KEY, &self.public_key)?),
            Ed25519Signature(exact(ED25519_SIGNATURE, &self.signature)?),
        ))
    }
}

/// Returns the BCS form of a part of an authenticator.
pub(super) fn bcs_hex(part: &impl Serialize) -> HexBytes {
    let bytes = bcs::to_bytes(part).expect("a part of an authenticator has a BCS form");
    HexBytes(bytes.into())
}

/// Decodes a part of an authenticator from its BCS form. `part` is its name in the error.
///
/// # Errors
///
/// Returns [`SignatureFormError::Bcs`] if the bytes are not exactly one `T`.
pub(super) fn from_bcs<T: DeserializeOwned>(
    part: &'static str,
    bytes: &HexBytes,
) -> Result<T, SignatureFormError> {
    bcs::from_bytes_with_limit(&bytes.0, SIGNED_TRANSACTION_DEPTH_MAX)
        .map_err(|cause| SignatureFormError::Bcs { part, cause })
}

impl From<&AnyPublicKey> for PublicKeyJson {
    fn from(key: &AnyPublicKey) -> Self {
        match key {
            AnyPublicKey::Ed25519(key) => Self::Ed25519(HexArray::new(key.0)),
            AnyPublicKey::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(HexBytes(bytes.clone())),
            AnyPublicKey::Secp256r1Ecdsa(bytes) => Self::Secp256r1Ecdsa(HexBytes(bytes.clone())),
            AnyPublicKey::Keyless(key) => Self::Keyless(bcs_hex(key)),
            AnyPublicKey::FederatedKeyless(key) => Self::FederatedKeyless(bcs_hex(key)),
            AnyPublicKey::SlhDsa(key) => Self::SlhDsa(bcs_hex(key)),
        }
    }
}

impl TryFrom<PublicKeyJson> for AnyPublicKey {
    type Error = SignatureFormError;

    fn try_from(key: PublicKeyJson) -> Result<Self, SignatureFormError> {
        Ok(match key {
            PublicKeyJson::Ed25519(key) => {
                Self::Ed25519(Ed25519PublicKey(exact(ED25519_KEY, &key)?))
            }
            PublicKeyJson::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(bytes.0),
            PublicKeyJson::Secp256r1Ecdsa(bytes) => Self::Secp256r1Ecdsa(bytes.0),
            PublicKeyJson::Keyless(bytes) => {
                Self::Keyless(from_bcs("a keyless public key", &bytes)?)
            }
            PublicKeyJson::FederatedKeyless(bytes) => {
                Self::FederatedKeyless(from_bcs("a federated keyless public key", &bytes)?)
            }
            PublicKeyJson::SlhDsa(bytes) => {
                Self::SlhDsa(from_bcs("an SLH-DSA public key", &bytes)?)
            }
        })
    }
}

impl From<&AnySignature> for AnySignatureJson {
    fn from(signature: &AnySignature) -> Self {
        match signature {
            AnySignature::Ed25519(signature) => Self::Ed25519(HexArray::new(signature.0)),
            AnySignature::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(HexBytes(bytes.clone())),
            AnySignature::WebAuthn(assertion) => Self::WebAuthn(bcs_hex(assertion)),
            AnySignature::Keyless(signature) => Self::Keyless(bcs_hex(signature)),
            AnySignature::SlhDsa(signature) => Self::SlhDsa(bcs_hex(signature)),
        }
    }
}

impl TryFrom<AnySignatureJson> for AnySignature {
    type Error = SignatureFormError;

    fn try_from(signature: AnySignatureJson) -> Result<Self, SignatureFormError> {
        Ok(match signature {
            AnySignatureJson::Ed25519(signature) => {
                Self::Ed25519(Ed25519Signature(exact(ED25519_SIGNATURE, &signature)?))
            }
            AnySignatureJson::Secp256k1Ecdsa(bytes) => Self::Secp256k1Ecdsa(bytes.0),
            AnySignatureJson::WebAuthn(bytes) => {
                Self::WebAuthn(from_bcs("a WebAuthn assertion", &bytes)?)
            }
            AnySignatureJson::Keyless(bytes) => {
                Self::Keyless(from_bcs("a keyless signature", &bytes)?)
            }
            AnySignatureJson::SlhDsa(bytes) => {
                Self::SlhDsa(from_bcs("an SLH-DSA signature", &bytes)?)
            }
        })
    }
}
