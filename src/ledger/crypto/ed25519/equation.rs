//! The verification equation of an ed25519 signature.

use super::{
    DecodedKeys, Ed25519PublicKey, Ed25519Signature, SignatureError, keys::canonical_point,
};
use curve25519_dalek::{edwards::EdwardsPoint, scalar::Scalar, traits::IsIdentity};
use sha2::{Digest, Sha512};

impl Ed25519PublicKey {
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
        self.equation_with_point(self.point()?, message, signature)
    }

    /// Returns the same as [`Self::equation`], but takes the key's point from a cache if possible.
    ///
    /// A newly decoded key is added to `keys`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::equation`].
    pub fn equation_with_cache(
        &self,
        keys: &mut DecodedKeys,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        self.equation_with_point(keys.point(self)?, message, signature)
    }

    fn equation_with_point(
        &self,
        key: EdwardsPoint,
        message: &[&[u8]],
        signature: &Ed25519Signature,
    ) -> Result<Equation, SignatureError> {
        let (nonce_bytes, scalar_bytes) = signature.nonce_and_scalar();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;

    fn key(n: u8) -> Ed25519PrivateKey {
        Ed25519PrivateKey::from_seed(&[n; 32])
    }

    #[test]
    fn rejects_signatures_of_other_messages_and_keys() {
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
    fn rejects_small_order_points_and_unreduced_scalars() {
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
    fn rejects_non_canonical_keys() {
        // y = p + 1 is a second encoding of the identity, y = p + 3 one of a point of full order.
        let signature = key(1).sign(b"m");
        for low in [0xee, 0xf0] {
            for high in [0x7f, 0xff] {
                let mut bytes = [0xffu8; 32];
                bytes[0] = low;
                bytes[31] = high;
                let result = Ed25519PublicKey(bytes).verify(&[b"m"], &signature);
                assert_eq!(result, Err(SignatureError::KeyEncoding));
            }
        }
    }

    #[test]
    fn rejects_a_sign_bit_for_zero_x() {
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
