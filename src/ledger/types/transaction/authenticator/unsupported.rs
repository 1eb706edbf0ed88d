//! Kinds of signatures that this ledger decodes but does not verify: keyless signatures, hash-based
//! signatures, and signatures of abstract accounts.
//!
//! The proofs of keyless signatures need the keys of an identity provider. Abstract accounts
//! authenticate by their own code.
//!
//! The layouts are those of the reference node (docs/reference/reference-node.md#r28). A
//! transaction with one of these kinds is thus rejected with the name of the kind, not as
//! undecodable bytes. The content is not interpreted. In memory, a value takes at most a small
//! multiple of its encoded size.

use crate::AccountAddress;
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, webauthn::Assertion};
use serde::{Deserialize, Serialize};

/// An identity at an identity provider, hidden in a commitment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeylessPublicKey {
    /// Issuer name of the provider in its tokens.
    pub issuer: String,
    /// Commitment to the identity.
    pub identity_commitment: Bytes,
}

/// An identity at a provider that has its keys in an account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FederatedKeylessPublicKey {
    /// Address of the account with the provider's keys.
    pub jwk_address: AccountAddress,
    /// Identity and its provider.
    pub keyless: KeylessPublicKey,
}

/// A signature by an ephemeral key, with a certificate that the identity chose the key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeylessSignature {
    /// Certificate for the ephemeral key.
    pub certificate: EphemeralCertificate,
    /// Header of the token, as JSON.
    pub jwt_header_json: String,
    /// Time until which the key may sign, in Unix seconds.
    pub expiry_secs: u64,
    /// Ephemeral key.
    pub ephemeral_public_key: EphemeralPublicKey,
    /// Signature by the ephemeral key.
    pub ephemeral_signature: EphemeralSignature,
}

/// A certificate that an identity chose an ephemeral key.
///
/// The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralCertificate {
    ZeroKnowledge(ZeroKnowledgeCertificate),
    OpenId(OpenIdCertificate),
}

/// A zero-knowledge proof that a token exists which names the ephemeral key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ZeroKnowledgeCertificate {
    /// Proof.
    pub proof: ZeroKnowledgeProof,
    /// Period after the issue of the token during which a key may sign, in seconds.
    pub expiry_horizon_secs: u64,
    /// Field of the token that the proof discloses.
    pub extra_field: Option<String>,
    /// Audience, if an account is recovered.
    pub override_audience: Option<String>,
    /// Signature of the prover over the proof.
    pub training_wheels_signature: Option<EphemeralSignature>,
}

/// A zero-knowledge proof of a statement about a token.
///
/// The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ZeroKnowledgeProof {
    /// A Groth16 proof on BN254.
    Groth16 {
        /// Point of the first group.
        a: [u8; 32],
        /// Point of the second group, as two halves.
        b: [[u8; 32]; 2],
        /// Point of the first group.
        c: [u8; 32],
    },
}

/// A certificate that contains the token itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpenIdCertificate {
    /// Signature of the provider.
    pub jwt_signature: Bytes,
    /// Payload of the token, which the provider signed, as JSON.
    pub jwt_payload_json: String,
    /// Name of the token's claim that holds the identity.
    pub uid_key: String,
    /// Blinding value that hides the key in the token.
    pub blinder: Bytes,
    /// Blinding value that hides the identity in the commitment.
    pub pepper: [u8; 31],
    /// Audience in the commitment, if an account is recovered.
    pub commitment_audience: Option<String>,
}

/// A public key that signs for a limited time. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralPublicKey {
    Ed25519(Ed25519PublicKey),
    Secp256r1Ecdsa(Bytes),
}

/// A signature by an ephemeral key. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralSignature {
    Ed25519(Ed25519Signature),
    WebAuthn(Assertion),
}

/// Declares a byte vector of a fixed length, which decoding checks.
macro_rules! byte_vector_of {
    ($(#[$doc:meta])* $name:ident, $length:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(try_from = "Bytes")]
        pub struct $name(Bytes);

        impl $name {
            /// Length, in bytes.
            pub const LENGTH_BYTES: usize = $length;
        }

        impl TryFrom<Bytes> for $name {
            type Error = String;

            fn try_from(bytes: Bytes) -> Result<Self, String> {
                if bytes.len() == Self::LENGTH_BYTES {
                    Ok(Self(bytes))
                } else {
                    Err(format!("expected {} bytes, got {}", Self::LENGTH_BYTES, bytes.len()))
                }
            }
        }
    };
}

byte_vector_of!(
    /// A public key of SLH-DSA-SHA2-128s (FIPS 205, table 2).
    SlhDsaPublicKey,
    32
);
byte_vector_of!(
    /// A signature of SLH-DSA-SHA2-128s (FIPS 205, table 2).
    SlhDsaSignature,
    7_856
);

/// Input of the authentication function. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AbstractData {
    /// Input for an account that registered the function.
    V1 {
        /// Hash of the signing message.
        signing_message_digest: Bytes,
        /// Signature in the form that the function expects.
        authenticator: Bytes,
    },
    /// Input for an account with an address derived from the function and an identity.
    DerivableV1 {
        /// Hash of the signing message.
        signing_message_digest: Bytes,
        /// Signature in the form that the function expects.
        signature: Bytes,
        /// Identity from which the address is derived.
        public_key: Bytes,
    },
}
