//! ECDSA on secp256k1 under the rules of [`super::ecdsa`]; transactions are signed over SHA3-256 of
//! their signing message.

use crate::HashValue;

super::ecdsa::curve!(k256);

/// Checks `signature` over `message`, given in parts.
///
/// # Errors
/// The first rule that is broken.
pub fn verify(key: &[u8], message: &[&[u8]], signature: &[u8]) -> Result<(), EcdsaError> {
    verify_digest(key, HashValue::sha3_of(message).as_bytes(), signature)
}
