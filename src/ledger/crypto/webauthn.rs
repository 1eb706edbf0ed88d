//! WebAuthn assertions: what a passkey signs when it is asked to sign a transaction.
//!
//! The challenge that it is given is SHA3-256 of the signing message. It signs, with a key on secp256r1,
//! SHA-256 of what it says about itself followed by SHA-256 of the client data, a JSON text in which
//! the browser names the challenge. Which site asked, and what the authenticator says of the user, is
//! between the user and the wallet: the account has agreed to the key, and the challenge binds the
//! signature to the one transaction.

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
/// The reference node has the same number, but does not count the bytes that BCS adds
/// (docs/reference/reference-node.md#r29).
pub const ASSERTION_BYTES_MAX: usize = 1_024;
/// What the client data says it is for.
const ASSERTION_TYPE: &str = "webauthn.get";

/// An assertion as it stands on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assertion {
    /// The signature itself.
    pub signature: AssertionSignature,
    /// What the authenticator said about itself.
    pub authenticator_data: Bytes,
    /// The client data, JSON as text.
    pub client_data_json: Bytes,
}

/// The signature inside an assertion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AssertionSignature {
    Secp256r1Ecdsa(Bytes),
}

/// Why an assertion does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebAuthnError {
    /// It is larger than any that a passkey makes.
    #[error("the assertion has more than {ASSERTION_BYTES_MAX} bytes")]
    TooLarge,
    /// The client data is no JSON object with a type and a challenge.
    #[error("the client data is not the JSON of an assertion")]
    ClientData,
    /// The client data is for something else.
    #[error("the client data's type is not {ASSERTION_TYPE}")]
    Type,
    /// The client data names another challenge, or in another form.
    #[error(
        "the client data's challenge is not the hash of the message in base64url without padding"
    )]
    Challenge,
    /// The key or the signature is refused.
    #[error(transparent)]
    Signature(#[from] EcdsaError),
}

/// What counts of the client data. A member that stands twice is refused by the JSON reader.
#[derive(Deserialize)]
struct ClientData<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    challenge: std::borrow::Cow<'a, str>,
}

/// The challenge that stands for `message`, given in parts, in the client data.
pub fn challenge(message: &[&[u8]]) -> String {
    URL_SAFE_NO_PAD.encode(HashValue::sha3_of(message).as_bytes())
}

impl Assertion {
    /// Checks the assertion of the passkey `key` over `message`, given in parts.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn verify(&self, key: &[u8], message: &[&[u8]]) -> Result<(), WebAuthnError> {
        let AssertionSignature::Secp256r1Ecdsa(signature) = &self.signature;
        let size_bytes = bcs::serialized_size(self).expect("an assertion has a BCS form");
        if size_bytes > ASSERTION_BYTES_MAX {
            return Err(WebAuthnError::TooLarge);
        }
        let client_data: ClientData<'_> = serde_json::from_slice(&self.client_data_json)
            .map_err(|_| WebAuthnError::ClientData)?;
        if client_data.kind != ASSERTION_TYPE {
            return Err(WebAuthnError::Type);
        }
        // The text is compared and not what it decodes to, so that the challenge has one form.
        if client_data.challenge != challenge(message) {
            return Err(WebAuthnError::Challenge);
        }
        let digest = self.signed_digest();
        Ok(secp256r1::verify_digest(key, &digest, signature)?)
    }

    /// The hash that the passkey signs.
    pub fn signed_digest(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(&self.authenticator_data);
        hasher.update(Sha256::digest(&self.client_data_json));
        hasher.finalize().into()
    }
}
