//! ECDSA on secp256k1 and secp256r1, with one accepted encoding per key and signature.
//!
//! A key is an uncompressed point. A signature is `r || s`, and both scalars are reduced and not
//! zero. `s` must be in the lower half of its range. Otherwise anyone could derive a second
//! signature of the same message, `(r, -s)`, from the first.

/// Size of a public key in bytes: a tag and two coordinates.
pub const KEY_BYTES: usize = 65;
/// Size of a signature in bytes: `r` and `s`, both big-endian.
pub const SIGNATURE_BYTES: usize = 64;
/// Tag byte of an uncompressed point.
const UNCOMPRESSED_TAG: u8 = 4;

/// The reason for the rejection of an ECDSA key or signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EcdsaError {
    /// The key does not have [`KEY_BYTES`] bytes or is not tagged as an uncompressed point.
    #[error("the public key is not an uncompressed point of {KEY_BYTES} bytes")]
    KeyEncoding,
    /// The key's coordinates are not reduced or not on the curve.
    #[error("the public key is not a point of the curve")]
    KeyPoint,
    /// The signature does not have [`SIGNATURE_BYTES`] bytes.
    #[error("the signature is not r and s of 32 bytes each")]
    SignatureEncoding,
    /// `r` or `s` is zero or not below the group order.
    #[error("r or s of the signature is not between 1 and the group order")]
    ScalarRange,
    /// `s` is in the upper half of its range.
    #[error("the signature's s is not in the lower half of the group order")]
    HighScalar,
    /// The signature is not one of this key over this message.
    #[error("the signature does not match key and message")]
    Mismatch,
}

/// Returns the bytes of an uncompressed public key.
///
/// # Errors
///
/// Returns [`EcdsaError::KeyEncoding`] if length or tag differ from the encoding of such a key.
fn uncompressed_key_bytes(bytes: &[u8]) -> Result<&[u8; KEY_BYTES], EcdsaError> {
    match <&[u8; KEY_BYTES]>::try_from(bytes) {
        Ok(key) if key[0] == UNCOMPRESSED_TAG => Ok(key),
        _ => Err(EcdsaError::KeyEncoding),
    }
}

/// Returns the bytes of a signature.
///
/// # Errors
///
/// Returns [`EcdsaError::SignatureEncoding`] if the length is not [`SIGNATURE_BYTES`].
fn signature_bytes(bytes: &[u8]) -> Result<&[u8; SIGNATURE_BYTES], EcdsaError> {
    bytes.try_into().map_err(|_| EcdsaError::SignatureEncoding)
}

/// Defines the functions of one curve with the types of the curve's crate.
macro_rules! curve {
    ($curve:ident) => {
        use super::{EcdsaError, signature_bytes, uncompressed_key_bytes};
        use $curve::{
            ecdsa::{Signature, VerifyingKey, signature::hazmat::PrehashVerifier as _},
            elliptic_curve::scalar::IsHigh as _,
        };

        /// Checks that `key` is the encoding of a public key.
        ///
        /// # Errors
        ///
        /// * [`EcdsaError::KeyEncoding`] if `key` is not an uncompressed point by length and tag.
        /// * [`EcdsaError::KeyPoint`] if the coordinates are not reduced or not on the curve.
        pub fn check_key(key: &[u8]) -> Result<(), EcdsaError> {
            decode_key(key).map(|_| ())
        }

        fn decode_key(key: &[u8]) -> Result<VerifyingKey, EcdsaError> {
            VerifyingKey::from_sec1_bytes(uncompressed_key_bytes(key)?)
                .map_err(|_| EcdsaError::KeyPoint)
        }

        /// Checks that `signature` is the encoding of a signature.
        ///
        /// # Errors
        ///
        /// * [`EcdsaError::SignatureEncoding`] if `signature` has a wrong length.
        /// * [`EcdsaError::ScalarRange`] if `r` or `s` is zero or not below the group order.
        /// * [`EcdsaError::HighScalar`] if `s` is in the upper half of its range.
        pub fn check_signature(signature: &[u8]) -> Result<(), EcdsaError> {
            decode_signature(signature).map(|_| ())
        }

        fn decode_signature(signature: &[u8]) -> Result<Signature, EcdsaError> {
            let signature = Signature::from_slice(signature_bytes(signature)?)
                .map_err(|_| EcdsaError::ScalarRange)?;
            if signature.s().is_high().into() {
                return Err(EcdsaError::HighScalar);
            }
            Ok(signature)
        }

        /// Checks a signature of `key` over a message with the hash `digest`.
        ///
        /// # Errors
        ///
        /// Returns the first of these that applies:
        ///
        /// * The error of [`check_key`].
        /// * The error of [`check_signature`].
        /// * [`EcdsaError::Mismatch`] if the signature is not one of `key` over `digest`.
        pub fn verify_digest(
            key: &[u8],
            digest: &[u8; 32],
            signature: &[u8],
        ) -> Result<(), EcdsaError> {
            let (key, signature) = (decode_key(key)?, decode_signature(signature)?);
            key.verify_prehash(digest, &signature)
                .map_err(|_| EcdsaError::Mismatch)
        }
    };
}

/// ECDSA on secp256k1.
pub mod secp256k1 {
    use crate::HashValue;

    curve!(k256);

    /// Checks a signature of `key` over SHA3-256 of a message.
    ///
    /// The message is the concatenation of the parts in `message`.
    ///
    /// # Errors
    ///
    /// Returns the error of [`verify_digest`].
    pub fn verify(key: &[u8], message: &[&[u8]], signature: &[u8]) -> Result<(), EcdsaError> {
        verify_digest(key, HashValue::sha3_of(message).as_bytes(), signature)
    }
}

/// ECDSA on secp256r1 (P-256), the curve of passkeys.
///
/// Transactions use it only within an assertion ([`crate::webauthn`]).
pub mod secp256r1 {
    curve!(p256);
}
