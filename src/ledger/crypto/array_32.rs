//! Serialization and hashes of 32-byte arrays, the content of addresses and hashes.
//!
//! serde processes an array element by element, with 32 calls for each array. Two little-endian
//! 128-bit integers have the same bytes in BCS and need two calls. The hashers of maps fold an
//! integer in a quarter of the instructions that they need for a slice.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hasher;

const HALF_BYTES: usize = 16;

/// Serializes `bytes` with the same result as the implementation of serde for `[u8; 32]`.
///
/// # Errors
///
/// Returns the error of `serializer`.
pub fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    // BCS is the only format in use that is not human-readable.
    if serializer.is_human_readable() {
        return bytes.serialize(serializer);
    }
    halves(bytes).serialize(serializer)
}

/// Adds `bytes` to the hash of a key of a map.
pub fn hash<H: Hasher>(bytes: &[u8; 32], hasher: &mut H) {
    for half in halves(bytes) {
        hasher.write_u128(half);
    }
}

fn halves(bytes: &[u8; 32]) -> [u128; 2] {
    let mut halves = [0; 2];
    let (parts, _) = bytes.as_chunks::<HALF_BYTES>();
    for (half, part) in halves.iter_mut().zip(parts) {
        *half = u128::from_le_bytes(*part);
    }
    halves
}

/// Deserializes an array that [`serialize`] has written.
///
/// # Errors
///
/// Returns the error of `deserializer` if its input is not an array of 32 bytes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    if deserializer.is_human_readable() {
        return Deserialize::deserialize(deserializer);
    }
    let halves = <[u128; 2]>::deserialize(deserializer)?;
    let mut bytes = [0; 32];
    let (parts, _) = bytes.as_chunks_mut::<HALF_BYTES>();
    for (part, half) in parts.iter_mut().zip(halves) {
        *part = half.to_le_bytes();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    /// An array in the form of this module.
    #[derive(PartialEq, Debug, Serialize, Deserialize)]
    struct Array(#[serde(with = "super")] [u8; 32]);

    proptest! {
        #[test]
        fn serializes_like_a_byte_array(bytes: [u8; 32]) {
            let encoded = bcs::to_bytes(&Array(bytes)).unwrap();
            prop_assert_eq!(&encoded, &bcs::to_bytes(&bytes).unwrap());
            prop_assert_eq!(bcs::from_bytes::<Array>(&encoded).unwrap(), Array(bytes));
            let encoded = serde_json::to_string(&Array(bytes)).unwrap();
            prop_assert_eq!(&encoded, &serde_json::to_string(&bytes).unwrap());
            prop_assert_eq!(serde_json::from_str::<Array>(&encoded).unwrap(), Array(bytes));
        }

        #[test]
        fn rejects_other_lengths_like_a_byte_array(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(
                bcs::from_bytes::<Array>(&bytes).map(|array| array.0),
                bcs::from_bytes::<[u8; 32]>(&bytes)
            );
        }
    }
}
