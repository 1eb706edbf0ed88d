//! Multi-ed25519: 1 to 32 ed25519 keys, of which a threshold must sign.
//!
//! Each signature obeys the rules of [`ed25519`](crate::ed25519). A bitmap identifies the keys that
//! signed. Its first bit is the most significant one of its first byte.

use crate::{Ed25519PublicKey, Ed25519Signature, SignatureError, ed25519::Equation};

/// Maximum number of keys in a set, which is the number of bits in the bitmap.
pub const KEYS_MAX: usize = 32;
/// Size of one key in bytes.
const KEY_BYTES: usize = 32;
/// Size of one signature in bytes.
pub const SIGNATURE_BYTES: usize = 64;
/// Size of the bitmap at the end of a multi-ed25519 signature, in bytes.
pub const BITMAP_BYTES: usize = 4;

/// A set of valid keys and the number of them that must sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultiEd25519PublicKey {
    keys: Vec<Ed25519PublicKey>,
    threshold: usize,
}

/// Signatures in the order of their keys, and a bitmap of these keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultiEd25519Signature {
    signatures: Vec<Ed25519Signature>,
    bitmap: u32,
}

/// The reason for the rejection of a multi-ed25519 key or signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MultiEd25519Error {
    /// The encoding of the key set is not 1 to 32 keys and one byte.
    #[error(
        "a multi-ed25519 key is 1 to {KEYS_MAX} keys of {KEY_BYTES} bytes and a threshold byte"
    )]
    KeyEncoding,
    /// The threshold is zero or above the number of keys.
    #[error("the threshold is not between 1 and the number of keys")]
    Threshold,
    /// The encoding of the signature is not at most 32 signatures and a bitmap.
    #[error(
        "a multi-ed25519 signature is at most {KEYS_MAX} signatures of {SIGNATURE_BYTES} bytes and a bitmap"
    )]
    SignatureEncoding,
    /// The number of bits set in the bitmap is not the number of signatures, or a bit is set
    /// without a key.
    #[error("the bitmap does not fit the signatures and keys")]
    Bitmap,
    /// The number of signatures is below the threshold.
    #[error("fewer signatures than the threshold")]
    TooFew,
    /// A single key or signature is invalid.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

/// Splits `bytes` into arrays of `N` bytes.
///
/// Returns `None` if bytes remain, or if the result has more than [`KEYS_MAX`] arrays.
fn chunks<const N: usize>(bytes: &[u8]) -> Option<Vec<[u8; N]>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    (rest.is_empty() && chunks.len() <= KEYS_MAX).then(|| chunks.to_vec())
}

impl MultiEd25519PublicKey {
    /// Decodes the concatenated keys and the threshold byte after them.
    ///
    /// # Errors
    ///
    /// * [`MultiEd25519Error::KeyEncoding`] if `bytes` is not 1 to 32 keys and one byte.
    /// * [`MultiEd25519Error::Threshold`] if the threshold is zero or above the number of keys.
    /// * [`MultiEd25519Error::Signature`] if one of the keys is invalid, even if it never signs.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MultiEd25519Error> {
        let set = Self::from_bytes_unchecked(bytes)?;
        for key in &set.keys {
            key.check()?;
        }
        Ok(set)
    }

    /// Decodes the concatenated keys and the threshold byte after them, without a check of each
    /// key.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::from_bytes`] but those of a key.
    pub fn from_bytes_unchecked(bytes: &[u8]) -> Result<Self, MultiEd25519Error> {
        let (threshold, keys) = bytes.split_last().ok_or(MultiEd25519Error::KeyEncoding)?;
        let keys: Vec<Ed25519PublicKey> = chunks(keys)
            .ok_or(MultiEd25519Error::KeyEncoding)?
            .into_iter()
            .map(Ed25519PublicKey)
            .collect();
        let threshold = usize::from(*threshold);
        if keys.is_empty() {
            return Err(MultiEd25519Error::KeyEncoding);
        }
        if threshold == 0 || threshold > keys.len() {
            return Err(MultiEd25519Error::Threshold);
        }
        Ok(Self { keys, threshold })
    }

    /// Checks every signature in `signature` over a message, including surplus ones.
    ///
    /// The message is the concatenation of the parts in `message`.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Self::equations`], or [`SignatureError::Mismatch`] as
    /// [`MultiEd25519Error::Signature`] if an equation does not hold.
    pub fn verify(
        &self,
        message: &[&[u8]],
        signature: &MultiEd25519Signature,
    ) -> Result<(), MultiEd25519Error> {
        let equations = self.equations(message, signature)?;
        if equations.iter().all(Equation::holds) {
            Ok(())
        } else {
            Err(SignatureError::Mismatch.into())
        }
    }

    /// Checks the parts of `signature` and returns one unchecked equation per signer.
    ///
    /// The signature is valid if all equations hold. The message is the concatenation of the parts
    /// in `message`.
    ///
    /// # Errors
    ///
    /// Returns the first of these that applies:
    ///
    /// * [`MultiEd25519Error::Bitmap`] if the bitmap does not match the signatures and keys.
    /// * [`MultiEd25519Error::TooFew`] if the number of signatures is below the threshold.
    /// * [`MultiEd25519Error::Signature`] if [`Ed25519PublicKey::equation`] rejects a signature.
    pub fn equations(
        &self,
        message: &[&[u8]],
        signature: &MultiEd25519Signature,
    ) -> Result<Vec<Equation>, MultiEd25519Error> {
        let signers: Vec<usize> = signature.signers().collect();
        let has_all_keys = signers.iter().all(|&signer| signer < self.keys.len());
        if signers.len() != signature.signatures.len() || !has_all_keys {
            return Err(MultiEd25519Error::Bitmap);
        }
        if signers.len() < self.threshold {
            return Err(MultiEd25519Error::TooFew);
        }
        let equations = signers
            .into_iter()
            .zip(&signature.signatures)
            .map(|(signer, signature)| self.keys[signer].equation(message, signature));
        Ok(equations.collect::<Result<_, _>>()?)
    }
}

