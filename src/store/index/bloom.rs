//! Bloom filters, which exclude runs that do not contain a key.
//!
//! Each run of a kind that is searched for single keys has a filter. A key that has not changed for
//! long is in the oldest of many runs, and each newer run would cost a descent of the tree.
//!
//! A filter consists of segments. A segment covers as many adjacent entries of its run as fill a
//! page. The commit that writes these entries also writes the segment, so that a merge has no state
//! between two of its steps. Filters are in memory from the commit that lists their run; opening a
//! store reads them instead of making them again.
//!
//! A segment is a split block Bloom filter as in the Parquet format: a key sets one bit in each of
//! the eight words of one block of 32 bytes. The layout is part of the format on disk and so not
//! that of a library: a filter that is read by other rules than it was written by hides rows.

use crate::StoreError;

/// Number of bits per entry. About one in a hundred keys that a run does not contain is searched
/// for in it.
const ENTRY_BITS: usize = 10;
/// Size of a block, in bytes: one or half a cache line.
const BLOCK_BYTES: usize = 32;
/// Maximum size of a segment, in bytes. With its key it fills a page of 4 KiB.
const SEGMENT_BYTES: usize = 120 * BLOCK_BYTES;
/// Maximum number of entries of a segment.
const SEGMENT_ENTRIES: usize = SEGMENT_BYTES * 8 / ENTRY_BITS;
/// Odd numbers that derive eight bits from one hash, as in the Parquet format.
const SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];
/// Bit that turns the id of a run into the id of its filter.
const BLOOM_ID_BIT: u64 = 1 << 63;

/// Returns the id of a run's filter in the table of runs.
pub(crate) fn bloom_id(run: u64) -> u64 {
    run | BLOOM_ID_BIT
}

/// Returns the hash of a key. The key is a keyed digest or part of a hash, and so random already.
fn hash(key: &[u8]) -> u64 {
    let word = |chunk: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    };
    key.chunks(8).map(word).fold(0, |all, word| all ^ word)
}

/// Returns the index of a hash's block among `blocks`, and its bit in each word of the block.
fn block_and_bits(hash: u64, blocks: usize) -> (usize, [u32; 8]) {
    let block = ((hash >> 32) * blocks as u64) >> 32;
    let low = hash as u32;
    let bits = SALTS.map(|salt| 1 << (low.wrapping_mul(salt) >> 27));
    (usize::try_from(block).unwrap_or_default(), bits)
}

/// A segment of a filter in its stored form.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The first key of the segment.
    pub(crate) first_key: Vec<u8>,
    /// Number of entries of the run that the segment covers, then the blocks.
    pub(crate) row: Vec<u8>,
}

/// Size of the number of entries at the start of a segment's row, in bytes. It is little endian.
const COUNT_BYTES: usize = 8;

/// Returns the row of a segment that replaces another one with the same first key.
///
/// This happens if many entries have one key: a step of a merge ends within them, and the next step
/// begins with the same key. If the replaced segment begins with this key too, it has no
/// other, and the new segment has it as well. So the bits of the new segment cover the entries of
/// both.
pub(crate) fn replacement_row(row: &[u8], replaced: Option<&[u8]>) -> Vec<u8> {
    let mut row = row.to_vec();
    let count = |row: &[u8]| {
        row.first_chunk()
            .map_or(0, |count| u64::from_le_bytes(*count))
    };
    let entries = count(&row).saturating_add(replaced.map_or(0, count));
    if let Some(first) = row.first_chunk_mut() {
        *first = entries.to_le_bytes();
    }
    row
}

/// A writer of the segments of ascending keys.
#[derive(Debug, Default)]
pub(crate) struct BloomFilterWriter {
    complete: Vec<Segment>,
    first: Vec<u8>,
    last: Vec<u8>,
    /// Number of entries since the last complete segment.
    entries: u64,
    /// Hashes of the distinct keys of these entries.
    hashes: Vec<u64>,
}

impl BloomFilterWriter {
    /// Adds the key of an entry. Keys may repeat.
    pub(crate) fn push(&mut self, key: &[u8]) {
        if self.hashes.is_empty() {
            self.first = key.to_vec();
        } else if self.last == key {
            self.entries += 1;
            return;
        }
        // Ends a segment only before another key, so that adjacent equal keys share a segment.
        if self.hashes.len() == SEGMENT_ENTRIES {
            self.end_segment();
            self.first = key.to_vec();
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.entries += 1;
        self.hashes.push(hash(key));
    }

    fn end_segment(&mut self) {
        let count = (self.hashes.len() * ENTRY_BITS).div_ceil(8 * BLOCK_BYTES);
        let mut blocks = vec![[0u32; 8]; count];
        for hash in self.hashes.drain(..) {
            let (block, bits) = block_and_bits(hash, count);
            for (word, bit) in blocks[block].iter_mut().zip(bits) {
                *word |= bit;
            }
        }
        let mut row = std::mem::take(&mut self.entries).to_le_bytes().to_vec();
        row.extend(
            blocks
                .into_flattened()
                .into_iter()
                .flat_map(u32::to_le_bytes),
        );
        self.complete.push(Segment {
            first_key: std::mem::take(&mut self.first),
            row,
        });
    }

    /// Returns the segments of all keys, in order.
    pub(crate) fn finish(mut self) -> Vec<Segment> {
        if !self.hashes.is_empty() {
            self.end_segment();
        }
        self.complete
    }
}

/// Returns the first 16 bytes of a key as a number, so that numbers have the order of keys.
fn ordinal(key: &[u8]) -> u128 {
    let mut bytes = [0; size_of::<u128>()];
    let length = key.len().min(bytes.len());
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}

/// The bloom filter of one run, in memory.
#[derive(Debug, Default)]
pub(crate) struct BloomFilter {
    /// First keys of the segments, ascending.
    first_keys: Vec<u128>,
    /// Offsets of the segments in `bytes`.
    offsets: Vec<usize>,
    bytes: Vec<u8>,
    /// Number of entries of the run that the segments cover.
    entries: u64,
}

impl BloomFilter {
    /// Adds the next segment.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the row has a size that no segment has.
    pub(crate) fn push(&mut self, first_key: &[u8], row: &[u8]) -> Result<(), StoreError> {
        let (count, blocks) = row
            .split_first_chunk::<COUNT_BYTES>()
            .unwrap_or((&[0; COUNT_BYTES], &[]));
        if blocks.is_empty()
            || blocks.len() > SEGMENT_BYTES
            || !blocks.len().is_multiple_of(BLOCK_BYTES)
        {
            let reason = format!("a filter of an index has a segment of {} bytes", row.len());
            return Err(StoreError::Inconsistent(reason));
        }
        self.first_keys.push(ordinal(first_key));
        self.offsets.push(self.bytes.len());
        self.bytes.extend_from_slice(blocks);
        self.entries = self.entries.saturating_add(u64::from_le_bytes(*count));
        Ok(())
    }

