//! A cache of decoded ed25519 public keys.
//!
//! Decoding a key takes a sixth of the time of a signature check in a batch. Most keys occur again,
//! because accounts sign repeatedly.

use super::{Ed25519PublicKey, SignatureError};
use crate::map::GenerationalMap;
use curve25519_dalek::edwards::EdwardsPoint;

/// Maximum number of keys in a generation.
///
/// Both generations occupy about 8 MB. They suffice for 32,768 accounts that send continuously.
const GENERATION_KEYS_MAX: usize = 16_384;

/// A bounded cache of the points of recently used keys.
#[derive(Debug, Default)]
pub struct DecodedKeys(GenerationalMap<[u8; 32], EdwardsPoint>);

impl DecodedKeys {
    /// Returns the point of `key` from the cache, or decodes it and adds it to the cache.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Ed25519PublicKey::point`]. Errors are not cached.
    pub(super) fn point(&mut self, key: &Ed25519PublicKey) -> Result<EdwardsPoint, SignatureError> {
        if let Some(point) = self.0.younger().get(&key.0) {
            return Ok(*point);
        }
        let point = match self.0.remove_older(&key.0) {
            Some((_, point)) => point,
            None => key.point()?,
        };
        if self.0.younger().len() >= GENERATION_KEYS_MAX {
            self.0.rotate();
        }
        self.0.insert(key.0, point);
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;

    #[test]
    fn decodes_a_key_once_and_rejects_a_bad_key_each_time() {
        let key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
        let mut keys = DecodedKeys::default();
        for _ in 0..2 {
            assert_eq!(keys.point(&key), key.point());
        }
        assert_eq!(keys.0.younger().len(), 1);
        let mut identity = [0; 32];
        identity[0] = 1;
        for _ in 0..2 {
            let result = keys.point(&Ed25519PublicKey(identity));
            assert_eq!(result, Err(SignatureError::KeySmallOrder));
        }
        assert_eq!(keys.0.younger().len(), 1);
    }

    #[test]
    fn retains_recently_used_keys_and_evicts_the_others() {
        let key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
        let mut keys = DecodedKeys::default();
        let point = keys.point(&key).unwrap();
        // Fills the younger generation. The values of the points are irrelevant.
        let fill = |keys: &mut DecodedKeys| {
            for n in 0u64.. {
                if keys.0.younger().len() >= GENERATION_KEYS_MAX {
                    return;
                }
                let mut other = [0xff; 32];
                other[..8].copy_from_slice(&n.to_le_bytes());
                keys.0.insert(other, point);
            }
        };
        fill(&mut keys);
        let second = Ed25519PrivateKey::from_seed(&[2; 32]).public_key();
        keys.point(&second).unwrap();
        assert_eq!(
            (keys.0.younger().len(), keys.0.older().len()),
            (1, GENERATION_KEYS_MAX)
        );
        keys.point(&key).unwrap();
        assert!(keys.0.younger().contains_key(&key.0), "it was used again");
        fill(&mut keys);
        keys.point(&Ed25519PrivateKey::from_seed(&[3; 32]).public_key())
            .unwrap();
        assert!(keys.0.older().contains_key(&key.0));
        assert!(keys.0.younger().len() + keys.0.older().len() <= 2 * GENERATION_KEYS_MAX);
    }
}
