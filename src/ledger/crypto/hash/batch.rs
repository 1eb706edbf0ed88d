//! SHA3-256 (FIPS 202) of many messages, eight of them in parallel per permutation.

use super::{
    HashValue, Seed,
    permutation::{LANES, States},
};
use serde::Serialize;

/// Number of message bytes that one permutation absorbs.
const BLOCK_BYTES: usize = 136;

/// A batch of messages to hash.
///
/// Eight consecutive messages share the permutations of the longest one, so a caller should add
/// messages of similar length one after another.
#[derive(Debug, Default)]
pub struct HashBatch {
    /// The concatenated messages, each padded to a multiple of [`BLOCK_BYTES`].
    bytes: Vec<u8>,
    /// Offset in `bytes` of the end of each message.
    ends: Vec<usize>,
}

impl HashBatch {
    /// Creates an empty batch with capacity for `messages` messages of up to `bytes` bytes each,
    /// including their prefixes.
    pub fn with_capacity(messages: usize, bytes: usize) -> Self {
        let blocks = messages.saturating_mul(bytes / BLOCK_BYTES + 1);
        Self {
            bytes: Vec::with_capacity(blocks.saturating_mul(BLOCK_BYTES)),
            ends: Vec::with_capacity(messages),
        }
    }

    /// Adds the message of [`Seed::hash`]: the concatenated `parts` under the prefix `seed`.
    pub fn push(&mut self, seed: &Seed, parts: &[&[u8]]) {
        self.bytes.extend_from_slice(seed.as_bytes());
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.end_message();
    }

    /// Adds the message of [`Seed::hash_bcs`] and returns the size of `value` in BCS, in bytes.
    ///
    /// # Panics
    ///
    /// Panics if `value` has no BCS form. All hashed types of the ledger have one.
    pub fn push_bcs<T: Serialize>(&mut self, seed: &Seed, value: &T) -> usize {
        self.bytes.extend_from_slice(seed.as_bytes());
        let begin = self.bytes.len();
        bcs::serialize_into(&mut self.bytes, value).expect("types of this crate have a BCS form");
        let value_bytes = self.bytes.len() - begin;
        self.end_message();
        value_bytes
    }

    /// Adds the message of [`HashValue::sha3_of`]: the concatenated `parts` without a prefix.
    pub fn push_unprefixed(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.end_message();
    }

    /// Pads the bytes after the previous message to whole blocks and ends the message.
    ///
    /// FIPS 202 defines the padding in sections 5.1 and B.2.
    fn end_message(&mut self) {
        self.bytes.push(0x06);
        self.bytes
            .resize(self.bytes.len().next_multiple_of(BLOCK_BYTES), 0);
        if let Some(last) = self.bytes.last_mut() {
            *last |= 0x80;
        }
        self.ends.push(self.bytes.len());
    }

    /// Returns the hashes in the order of the messages, and empties the batch.
    pub fn finish(&mut self) -> Vec<HashValue> {
        let mut hashes = Vec::with_capacity(self.ends.len());
        let mut begin = 0;
        for ends in self.ends.chunks(LANES) {
            let mut messages = [&[][..]; LANES];
            for (message, &end) in messages.iter_mut().zip(ends) {
                *message = &self.bytes[begin..end];
                begin = end;
            }
            hashes.extend_from_slice(&hash_lanes(&messages)[..ends.len()]);
        }
        self.bytes.clear();
        self.ends.clear();
        hashes
    }
}

/// Returns the hashes of padded messages.
///
/// An empty slice marks an unused lane, and the hash of that lane is meaningless.
fn hash_lanes(messages: &[&[u8]; LANES]) -> [HashValue; LANES] {
    let mut states = States::new();
    let mut hashes = [HashValue::default(); LANES];
    let blocks = messages.map(|message| message.len() / BLOCK_BYTES);
    for block in 0..blocks.into_iter().max().unwrap_or(0) {
        for (lane, message) in messages.iter().enumerate() {
            if block < blocks[lane] {
                absorb(
                    &mut states,
                    lane,
                    &message[block * BLOCK_BYTES..][..BLOCK_BYTES],
                );
            }
        }
        states.permute();
        for (lane, hash) in hashes.iter_mut().enumerate() {
            if block + 1 == blocks[lane] {
                *hash = squeeze(&states, lane);
            }
        }
    }
    hashes
}

/// Absorbs a block of [`BLOCK_BYTES`] bytes into the state of one lane (FIPS 202, section 4).
fn absorb(states: &mut States, lane: usize, block: &[u8]) {
    let (words, _) = block.as_chunks::<8>();
    for (lanes, &word) in states.0.iter_mut().zip(words) {
        lanes[lane] ^= u64::from_le_bytes(word);
    }
}

/// Returns the hash that the state of one lane holds after the last block of its message.
fn squeeze(states: &States, lane: usize) -> HashValue {
    let mut bytes = [0; HashValue::LENGTH];
    let (words, _) = bytes.as_chunks_mut::<8>();
    for (word, lanes) in words.iter_mut().zip(&states.0) {
        *word = lanes[lane].to_le_bytes();
    }
    HashValue::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    #[test]
    fn batch_hashes_equal_single_hashes_for_every_length() {
        let seed = Seed::new("NODE", "Test");
        let bytes: Vec<u8> = (0..600u32).map(|n| n as u8).collect();
        let mut batch = HashBatch::default();
        for length in 0..bytes.len() {
            batch.push(&seed, &[&bytes[..length]]);
        }
        let hashes = batch.finish();
        assert_eq!(hashes.len(), bytes.len());
        for (length, hash) in hashes.into_iter().enumerate() {
            assert_eq!(hash, seed.hash(&[&bytes[..length]]), "{length} bytes");
        }
        assert_eq!(batch.finish(), []);
    }

    proptest! {
        #[test]
        fn batch_hashes_equal_single_hashes_for_mixed_lengths(messages in vec(vec(any::<u8>(), 0..500), 0..40)) {
            let seed = Seed::new("NODE", "Test");
            let mut batch = HashBatch::with_capacity(messages.len(), 100);
            for message in &messages {
                let value_bytes = batch.push_bcs(&seed, message);
                prop_assert_eq!(value_bytes, bcs::serialized_size(message).unwrap());
                batch.push_unprefixed(&[message, b"!"]);
            }
            let expected: Vec<_> = messages
                .iter()
                .flat_map(|message| [seed.hash_bcs(message), HashValue::sha3_of(&[message, b"!"])])
                .collect();
            prop_assert_eq!(batch.finish(), expected);
        }
    }
}