    /// Returns whether the run may contain entries of `key`. `false` is certain.
    pub(crate) fn may_contain(&self, key: &[u8]) -> bool {
        let (hash, key) = (hash(key), ordinal(key));
        // Entries of one key may be in two segments.
        let end = self.first_keys.partition_point(|first| *first <= key);
        let begin = self.first_keys[..end]
            .iter()
            .rposition(|first| *first < key);
        (begin.unwrap_or_default()..end).any(|index| self.segment_may_contain(index, hash))
    }

    fn segment_may_contain(&self, index: usize, hash: u64) -> bool {
        let end = self
            .offsets
            .get(index + 1)
            .copied()
            .unwrap_or(self.bytes.len());
        let segment = &self.bytes[self.offsets[index]..end];
        let (block, bits) = block_and_bits(hash, segment.len() / BLOCK_BYTES);
        let block = &segment[block * BLOCK_BYTES..][..BLOCK_BYTES];
        let words = block
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word));
        words.zip(bits).all(|(word, bit)| word & bit != 0)
    }

    /// Returns the number of entries of the run that the filter covers.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the size of the filter, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY_BYTES: usize = 16;

    fn key(n: u64) -> [u8; KEY_BYTES] {
        let digest = ledger_crypto::HashValue::sha3_of(&[&n.to_le_bytes()]);
        *digest.as_bytes().first_chunk().unwrap()
    }

    /// Returns the filter of ascending keys, written in steps of `step` keys.
    fn filter_of(keys: &[[u8; KEY_BYTES]], step: usize) -> BloomFilter {
        let mut filter = BloomFilter::default();
        for keys in keys.chunks(step) {
            let mut writer = BloomFilterWriter::default();
            keys.iter().for_each(|key| writer.push(key));
            for segment in writer.finish() {
                filter.push(&segment.first_key, &segment.row).unwrap();
            }
        }
        filter
    }

    proptest! {
        #[test]
        fn contains_every_key_wherever_a_step_ended(
            numbers in prop::collection::vec(0..500u64, 1..2_000),
            step in 1..700usize,
        ) {
            let mut keys: Vec<_> = numbers.into_iter().map(key).collect();
            keys.sort_unstable();
            let filter = filter_of(&keys, step);
            for key in &keys {
                prop_assert!(filter.may_contain(key), "{key:?}");
            }
            prop_assert_eq!(filter.entries, keys.len() as u64);
        }
    }

    #[test]
    fn excludes_most_absent_keys() {
        const KEYS: u64 = 20_000;
        let mut keys: Vec<_> = (0..KEYS).map(key).collect();
        keys.sort_unstable();
        let filter = filter_of(&keys, usize::MAX);
        assert!(filter.first_keys.len() as u64 > KEYS / SEGMENT_ENTRIES as u64);
        let false_positives = (KEYS..2 * KEYS)
            .filter(|n| filter.may_contain(&key(*n)))
            .count() as u64;
        assert!(
            false_positives < KEYS / 50,
            "{false_positives} of {KEYS} keys are not excluded"
        );
        assert!(!BloomFilter::default().may_contain(&key(1)));
    }

    /// The bits of a key are part of the format on disk.
    #[test]
    fn bits_of_a_key_do_not_change() {
        let (block, bits) = block_and_bits(hash(&key(7)), 120);
        assert_eq!(
            (block, bits.map(u32::trailing_zeros)),
            (75, [5, 31, 13, 22, 9, 24, 31, 29])
        );
    }

    #[test]
    fn rejects_a_damaged_segment() {
        for bytes in [
            0,
            1,
            COUNT_BYTES,
            COUNT_BYTES + 33,
            COUNT_BYTES + SEGMENT_BYTES + 32,
        ] {
            let result = BloomFilter::default().push(&key(1), &vec![0; bytes]);
            assert!(
                matches!(result, Err(StoreError::Inconsistent(_))),
                "{bytes}"
            );
        }
    }
}
