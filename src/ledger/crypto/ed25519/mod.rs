//! Ed25519 signatures with canonical encodings and cofactored verification.
//!
//! Non-canonical encodings and points of small order are rejected. A signature is valid if
//! `8(sB - kA - R) = 0`.
//!
//! The equation has the cofactor 8, because only then do single and batch verification always
//! agree. Without the cofactor, a forged `R` of mixed order can pass a batch by chance and fail
//! alone.

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
fn canonical_point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    // p = 2^255 - 19 in little-endian bytes: 0xed, thirty times 0xff, 0x7f.
    let above_prime =
        bytes[0] >= 0xed && bytes[1..31].iter().all(|&b| b == 0xff) && bytes[31] & 0x7f == 0x7f;
    if above_prime {
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

    /// Checks a signature over a message, the concatenation of the parts in `message`.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Self::equation`], or [`SignatureError::Mismatch`] if the equation
    /// does not hold.
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

    /// Checks the encodings of key and signature and returns the unchecked equation.
    ///
    /// The signature is valid if the equation holds. The message is the concatenation of the parts
    /// in `message`.
    ///
    /// # Errors
    ///
    /// Returns the first of these that applies:
    ///
    /// * [`SignatureError::KeyEncoding`] if the key is not the canonical encoding of a point.
    /// * [`SignatureError::KeySmallOrder`] if the key has small order.
    /// * [`SignatureError::ScalarEncoding`] if `s` is not below the group order.
    /// * [`SignatureError::NonceEncoding`] if `R` is not the canonical encoding of a point.
    /// * [`SignatureError::NonceSmallOrder`] if `R` has small order.
    pub fn equation(
        &self,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        self.equation_of(self.point()?, message, signature)
    }

    /// Returns the same as [`Self::equation`], but takes the key's point from a cache if possible.
    ///
    /// A newly decoded key is added to `keys`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::equation`].
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

/// The equation `8(sB - kA - R) = 0` of one signature with valid encodings.
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
    /// `k`, a hash of `R`, `A`, and the message.
    pub(super) challenge: Scalar,
}

impl Equation {
    /// Returns whether the equation holds.
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
    /// Returns the encodings of `R` and `s`.
    fn halves(&self) -> ([u8; 32], [u8; 32]) {
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
        // y = p + 1 is a second encoding of the identity, y = p + 3 one of a point of full order.
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