impl MultiEd25519Signature {
    /// Decodes the concatenated signatures and the bitmap after them.
    ///
    /// # Errors
    ///
    /// Returns [`MultiEd25519Error::SignatureEncoding`] if `bytes` is not at most 32 signatures and
    /// a bitmap.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MultiEd25519Error> {
        let (signatures, bitmap) = bytes
            .split_last_chunk::<BITMAP_BYTES>()
            .ok_or(MultiEd25519Error::SignatureEncoding)?;
        let signatures = chunks(signatures).ok_or(MultiEd25519Error::SignatureEncoding)?;
        Ok(Self {
            signatures: signatures.into_iter().map(Ed25519Signature).collect(),
            bitmap: u32::from_be_bytes(*bitmap),
        })
    }

    /// Returns the indices of the keys that signed, in ascending order.
    fn signers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..KEYS_MAX).filter(|&number| self.bitmap & (1 << (KEYS_MAX - 1 - number)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;
    use proptest::prelude::*;

    fn private_key(number: usize) -> Ed25519PrivateKey {
        Ed25519PrivateKey::from_seed(&[u8::try_from(number).unwrap() + 1; 32])
    }

    fn key_bytes(keys: usize, threshold: u8) -> Vec<u8> {
        let keys = (0..keys).flat_map(|number| private_key(number).public_key().0);
        keys.chain([threshold]).collect()
    }

    /// Returns a signature with the given bitmap, signed by the keys with the given indices in
    /// their order.
    fn signature_bytes(signers: &[usize], bitmap: [u8; 4]) -> Vec<u8> {
        let signatures = signers
            .iter()
            .flat_map(|&number| private_key(number).sign(b"message").0);
        signatures.chain(bitmap).collect()
    }

    fn verification_result(key: &[u8], signature: &[u8]) -> Result<(), MultiEd25519Error> {
        let signature = MultiEd25519Signature::from_bytes(signature)?;
        MultiEd25519PublicKey::from_bytes(key)?.verify(&[b"mess", b"age"], &signature)
    }

    #[test]
    fn requires_the_threshold_of_signatures() {
        let two_of_three = key_bytes(3, 2);
        assert_eq!(
            verification_result(
                &two_of_three,
                &signature_bytes(&[0, 2], [0b1010_0000, 0, 0, 0])
            ),
            Ok(())
        );
        assert_eq!(
            verification_result(
                &two_of_three,
                &signature_bytes(&[0, 1, 2], [0b1110_0000, 0, 0, 0])
            ),
            Ok(())
        );
        let one = signature_bytes(&[2], [0b0010_0000, 0, 0, 0]);
        assert_eq!(
            verification_result(&two_of_three, &one),
            Err(MultiEd25519Error::TooFew)
        );
        assert_eq!(
            verification_result(&two_of_three, &[0; 4]),
            Err(MultiEd25519Error::TooFew)
        );
    }

    #[test]
    fn reads_the_bitmap_from_the_most_significant_bit() {
        let key = key_bytes(32, 1);
        assert_eq!(
            verification_result(&key, &signature_bytes(&[0], [0x80, 0, 0, 0])),
            Ok(())
        );
        assert_eq!(
            verification_result(&key, &signature_bytes(&[9], [0, 0x40, 0, 0])),
            Ok(())
        );
        assert_eq!(
            verification_result(&key, &signature_bytes(&[31], [0, 0, 0, 1])),
            Ok(())
        );
        // Signatures in the wrong order, and a bitmap with reversed bits.
        let mismatch = Err(MultiEd25519Error::Signature(SignatureError::Mismatch));
        assert_eq!(
            verification_result(&key, &signature_bytes(&[1, 0], [0xc0, 0, 0, 0])),
            mismatch
        );
        assert_eq!(
            verification_result(&key, &signature_bytes(&[0], [0, 0, 0, 1])),
            mismatch
        );
    }

    #[test]
    fn rejects_a_bitmap_that_does_not_match_the_signatures() {
        let key = key_bytes(2, 1);
        for (signers, bitmap) in [
            (&[0usize][..], [0xc0, 0, 0, 0]),
            (&[0, 1], [0x80, 0, 0, 0]),
            (&[0, 0], [0x80, 0, 0, 0]),
            (&[0], [0x20, 0, 0, 0]),
            (&[0], [0, 0, 0, 0]),
        ] {
            assert_eq!(
                verification_result(&key, &signature_bytes(signers, bitmap)),
                Err(MultiEd25519Error::Bitmap),
                "{signers:?} {bitmap:?}"
            );
        }
    }

    #[test]
    fn rejects_an_invalid_surplus_signature() {
        let mut signature = signature_bytes(&[0, 1], [0xc0, 0, 0, 0]);
        signature[64] ^= 1;
        assert!(verification_result(&key_bytes(2, 1), &signature).is_err());
    }

    #[test]
    fn rejects_wrong_lengths_and_thresholds() {
        let good = signature_bytes(&[0], [0x80, 0, 0, 0]);
        for (keys, threshold) in [(1, 0), (1, 2), (3, 255)] {
            assert_eq!(
                verification_result(&key_bytes(keys, threshold), &good),
                Err(MultiEd25519Error::Threshold)
            );
        }
        assert_eq!(
            verification_result(&key_bytes(33, 1), &good),
            Err(MultiEd25519Error::KeyEncoding)
        );
        assert_eq!(
            verification_result(&[1], &good),
            Err(MultiEd25519Error::KeyEncoding)
        );
        assert_eq!(
            verification_result(&[], &good),
            Err(MultiEd25519Error::KeyEncoding)
        );
        assert_eq!(
            verification_result(&key_bytes(1, 1)[1..], &good),
            Err(MultiEd25519Error::KeyEncoding)
        );
        assert_eq!(
            verification_result(&key_bytes(1, 1), &good[1..]),
            Err(MultiEd25519Error::SignatureEncoding)
        );
        assert_eq!(
            verification_result(&key_bytes(1, 1), &[]),
            Err(MultiEd25519Error::SignatureEncoding)
        );
        let many = signature_bytes(&[0; 33], [0xff; 4]);
        assert_eq!(
            verification_result(&key_bytes(32, 1), &many),
            Err(MultiEd25519Error::SignatureEncoding)
        );
    }

    #[test]
    fn rejects_an_invalid_key_that_does_not_sign() {
        let signature = signature_bytes(&[0], [0x80, 0, 0, 0]);
        let mut small_order = key_bytes(2, 1);
        small_order[32..64].fill(0);
        small_order[32] = 1;
        let rejected = |reason| Err(MultiEd25519Error::Signature(reason));
        assert_eq!(
            verification_result(&small_order, &signature),
            rejected(SignatureError::KeySmallOrder)
        );
        let mut above_prime = key_bytes(2, 1);
        above_prime[32..64].fill(0xff);
        assert_eq!(
            verification_result(&above_prime, &signature),
            rejected(SignatureError::KeyEncoding)
        );
        let mut unreduced = signature;
        unreduced[32..64].fill(0xff);
        assert_eq!(
            verification_result(&key_bytes(2, 1), &unreduced),
            rejected(SignatureError::ScalarEncoding)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn accepts_exactly_the_signers_that_reach_the_threshold(keys in 1usize..=32, threshold in 1u8..=32, bitmap: u32) {
            prop_assume!(usize::from(threshold) <= keys);
            let bitmap = bitmap & (u32::MAX << (KEYS_MAX - keys));
            let signers: Vec<usize> = (0..keys).filter(|number| bitmap & (0x8000_0000 >> number) != 0).collect();
            let result = verification_result(&key_bytes(keys, threshold), &signature_bytes(&signers, bitmap.to_be_bytes()));
            let expected = if signers.len() < usize::from(threshold) { Err(MultiEd25519Error::TooFew) } else { Ok(()) };
            prop_assert_eq!(result, expected);
        }

        #[test]
        fn decodes_or_rejects_any_bytes(key: Vec<u8>, signature: Vec<u8>) {
            let _ = verification_result(&key, &signature);
        }
    }
}
