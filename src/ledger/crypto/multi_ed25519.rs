//! Multi-ed25519: up to 32 ed25519 keys of which a threshold must sign, each signature under the rule of
//! single keys. A bitmap tells which keys signed; its first bit is the highest of its first byte.

use crate::{Ed25519PublicKey, Ed25519Signature, SignatureError, ed25519::Equation};

/// The most keys of a set, which is what the bitmap has room for.
pub const KEYS_MAX: usize = 32;
/// The bytes of one key.
const KEY_BYTES: usize = 32;
/// The bytes of one signature.
pub const SIGNATURE_BYTES: usize = 64;
/// The bytes of the bitmap that closes a signature.
pub const BITMAP_BYTES: usize = 4;

/// A set of keys with the number of them that must sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultiEd25519PublicKey {
    keys: Vec<Ed25519PublicKey>,
    threshold: usize,
}

/// Signatures in the order of their keys, and which keys those are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultiEd25519Signature {
    signatures: Vec<Ed25519Signature>,
    bitmap: u32,
}

/// Why a multi-ed25519 signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MultiEd25519Error {
    /// The key's bytes are not 1 to 32 keys and one byte.
    #[error(
        "a multi-ed25519 key is 1 to {KEYS_MAX} keys of {KEY_BYTES} bytes and a threshold byte"
    )]
    KeyForm,
    /// The threshold is none that the keys could meet.
    #[error("the threshold is not between 1 and the number of keys")]
    Threshold,
    /// The signature's bytes are not at most 32 signatures and a bitmap.
    #[error(
        "a multi-ed25519 signature is at most {KEYS_MAX} signatures of {SIGNATURE_BYTES} bytes and a bitmap"
    )]
    SignatureForm,
    /// The bitmap names more or fewer keys than there are signatures, or a key that is not there.
    #[error("the bitmap does not fit the signatures and keys")]
    Bitmap,
    /// Fewer signatures than the threshold.
    #[error("fewer signatures than the threshold")]
    TooFew,
    /// A key or a signature is refused.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

/// `bytes` in pieces of `N`; `None` where they do not divide evenly.
fn pieces<const N: usize>(bytes: &[u8]) -> Option<Vec<[u8; N]>> {
    let (pieces, rest) = bytes.as_chunks::<N>();
    (rest.is_empty() && pieces.len() <= KEYS_MAX).then(|| pieces.to_vec())
}

