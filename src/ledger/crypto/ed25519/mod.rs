//! Ed25519 under the chain's rule: non-canonical encodings and small-order points are refused, and one
//! equation, `8(sB - kA - R) = 0`, decides.
//!
//! The equation carries the cofactor 8 because that is the only form for which checking signatures
//! one by one and checking them together always agree: without it a forged `R` of mixed order
//! passes a batch by chance and fails alone.

pub mod batch;
mod decoded_keys;

pub use decoded_keys::DecodedKeys;

use curve25519_dalek::{
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use ed25519_dalek::Signer as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha512};
use std::fmt;

/// An ed25519 public key as it stands on the wire, a byte vector of its length; not yet checked to be a point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ed25519PublicKey(#[serde(with = "serde_bytes")] pub [u8; 32]);

/// An ed25519 signature as it stands on the wire, a byte vector of its length.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ed25519Signature(#[serde(with = "serde_bytes")] pub [u8; 64]);

/// Why a signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The key's bytes are no canonical encoding of a point.
    #[error("the public key is not a canonical point encoding")]
    KeyEncoding,
    /// The key has small order: anyone can sign for it.
    #[error("the public key has small order")]
    KeySmallOrder,
    /// `R` is no canonical encoding of a point.
    #[error("the signature's R is not a canonical point encoding")]
    NonceEncoding,
    /// `R` has small order.
    #[error("the signature's R has small order")]
    NonceSmallOrder,
    /// `s` is not below the group order.
    #[error("the signature's s is not reduced")]
    ScalarEncoding,
    /// The equation does not hold.
    #[error("the signature does not match key and message")]
    Mismatch,
}

/// Decodes a point, refusing a `y` that is not below the field's prime. The other second encoding,
/// a sign bit on `x = 0`, only exists for two points of small order, which are refused as such.
///
/// Comparing bytes costs nothing; writing the point back to compare would cost a field inversion.
fn canonical_point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    // p = 2^255 - 19 in little endian: 0xed, thirty times 0xff, 0x7f.
    let above_prime =
        bytes[0] >= 0xed && bytes[1..31].iter().all(|&b| b == 0xff) && bytes[31] & 0x7f == 0x7f;
    if above_prime {
        None
    } else {
        CompressedEdwardsY(*bytes).decompress()
    }
}

impl Ed25519PublicKey {
    /// The point that the key is.
    pub(super) fn point(&self) -> Result<EdwardsPoint, SignatureError> {
        let key = canonical_point(&self.0).ok_or(SignatureError::KeyEncoding)?;
        if key.is_small_order() {
            return Err(SignatureError::KeySmallOrder);
        }
        Ok(key)
    }

    /// Checks `signature` over `message`, given in parts.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn verify(
        &self,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<(), SignatureError> {
        if self.equation(message, signature)?.holds() {
            Ok(())
        } else {
            Err(SignatureError::Mismatch)
        }
    }

    /// What is left to check of `signature` over `message` once its parts are found in order.
    ///
    /// # Errors
    /// The first rule that a part breaks.
    pub fn equation(
        &self,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        self.equation_of(self.point()?, message, signature)
    }

    /// As [`Self::equation`], for a key that may have been decoded before.
    ///
    /// # Errors
    /// The first rule that a part breaks.
    pub fn equation_with(
        &self,
        keys: &mut DecodedKeys,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        self.equation_of(keys.point(self)?, message, signature)
    }

    fn equation_of(
        &self,
        key: EdwardsPoint,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        let (nonce_bytes, scalar_bytes) = signature.halves();
        let scalar: Option<Scalar> = Scalar::from_canonical_bytes(scalar_bytes).into();
        let scalar = scalar.ok_or(SignatureError::ScalarEncoding)?;
        let nonce = canonical_point(&nonce_bytes).ok_or(SignatureError::NonceEncoding)?;
        if nonce.is_small_order() {
            return Err(SignatureError::NonceSmallOrder);
        }
        let mut hasher = Sha512::new();
        hasher.update(nonce_bytes);
        hasher.update(self.0);
        for part in message {
            hasher.update(part);
        }
        Ok(Equation {
            key_bytes: self.0,
            key,
            nonce_bytes,
            nonce,
            scalar,
            challenge: Scalar::from_bytes_mod_order_wide(&hasher.finalize().into()),
        })
    }

