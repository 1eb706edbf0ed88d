//! What both curves of ECDSA have in common: the forms of keys and signatures, and the rules that
//! leave one signature of one message one form.
//!
//! A key is a point without compression, a signature is `r || s`, both reduced and not zero, and `s` is
//! in the lower half of its range: `(r, -s)` would be a second signature of the same message, which
//! anyone could make of the first.

/// The bytes of a key: a tag and two coordinates.
pub const KEY_BYTES: usize = 65;
/// The bytes of a signature: `r` and `s`, in big endian.
pub const SIGNATURE_BYTES: usize = 64;
/// The tag of a point without compression.
const UNCOMPRESSED: u8 = 4;

/// Why an ECDSA signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EcdsaError {
    /// The key has another length or tag.
    #[error("the public key is not a point of {KEY_BYTES} bytes without compression")]
    KeyForm,
    /// The key's coordinates are not reduced or not on the curve.
    #[error("the public key is not a point of the curve")]
    KeyPoint,
    /// The signature has another length.
    #[error("the signature is not r and s of 32 bytes each")]
    SignatureForm,
    /// `r` or `s` is zero or not below the group order.
    #[error("r or s of the signature is not between 1 and the group order")]
    ScalarRange,
    /// `s` is in the upper half of its range.
    #[error("the signature's s is not the lower of its two values")]
    HighScalar,
    /// The equation does not hold.
    #[error("the signature does not match key and message")]
    Mismatch,
}

/// A key's bytes, if they have the one form that is taken.
fn key_form(bytes: &[u8]) -> Result<&[u8; KEY_BYTES], EcdsaError> {
    match <&[u8; KEY_BYTES]>::try_from(bytes) {
        Ok(key) if key[0] == UNCOMPRESSED => Ok(key),
        _ => Err(EcdsaError::KeyForm),
    }
}

/// A signature's bytes, if they are as many as `r` and `s` have.
fn signature_form(bytes: &[u8]) -> Result<&[u8; SIGNATURE_BYTES], EcdsaError> {
    bytes.try_into().map_err(|_| EcdsaError::SignatureForm)
}

/// The functions of one curve, over the types of its crate.
macro_rules! curve {
    ($curve:ident) => {
        use super::{EcdsaError, key_form, signature_form};
        use $curve::{
            ecdsa::{Signature, VerifyingKey, signature::hazmat::PrehashVerifier as _},
            elliptic_curve::scalar::IsHigh as _,
        };

        /// Reads a key, to see that it is one.
        ///
        /// # Errors
        /// The first rule that is broken.
        pub fn check_key(key: &[u8]) -> Result<(), EcdsaError> {
            read_key(key).map(|_| ())
        }

        fn read_key(key: &[u8]) -> Result<VerifyingKey, EcdsaError> {
            VerifyingKey::from_sec1_bytes(key_form(key)?).map_err(|_| EcdsaError::KeyPoint)
        }

        /// Checks `signature` over a message whose hash is `digest`.
        ///
        /// # Errors
        /// The first rule that is broken.
        pub fn verify_digest(
            key: &[u8],
            digest: &[u8; 32],
            signature: &[u8],
        ) -> Result<(), EcdsaError> {
            let key = read_key(key)?;
            let signature = Signature::from_slice(signature_form(signature)?)
                .map_err(|_| EcdsaError::ScalarRange)?;
            if signature.s().is_high().into() {
                return Err(EcdsaError::HighScalar);
            }
            key.verify_prehash(digest, &signature)
                .map_err(|_| EcdsaError::Mismatch)
        }
    };
}

/// ECDSA on secp256k1. Transactions are signed over SHA3-256 of their signing message.
pub mod secp256k1 {
    use crate::HashValue;

    curve!(k256);

    /// Checks `signature` over the concatenation of the parts of `message`.
    ///
    /// # Errors
    /// The variant of the first rule that is broken.
    pub fn verify(key: &[u8], message: &[&[u8]], signature: &[u8]) -> Result<(), EcdsaError> {
        verify_digest(key, HashValue::sha3_of(message).as_bytes(), signature)
    }
}

/// ECDSA on secp256r1 (P-256), the curve of passkeys ([`crate::webauthn`]). No transaction is signed
/// with it directly.
pub mod secp256r1 {
    curve!(p256);
}