impl MultiEd25519PublicKey {
    /// Reads the keys, one after the other, and the threshold that closes them.
    ///
    /// # Errors
    /// Where the form or the threshold is wrong; also where one of the keys is none, whether it signs
    /// or not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MultiEd25519Error> {
        let (threshold, keys) = bytes.split_last().ok_or(MultiEd25519Error::KeyForm)?;
        let keys: Vec<Ed25519PublicKey> = pieces(keys)
            .ok_or(MultiEd25519Error::KeyForm)?
            .into_iter()
            .map(Ed25519PublicKey)
            .collect();
        let threshold = usize::from(*threshold);
        if keys.is_empty() {
            return Err(MultiEd25519Error::KeyForm);
        }
        if threshold == 0 || threshold > keys.len() {
            return Err(MultiEd25519Error::Threshold);
        }
        for key in &keys {
            key.check()?;
        }
        Ok(Self { keys, threshold })
    }

    /// Checks every signature in `signature` over `message`, given in parts.
    ///
    /// # Errors
    /// The first rule that is broken; signatures beyond the threshold must hold too.
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

    /// What is left to check of `signature` over `message` once its parts are found in order: an
    /// equation for each signer.
    ///
    /// # Errors
    /// The first rule that a part breaks.
    pub fn equations(
        &self,
        message: &[&[u8]],
        signature: &MultiEd25519Signature,
    ) -> Result<Vec<Equation>, MultiEd25519Error> {
        let signers: Vec<usize> = signature.signers().collect();
        let all_known = signers.iter().all(|&signer| signer < self.keys.len());
        if signers.len() != signature.signatures.len() || !all_known {
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
    /// Reads the signatures, one after the other, and the bitmap that closes them.
    ///
    /// # Errors
    /// [`MultiEd25519Error::SignatureForm`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MultiEd25519Error> {
        let (signatures, bitmap) = bytes
            .split_last_chunk::<BITMAP_BYTES>()
            .ok_or(MultiEd25519Error::SignatureForm)?;
        let signatures = pieces(signatures).ok_or(MultiEd25519Error::SignatureForm)?;
        Ok(Self {
            signatures: signatures.into_iter().map(Ed25519Signature).collect(),
            bitmap: u32::from_be_bytes(*bitmap),
        })
    }

    /// The numbers of the keys that signed, ascending.
    fn signers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..KEYS_MAX).filter(|&number| self.bitmap & (1 << (KEYS_MAX - 1 - number)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;
    use proptest::prelude::*;

    fn private(number: usize) -> Ed25519PrivateKey {
        Ed25519PrivateKey::from_seed(&[u8::try_from(number).unwrap() + 1; 32])
    }

    fn key_bytes(keys: usize, threshold: u8) -> Vec<u8> {
        let keys = (0..keys).flat_map(|number| private(number).public_key().0);
        keys.chain([threshold]).collect()
    }

    /// The keys of these numbers sign, in this order, under a bitmap.
    fn signed(signers: &[usize], bitmap: [u8; 4]) -> Vec<u8> {
        let signatures = signers
            .iter()
            .flat_map(|&number| private(number).sign(b"message").0);
        signatures.chain(bitmap).collect()
    }

    fn verdict(key: &[u8], signature: &[u8]) -> Result<(), MultiEd25519Error> {
        let signature = MultiEd25519Signature::from_bytes(signature)?;
        MultiEd25519PublicKey::from_bytes(key)?.verify(&[b"mess", b"age"], &signature)
    }

    #[test]
    fn the_threshold_decides() {
        let two_of_three = key_bytes(3, 2);
        assert_eq!(
            verdict(&two_of_three, &signed(&[0, 2], [0b1010_0000, 0, 0, 0])),
            Ok(())
        );
        assert_eq!(
            verdict(&two_of_three, &signed(&[0, 1, 2], [0b1110_0000, 0, 0, 0])),
            Ok(())
        );
        let one = signed(&[2], [0b0010_0000, 0, 0, 0]);
        assert_eq!(verdict(&two_of_three, &one), Err(MultiEd25519Error::TooFew));
        assert_eq!(
            verdict(&two_of_three, &[0; 4]),
            Err(MultiEd25519Error::TooFew)
        );
    }

    #[test]
    fn the_bitmap_counts_from_the_highest_bit_of_the_first_byte() {
        let key = key_bytes(32, 1);
        assert_eq!(verdict(&key, &signed(&[0], [0x80, 0, 0, 0])), Ok(()));
        assert_eq!(verdict(&key, &signed(&[9], [0, 0x40, 0, 0])), Ok(()));
        assert_eq!(verdict(&key, &signed(&[31], [0, 0, 0, 1])), Ok(()));
        // The same keys in the wrong order, and a bitmap read from the other end.
        let mismatch = Err(MultiEd25519Error::Signature(SignatureError::Mismatch));
        assert_eq!(verdict(&key, &signed(&[1, 0], [0xc0, 0, 0, 0])), mismatch);
        assert_eq!(verdict(&key, &signed(&[0], [0, 0, 0, 1])), mismatch);
    }

    #[test]
    fn a_bitmap_that_does_not_fit_is_refused() {
        let key = key_bytes(2, 1);
        for (signers, bitmap) in [
            (&[0usize][..], [0xc0, 0, 0, 0]),
            (&[0, 1], [0x80, 0, 0, 0]),
            (&[0, 0], [0x80, 0, 0, 0]),
            (&[0], [0x20, 0, 0, 0]),
            (&[0], [0, 0, 0, 0]),
        ] {
            assert_eq!(
                verdict(&key, &signed(signers, bitmap)),
                Err(MultiEd25519Error::Bitmap),
                "{signers:?} {bitmap:?}"
            );
        }
    }

    #[test]
    fn a_signature_beyond_the_threshold_must_hold_too() {
        let mut signature = signed(&[0, 1], [0xc0, 0, 0, 0]);
        signature[64] ^= 1;
        assert!(verdict(&key_bytes(2, 1), &signature).is_err());
    }

    #[test]
    fn forms_are_exact() {
        let good = signed(&[0], [0x80, 0, 0, 0]);
        for (keys, threshold) in [(1, 0), (1, 2), (3, 255)] {
            assert_eq!(
                verdict(&key_bytes(keys, threshold), &good),
                Err(MultiEd25519Error::Threshold)
            );
        }
        assert_eq!(
            verdict(&key_bytes(33, 1), &good),
            Err(MultiEd25519Error::KeyForm)
        );
        assert_eq!(verdict(&[1], &good), Err(MultiEd25519Error::KeyForm));
        assert_eq!(verdict(&[], &good), Err(MultiEd25519Error::KeyForm));
        assert_eq!(
            verdict(&key_bytes(1, 1)[1..], &good),
            Err(MultiEd25519Error::KeyForm)
        );
        assert_eq!(
            verdict(&key_bytes(1, 1), &good[1..]),
            Err(MultiEd25519Error::SignatureForm)
        );
        assert_eq!(
            verdict(&key_bytes(1, 1), &[]),
            Err(MultiEd25519Error::SignatureForm)
        );
        let many = signed(&[0; 33], [0xff; 4]);
        assert_eq!(
            verdict(&key_bytes(32, 1), &many),
            Err(MultiEd25519Error::SignatureForm)
        );
    }

    #[test]
    fn a_key_that_is_none_is_refused_even_where_it_does_not_sign() {
        let signature = signed(&[0], [0x80, 0, 0, 0]);
        let mut small_order = key_bytes(2, 1);
        small_order[32..64].fill(0);
        small_order[32] = 1;
        let refused = |reason| Err(MultiEd25519Error::Signature(reason));
        assert_eq!(
            verdict(&small_order, &signature),
            refused(SignatureError::KeySmallOrder)
        );
        let mut above_prime = key_bytes(2, 1);
        above_prime[32..64].fill(0xff);
        assert_eq!(
            verdict(&above_prime, &signature),
            refused(SignatureError::KeyEncoding)
        );
        let mut unreduced = signature;
        unreduced[32..64].fill(0xff);
        assert_eq!(
            verdict(&key_bytes(2, 1), &unreduced),
            refused(SignatureError::ScalarEncoding)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_set_of_signers_holds_exactly_from_the_threshold_on(keys in 1usize..=32, threshold in 1u8..=32, bitmap: u32) {
            prop_assume!(usize::from(threshold) <= keys);
            let bitmap = bitmap & (u32::MAX << (KEYS_MAX - keys));
            let signers: Vec<usize> = (0..keys).filter(|number| bitmap & (0x8000_0000 >> number) != 0).collect();
            let verdict = verdict(&key_bytes(keys, threshold), &signed(&signers, bitmap.to_be_bytes()));
            let expected = if signers.len() < usize::from(threshold) { Err(MultiEd25519Error::TooFew) } else { Ok(()) };
            prop_assert_eq!(verdict, expected);
        }

        #[test]
        fn reading_is_total(key: Vec<u8>, signature: Vec<u8>) {
            let _ = verdict(&key, &signature);
        }
    }
}