    /// Reads the key, to see that it is one.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), SignatureError> {
        self.point().map(|_| ())
    }
}

/// The equation `8(sB - kA - R) = 0` of one signature whose parts are in order.
#[derive(Clone, Debug)]
pub struct Equation {
    pub(super) key_bytes: [u8; 32],
    /// `A`.
    pub(super) key: EdwardsPoint,
    pub(super) nonce_bytes: [u8; 32],
    /// `R`.
    pub(super) nonce: EdwardsPoint,
    /// `s`.
    pub(super) scalar: Scalar,
    /// `k`, a hash of `R`, `A` and the message.
    pub(super) challenge: Scalar,
}

impl Equation {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        let expected = EdwardsPoint::vartime_double_scalar_mul_basepoint(
            &self.challenge,
            &-self.key,
            &self.scalar,
        );
        (expected - self.nonce).mul_by_cofactor().is_identity()
    }
}

impl Ed25519Signature {
    fn halves(&self) -> ([u8; 32], [u8; 32]) {
        let mut nonce = [0; 32];
        let mut scalar = [0; 32];
        nonce.copy_from_slice(&self.0[..32]);
        scalar.copy_from_slice(&self.0[32..]);
        (nonce, scalar)
    }
}

/// An ed25519 private key, for clients, the faucet and tests.
#[derive(Clone)]
pub struct Ed25519PrivateKey(ed25519_dalek::SigningKey);

impl Ed25519PrivateKey {
    /// The key of a 32-byte seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// The seed, which is the secret.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public half.
    pub fn public_key(&self) -> Ed25519PublicKey {
        Ed25519PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs a message.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> Ed25519PrivateKey {
        Ed25519PrivateKey::from_seed(&[n; 32])
    }

    #[test]
    fn own_signatures_hold_and_changed_ones_do_not() {
        let signature = key(1).sign(b"message");
        let public = key(1).public_key();
        assert_eq!(public.verify(&[b"mess", b"age"], &signature), Ok(()));
        assert_eq!(
            public.verify(&[b"other"], &signature),
            Err(SignatureError::Mismatch)
        );
        assert_eq!(
            key(2).public_key().verify(&[b"message"], &signature),
            Err(SignatureError::Mismatch)
        );
    }

    #[test]
    fn small_order_and_unreduced_parts_are_refused() {
        let mut identity = [0u8; 32];
        identity[0] = 1;
        let signature = key(1).sign(b"m");
        assert_eq!(
            Ed25519PublicKey(identity).verify(&[b"m"], &signature),
            Err(SignatureError::KeySmallOrder)
        );
        let mut small_nonce = signature.clone();
        small_nonce.0[..32].copy_from_slice(&identity);
        assert_eq!(
            key(1).public_key().verify(&[b"m"], &small_nonce),
            Err(SignatureError::NonceSmallOrder)
        );
        let mut unreduced = signature;
        unreduced.0[32..].fill(0xff);
        assert_eq!(
            key(1).public_key().verify(&[b"m"], &unreduced),
            Err(SignatureError::ScalarEncoding)
        );
    }

    #[test]
    fn non_canonical_keys_are_refused() {
        // y = p + 1 encodes the identity a second time, y = p + 3 a point of full order.
        let signature = key(1).sign(b"m");
        for low in [0xee, 0xf0] {
            for high in [0x7f, 0xff] {
                let mut bytes = [0xffu8; 32];
                bytes[0] = low;
                bytes[31] = high;
                let verdict = Ed25519PublicKey(bytes).verify(&[b"m"], &signature);
                assert_eq!(verdict, Err(SignatureError::KeyEncoding));
            }
        }
    }

    #[test]
    fn a_sign_bit_on_x_zero_is_refused() {
        let mut identity = [0u8; 32];
        identity[0] = 1;
        identity[31] = 0x80;
        let signature = key(1).sign(b"m");
        assert!(
            Ed25519PublicKey(identity)
                .verify(&[b"m"], &signature)
                .is_err()
        );
    }
}
