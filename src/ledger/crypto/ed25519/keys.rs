//! Ed25519 keys and signatures in their wire formats.

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use ed25519_dalek::Signer as _;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An ed25519 public key in its wire format, a length-prefixed byte vector.
///
/// The bytes are not checked to be a point; [`Ed25519PublicKey::check`] does that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ed25519PublicKey(#[serde(with = "serde_bytes")] pub [u8; 32]);

/// An ed25519 signature in its wire format, a length-prefixed byte vector.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ed25519Signature(#[serde(with = "serde_bytes")] pub [u8; 64]);

/// The reason for the rejection of an ed25519 key or signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The key is not the canonical encoding of a point.
    #[error("the public key is not a canonical point encoding")]
    KeyEncoding,
    /// The key has small order, so anyone can sign for it.
    #[error("the public key has small order")]
    KeySmallOrder,
    /// `R` is not the canonical encoding of a point.
    #[error("the signature's R is not a canonical point encoding")]
    NonceEncoding,
    /// `R` has small order.
    #[error("the signature's R has small order")]
    NonceSmallOrder,
    /// `s` is not below the group order.
    #[error("the signature's s is not reduced")]
    ScalarEncoding,
    /// The verification equation does not hold.
    #[error("the signature does not match key and message")]
    Mismatch,
}

/// Decodes a point.
///
/// Returns `None` if its `y` is not below the field's prime, or if no point of the curve has it.
///
/// The other non-canonical encoding, a sign bit for `x = 0`, exists only for two points of small
/// order. Callers reject these points by their order.
///
/// Comparing bytes costs almost nothing. Encoding the point again and comparing the result would
/// cost a field inversion.
pub(super) fn canonical_point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    // p = 2^255 - 19 in little-endian bytes: 0xed, thirty times 0xff, 0x7f.
    let is_above_prime =
        bytes[0] >= 0xed && bytes[1..31].iter().all(|&b| b == 0xff) && bytes[31] & 0x7f == 0x7f;
    if is_above_prime {
        None
    } else {
        CompressedEdwardsY(*bytes).decompress()
    }
}

impl Ed25519PublicKey {
    /// Decodes the point of the key.
    ///
    /// # Errors
    ///
    /// * [`SignatureError::KeyEncoding`] if the key is not the canonical encoding of a point.
    /// * [`SignatureError::KeySmallOrder`] if the point has small order.
    pub(super) fn point(&self) -> Result<EdwardsPoint, SignatureError> {
        let key = canonical_point(&self.0).ok_or(SignatureError::KeyEncoding)?;
        if key.is_small_order() {
            return Err(SignatureError::KeySmallOrder);
        }
        Ok(key)
    }

    /// Checks that the key is valid.
    ///
    /// # Errors
    ///
    /// * [`SignatureError::KeyEncoding`] if the key is not the canonical encoding of a point.
    /// * [`SignatureError::KeySmallOrder`] if the point has small order.
    pub fn check(&self) -> Result<(), SignatureError> {
        self.point().map(|_| ())
    }
}

impl Ed25519Signature {
    /// Returns the encodings of `R` and `s`.
    pub(super) fn nonce_and_scalar(&self) -> ([u8; 32], [u8; 32]) {
        let mut nonce = [0; 32];
        let mut scalar = [0; 32];
        nonce.copy_from_slice(&self.0[..32]);
        scalar.copy_from_slice(&self.0[32..]);
        (nonce, scalar)
    }
}

/// An ed25519 private key, for clients, the faucet, and tests.
#[derive(Clone)]
pub struct Ed25519PrivateKey(ed25519_dalek::SigningKey);

impl Ed25519PrivateKey {
    /// Creates the key of a 32-byte seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// Returns the seed, which is secret.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Returns the public key of this key.
    pub fn public_key(&self) -> Ed25519PublicKey {
        Ed25519PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs `message`.
    pub fn sign(&self, message: &[u8]) -> Ed25519Signature {
        Ed25519Signature(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for Ed25519PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519PrivateKey(..)")
    }
}

impl fmt::Debug for Ed25519PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Ed25519Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}
