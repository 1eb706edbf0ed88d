//! Kinds of signatures that this ledger decodes and does not verify: keyless signatures, whose
//! proofs need the keys of an identity provider, hash-based signatures, and accounts that
//! authenticate by their own code.
//!
//! They have the layouts of the reference node (docs/reference/reference-node.md#r28), so a
//! transaction with one is rejected with the name of its kind and not as undecodable bytes. Their
//! content is not read, and none is larger in memory than a small multiple of its bytes.

use crate::{AccountAddress, Identifier, ModuleId};
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, webauthn::Assertion};
use serde::{Deserialize, Serialize};

/// An identity at a provider of identities, hidden in a commitment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeylessPublicKey {
    /// The provider, as its tokens name it.
    pub issuer: String,
    /// The commitment to the identity.
    pub identity_commitment: Bytes,
}

/// An identity at a provider whose keys stand in an account and not on the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FederatedKeylessPublicKey {
    /// The account with the provider's keys.
    pub jwk_address: AccountAddress,
    /// The identity.
    pub keyless: KeylessPublicKey,
}

/// A signature by a key for a while, with a certificate that the identity chose the key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeylessSignature {
    /// The certificate.
    pub certificate: EphemeralCertificate,
    /// The header of the token.
    pub jwt_header_json: String,
    /// Until when the key may sign, Unix seconds.
    pub expiry_secs: u64,
    /// The key.
    pub ephemeral_public_key: EphemeralPublicKey,
    /// Its signature.
    pub ephemeral_signature: EphemeralSignature,
}

/// How an identity chose a key. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralCertificate {
    ZeroKnowledge(ZeroKnowledgeCertificate),
    OpenId(OpenIdCertificate),
}

/// A proof that there is a token which names the key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ZeroKnowledgeCertificate {
    /// The proof.
    pub proof: ZeroKnowledgeProof,
    /// How long after the token was made a key may sign, in seconds.
    pub expiry_horizon_secs: u64,
    /// A field of the token that the proof shows.
    pub extra_field: Option<String>,
    /// The audience, where an account is recovered.
    pub override_audience: Option<String>,
    /// The prover's own signature over the proof.
    pub training_wheels_signature: Option<EphemeralSignature>,
}

/// A proof of a statement about a token. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ZeroKnowledgeProof {
    /// A Groth16 proof on BN254.
    Groth16 {
        /// A point of the first group.
        a: [u8; 32],
        /// A point of the second group: its two halves.
        b: [[u8; 32]; 2],
        /// A point of the first group.
        c: [u8; 32],
    },
}

/// The token itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpenIdCertificate {
    /// The provider's signature.
    pub jwt_signature: Bytes,
    /// What the provider signed.
    pub jwt_payload_json: String,
    /// Which claim of the token is the identity.
    pub uid_key: String,
    /// What hides the key in the token.
    pub blinder: Bytes,
    /// What hides the identity in the commitment.
    pub pepper: [u8; 31],
    /// The audience in the commitment, where an account is recovered.
    pub commitment_audience: Option<String>,
}

/// A key that signs for a while. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralPublicKey {
    Ed25519(Ed25519PublicKey),
    Secp256r1Ecdsa(Bytes),
}

/// A signature of such a key. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EphemeralSignature {
    Ed25519(Ed25519Signature),
    WebAuthn(Assertion),
}

/// Bytes of a fixed number, as one byte vector.
macro_rules! byte_vector_of {
    ($(#[$doc:meta])* $name:ident, $length:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(try_from = "Bytes")]
        pub struct $name(Bytes);

        impl $name {
            /// How many bytes it has.
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
    /// A key of SLH-DSA-SHA2-128s (FIPS 205, table 2).
    SlhDsaPublicKey,
    32
);
byte_vector_of!(
    /// A signature of SLH-DSA-SHA2-128s (FIPS 205, table 2).
    SlhDsaSignature,
    7_856
);

/// The function that authenticates for an abstract account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionInfo {
    /// The module.
    pub module: ModuleId,
    /// The function in it.
    pub function: Identifier,
}

/// What that function is given. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AbstractData {
    /// For an account that named the function.
    V1 {
        /// The hash of what is signed.
        signing_message_digest: Bytes,
        /// What the function takes for a signature.
        authenticator: Bytes,
    },
    /// For an account whose address follows from the function and an identity.
    DerivableV1 {
        /// The hash of what is signed.
        signing_message_digest: Bytes,
        /// What the function takes for a signature.
        signature: Bytes,
        /// The identity.
        public_key: Bytes,
    },
}
