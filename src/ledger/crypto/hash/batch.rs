//! SHA3-256 (FIPS 202) of many messages, eight of them in parallel per permutation.

use super::{
    HashValue, Seed,
    permutation::{LANES, States},
};
use serde::Serialize;
use std::iter;

/// Number of message bytes that one permutation absorbs.
const BLOCK_BYTES: usize = 136;

/// A batch of messages to hash.
///
/// Eight messages share each permutation. The next message takes the lane of one that ends, so
/// messages of different lengths leave lanes empty only at the end of the batch.
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
        let length = self.bytes.len();
        let end = (length + 1).next_multiple_of(BLOCK_BYTES);
        self.bytes.resize(end, 0);
        self.bytes[length] = 0x06;
        self.bytes[end - 1] |= 0x80;
        self.ends.push(end);
    }

    /// Returns the hashes in the order of the messages, and empties the batch.
    pub fn finish(&mut self) -> Vec<HashValue> {
        let mut hashes = vec![HashValue::default(); self.ends.len()];
        let begins = iter::once(&0).chain(&self.ends);
        let mut waiting = hashes.iter_mut().zip(begins.zip(&self.ends));
        let mut next_message = || {
            let (hash, (&begin, &end)) = waiting.next()?;
            let (blocks, _) = self.bytes[begin..end].as_chunks();
            Some(Message { blocks, hash })
        };
        let mut states = States::new();
        let mut lanes = [const { None }; LANES];
        loop {
            for (lane, message) in lanes.iter_mut().enumerate() {
                let is_first = message.is_none();
                if is_first {
                    *message = next_message();
                }
                if let Some(Message { blocks, .. }) = message
                    && let Some((block, rest)) = blocks.split_first()
                {
                    *blocks = rest;
                    if is_first {
                        begin_message(&mut states, lane, block);
                    } else {
                        absorb(&mut states, lane, block);
                    }
                }
            }
            if lanes.iter().all(Option::is_none) {
                break;
            }
            states.permute();
            for (lane, message) in lanes.iter_mut().enumerate() {
                if let Some(ended) = message.take_if(|message| message.blocks.is_empty()) {
                    *ended.hash = squeeze(&states, lane);
                }
            }
        }
        self.bytes.clear();
        self.ends.clear();
        hashes
    }
}

/// A block of a padded message.
type Block = [u8; BLOCK_BYTES];

/// A message that occupies a lane.
struct Message<'a> {
    /// Blocks that are not absorbed yet.
    blocks: &'a [Block],
    /// Destination of the hash.
    hash: &'a mut HashValue,
}

fn words(block: &Block) -> impl Iterator<Item = u64> {
    let (words, _) = block.as_chunks();
    words.iter().copied().map(u64::from_le_bytes)
}

/// Absorbs the first block of a message into the state of one lane, which has any content.
fn begin_message(states: &mut States, lane: usize, block: &Block) {
    let capacity = iter::repeat(0);
    for (lanes, word) in states.0.iter_mut().zip(words(block).chain(capacity)) {
        lanes[lane] = word;
    }
}

/// Absorbs a further block of a message into the state of one lane (FIPS 202, section 4).
fn absorb(states: &mut States, lane: usize, block: &Block) {
    for (lanes, word) in states.0.iter_mut().zip(words(block)) {
        lanes[lane] ^= word;
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
