//! Which runs cannot hold a key: a Bloom filter beside each run of a kind that is searched for single keys.
//!
//! A key that has not changed for long lies in the oldest of many runs, and each run before it would cost a descent of
//! the tree. A filter is made of segments. Each is of so many neighbouring entries of its run that it fills a page, and is
//! written in the commit that writes them, so that a merge in steps leaves nothing to remember between two of them. Filters
//! are kept in memory from the commit that lists their run on; at the opening they are read, not made again.
//!
//! A segment is a split block Bloom filter as the Parquet format has it: a key sets one bit in each of the eight words of
//! one block of 32 bytes. The layout is ours and not a library's because it is on the disk: a filter that is read by other
//! rules than it was written by hides rows.

use crate::StoreError;

/// Bits for each entry: about one in a hundred keys that a run does not hold is searched for in it.
const ENTRY_BITS: usize = 10;
/// Bytes of a block, which is one line of a processor's cache or half of one.
const BLOCK_BYTES: usize = 32;
/// The most bytes of a segment. With its key it fills a page of 4 KiB.
const SEGMENT_BYTES: usize = 120 * BLOCK_BYTES;
/// The most entries of a segment.
const SEGMENT_ENTRIES: usize = SEGMENT_BYTES * 8 / ENTRY_BITS;
/// Odd numbers that make eight bits of one hash, as the Parquet format has them.
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
/// Set in the number of a run, it is the number of its filter in the table of runs.
const OF_RUN: u64 = 1 << 63;

/// The number under which the filter of a run stands in the table of runs.
pub(crate) fn bloom_id(run: u64) -> u64 {
    run | OF_RUN
}

/// A number for a key, which is a keyed digest or the first bytes of a hash, and so random already.
fn hash(key: &[u8]) -> u64 {
    let word = |chunk: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    };
    key.chunks(8).map(word).fold(0, |all, word| all ^ word)
}

/// The block of a hash among `blocks`, and its bit in each word of that.
fn place(hash: u64, blocks: usize) -> (usize, [u32; 8]) {
    let block = ((hash >> 32) * blocks as u64) >> 32;
    let low = hash as u32;
    let bits = SALTS.map(|salt| 1 << (low.wrapping_mul(salt) >> 27));
    (usize::try_from(block).unwrap_or_default(), bits)
}

/// A part of a filter as it is written: its first key, and its row, which is the number of entries of the run that it stands
/// for and its blocks.
pub(crate) type Segment = (Vec<u8>, Vec<u8>);
/// Bytes of that number, little endian.
const COUNT_BYTES: usize = 8;

