//! WebAuthn assertions, the signatures of passkeys over transactions.
//!
//! The challenge of an assertion is SHA3-256 of the signing message. The browser writes it into the
//! client data, a JSON text. With a key on secp256r1, the passkey signs
//! `SHA-256(authenticator_data || SHA-256(client_data))`.
//!
//! The check ignores the origin in the client data and the flags in the authenticator data. They
//! concern only the user and the wallet: the account has authorized the key, and the challenge
//! binds the signature to one transaction.

use crate::{
    HashValue,
    ecdsa::{EcdsaError, secp256r1},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum size of an assertion in BCS, in bytes.
///
/// The reference node has the same limit, but does not count the bytes that BCS adds
/// (docs/reference/reference-node.md#r29).
pub const ASSERTION_BYTES_MAX: usize = 1_024;
/// Required type of the client data.
const ASSERTION_TYPE: &str = "webauthn.get";

/// An assertion in its wire format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assertion {
    /// The signature over [`Assertion::signed_digest`].
    pub signature: AssertionSignature,
    /// The authenticator data, whose content is not checked.
    pub authenticator_data: Bytes,
    /// The client data as JSON text.
    pub client_data_json: Bytes,
}

/// The signature of an assertion, by scheme.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AssertionSignature {
    Secp256r1Ecdsa(Bytes),
}

/// The reason for the rejection of an assertion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebAuthnError {
    /// The assertion has more than [`ASSERTION_BYTES_MAX`] bytes in BCS. Assertions of passkeys are
    /// smaller.
    #[error("the assertion has more than {ASSERTION_BYTES_MAX} bytes")]
    TooLarge,
    /// The client data is not a JSON object with a type and a challenge, each exactly once.
    #[error("the client data is not the JSON of an assertion")]
    ClientData,
    /// The type in the client data is not the one of an assertion.
    #[error("the client data's type is not {ASSERTION_TYPE}")]
    Type,
    /// The client data has another challenge, or another encoding of it.
    #[error(
        "the client data's challenge is not the hash of the message in base64url without padding"
    )]
    Challenge,
    /// The key or the signature is invalid.
    #[error(transparent)]
    Signature(#[from] EcdsaError),
}

/// The checked members of the client data. serde rejects a duplicate of either.
#[derive(Deserialize)]
struct ClientData<'a> {
    #[serde(rename = "type", borrow)]
    type_name: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    challenge: std::borrow::Cow<'a, str>,
}

/// Returns the challenge that the client data must have for a message.
///
/// The message is the concatenation of the parts in `message`. The challenge is its SHA3-256 in
/// base64url without padding.
pub fn challenge(message: &[&[u8]]) -> String {
    URL_SAFE_NO_PAD.encode(HashValue::sha3_of(message).as_bytes())
}

impl Assertion {
    /// Checks the assertion of the passkey with the public key `key` over a message.
    ///
    /// The message is the concatenation of the parts in `message`.
    ///
    /// # Errors
    ///
    /// Returns the first of these that applies:
    ///
    /// * [`WebAuthnError::TooLarge`] if the assertion has more than [`ASSERTION_BYTES_MAX`] bytes.
    /// * [`WebAuthnError::ClientData`] if the client data cannot be parsed.
    /// * [`WebAuthnError::Type`] if the type of the client data is not `webauthn.get`.
    /// * [`WebAuthnError::Challenge`] if the challenge differs from [`challenge`] of the message.
    /// * [`WebAuthnError::Signature`] if [`secp256r1::verify_digest`] rejects key or signature.
    pub fn verify(&self, key: &[u8], message: &[&[u8]]) -> Result<(), WebAuthnError> {
        let AssertionSignature::Secp256r1Ecdsa(signature) = &self.signature;
        let size_bytes = bcs::serialized_size(self).expect("an assertion has a BCS form");
        if size_bytes > ASSERTION_BYTES_MAX {
            return Err(WebAuthnError::TooLarge);
        }
        let client_data: ClientData<'_> = serde_json::from_slice(&self.client_data_json)
            .map_err(|_| WebAuthnError::ClientData)?;
        if client_data.type_name != ASSERTION_TYPE {
            return Err(WebAuthnError::Type);
        }
        // Compares the text and not the decoded bytes, so that a challenge has only one encoding.
        if client_data.challenge != challenge(message) {
            return Err(WebAuthnError::Challenge);
        }
        let digest = self.signed_digest();
        Ok(secp256r1::verify_digest(key, &digest, signature)?)
    }

    /// Returns the SHA-256 hash that the passkey signs.
    ///
    /// The preimage is the authenticator data followed by SHA-256 of the client data.
    pub fn signed_digest(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(&self.authenticator_data);
        hasher.update(Sha256::digest(&self.client_data_json));
        hasher.finalize().into()
    }
}
