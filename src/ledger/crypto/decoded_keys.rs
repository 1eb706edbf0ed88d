//! Public keys of ed25519 as the points that they are. Decoding one takes a sixth of checking a signature together
//! with others, and who signs once signs again.

use super::{Ed25519PublicKey, SignatureError};
use crate::map::HashMap;
use curve25519_dalek::edwards::EdwardsPoint;

/// Keys of one generation: with both of them about 8 MB, for 32,768 accounts that send all the time.
const GENERATION_KEYS_MAX: usize = 16_384;

/// Keys that were met lately. Bounded: two generations, and when the younger is full the older one goes.
#[derive(Debug, Default)]
pub struct DecodedKeys {
    younger: HashMap<[u8; 32], EdwardsPoint>,
    older: HashMap<[u8; 32], EdwardsPoint>,
}

impl DecodedKeys {
    /// The point that `key` is; the same as [`Ed25519PublicKey::point`] gives.
    pub(super) fn point(&mut self, key: &Ed25519PublicKey) -> Result<EdwardsPoint, SignatureError> {
        if let Some(point) = self.younger.get(&key.0) {
            return Ok(*point);
        }
        let point = match self.older.remove(&key.0) {
            Some(point) => point,
            None => key.point()?,
        };
        if self.younger.len() >= GENERATION_KEYS_MAX {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(key.0, point);
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::Ed25519PrivateKey;

    #[test]
    fn a_key_is_decoded_once_and_a_bad_one_stays_bad() {
        let key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
        let mut keys = DecodedKeys::default();
        for _ in 0..2 {
            assert_eq!(keys.point(&key), key.point());
        }
        assert_eq!(keys.younger.len(), 1);
        let mut identity = [0; 32];
        identity[0] = 1;
        for _ in 0..2 {
            let verdict = keys.point(&Ed25519PublicKey(identity));
            assert_eq!(verdict, Err(SignatureError::KeySmallOrder));
        }
        assert_eq!(keys.younger.len(), 1);
    }

    #[test]
    fn what_was_met_lately_stays_and_the_rest_goes() {
        let key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
        let mut keys = DecodedKeys::default();
        let point = keys.point(&key).unwrap();
        // Filled as if by others, whose points do not matter.
        let fill = |keys: &mut DecodedKeys| {
            for n in 0u64.. {
                if keys.younger.len() >= GENERATION_KEYS_MAX {
                    return;
                }
                let mut other = [0xff; 32];
                other[..8].copy_from_slice(&n.to_le_bytes());
                keys.younger.insert(other, point);
            }
        };
        fill(&mut keys);
        let second = Ed25519PrivateKey::from_seed(&[2; 32]).public_key();
        keys.point(&second).unwrap();
        assert_eq!(
            (keys.younger.len(), keys.older.len()),
            (1, GENERATION_KEYS_MAX)
        );
        keys.point(&key).unwrap();
        assert!(keys.younger.contains_key(&key.0), "it was met again");
        fill(&mut keys);
        keys.point(&Ed25519PrivateKey::from_seed(&[3; 32]).public_key())
            .unwrap();
        assert!(keys.older.contains_key(&key.0));
        assert!(keys.younger.len() + keys.older.len() <= 2 * GENERATION_KEYS_MAX);
    }
}