/// Returns the row of a segment that is written in place of another one with the same first key.
///
/// That happens where many entries have one key: a step of a merge ends within them, and the next
/// step begins with the same key. If the replaced segment begins with this key too, it has no
/// other, and the new segment has it as well. So the bits of the new segment stand for the entries
/// of both.
pub(crate) fn replacing(row: &[u8], replaced: Option<&[u8]>) -> Vec<u8> {
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

/// Makes the segments of ascending keys.
#[derive(Debug, Default)]
pub(crate) struct BloomFilterWriter {
    done: Vec<Segment>,
    first: Vec<u8>,
    last: Vec<u8>,
    /// How many keys were added since the last segment ended, and the hash of each that is another than the one before.
    entries: u64,
    hashes: Vec<u64>,
}

impl BloomFilterWriter {
    /// Adds the key of an entry; keys may repeat.
    pub(crate) fn push(&mut self, key: &[u8]) {
        if self.hashes.is_empty() {
            self.first = key.to_vec();
        } else if self.last == key {
            self.entries += 1;
            return;
        }
        // Not sooner, so that equal keys beside each other are of one segment.
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
            let (block, bits) = place(hash, count);
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
        self.done.push((std::mem::take(&mut self.first), row));
    }

    /// The segments of all keys, in order.
    pub(crate) fn finish(mut self) -> Vec<Segment> {
        if !self.hashes.is_empty() {
            self.end_segment();
        }
        self.done
    }
}

/// A key as a number, in the order of keys.
fn ordinal(key: &[u8]) -> u128 {
    let mut bytes = [0; size_of::<u128>()];
    let length = key.len().min(bytes.len());
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}

/// The filter of one run, in memory.
#[derive(Debug, Default)]
pub(crate) struct BloomFilter {
    /// The first keys of the segments, ascending.
    firsts: Vec<u128>,
    /// Where the bytes of each begin.
    begins: Vec<usize>,
    bytes: Vec<u8>,
    /// How many entries of the run all segments stand for.
    pub(crate) entries: u64,
}

impl BloomFilter {
    /// Adds the next segment.
    pub(crate) fn push(&mut self, first: &[u8], row: &[u8]) -> Result<(), StoreError> {
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
        self.firsts.push(ordinal(first));
        self.begins.push(self.bytes.len());
        self.bytes.extend_from_slice(blocks);
        self.entries = self.entries.saturating_add(u64::from_le_bytes(*count));
        Ok(())
    }

    /// Whether the run may hold entries of `key`; `false` is certain.
    pub(crate) fn may_contain(&self, key: &[u8]) -> bool {
        let (hash, key) = (hash(key), ordinal(key));
        // A key whose entries are parted by the end of a segment may be in both.
        let end = self.firsts.partition_point(|first| *first <= key);
        let begin = self.firsts[..end].iter().rposition(|first| *first < key);
        (begin.unwrap_or_default()..end).any(|at| self.segment_holds(at, hash))
    }

    fn segment_holds(&self, at: usize, hash: u64) -> bool {
        let end = self.begins.get(at + 1).copied().unwrap_or(self.bytes.len());
        let segment = &self.bytes[self.begins[at]..end];
        let (block, bits) = place(hash, segment.len() / BLOCK_BYTES);
        let block = &segment[block * BLOCK_BYTES..][..BLOCK_BYTES];
        let words = block
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word));
        words.zip(bits).all(|(word, bit)| word & bit != 0)
    }

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

    /// The filter of ascending keys that were written in steps of so many.
    fn written(keys: &[[u8; KEY_BYTES]], step: usize) -> BloomFilter {
        let mut filter = BloomFilter::default();
        for keys in keys.chunks(step) {
            let mut writer = BloomFilterWriter::default();
            keys.iter().for_each(|key| writer.push(key));
            for (first, blocks) in writer.finish() {
                filter.push(&first, &blocks).unwrap();
            }
        }
        filter
    }

    proptest! {
        #[test]
        fn every_key_is_held_wherever_a_step_ended(
            numbers in prop::collection::vec(0..500u64, 1..2_000),
            step in 1..700usize,
        ) {
            let mut keys: Vec<_> = numbers.into_iter().map(key).collect();
            keys.sort_unstable();
            let filter = written(&keys, step);
            for key in &keys {
                prop_assert!(filter.may_contain(key), "{key:?}");
            }
            prop_assert_eq!(filter.entries, keys.len() as u64);
        }
    }

    #[test]
    fn most_keys_that_are_not_there_are_not_held() {
        const KEYS: u64 = 20_000;
        let mut keys: Vec<_> = (0..KEYS).map(key).collect();
        keys.sort_unstable();
        let filter = written(&keys, usize::MAX);
        assert!(filter.firsts.len() as u64 > KEYS / SEGMENT_ENTRIES as u64);
        let held = (KEYS..2 * KEYS)
            .filter(|n| filter.may_contain(&key(*n)))
            .count() as u64;
        assert!(held < KEYS / 50, "{held} of {KEYS} are held");
        assert!(!BloomFilter::default().may_contain(&key(1)));
    }

    /// The bits of a key are on the disk.
    #[test]
    fn the_place_of_a_key_never_changes() {
        let (block, bits) = place(hash(&key(7)), 120);
        assert_eq!(
            (block, bits.map(u32::trailing_zeros)),
            (75, [5, 31, 13, 22, 9, 24, 31, 29])
        );
    }

    #[test]
    fn a_damaged_segment_is_refused() {
        for bytes in [
            0,
            1,
            COUNT_BYTES,
            COUNT_BYTES + 33,
            COUNT_BYTES + SEGMENT_BYTES + 32,
        ] {
            let refused = BloomFilter::default().push(&key(1), &vec![0; bytes]);
            assert!(
                matches!(refused, Err(StoreError::Inconsistent(_))),
                "{bytes}"
            );
        }
    }
}
