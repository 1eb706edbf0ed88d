//! Records that are longer than the pieces in which they are hashed and written.

use super::{KEY, append_long, flip, found, open_wal, random_content, read};
use crate::wal::{
    reader::WalReadError,
    record::{HEADER_BYTES, PAGE_BYTES},
};
use ledger_test_support::Disk;
use redb::StorageBackend as _;
use siphasher::sip128::{Hasher128 as _, SipHasher13};
use std::hash::Hasher as _;

/// Lengths of contents next to powers of two, up to that of a block with some thousand
/// transactions.
const LONG: [usize; 6] = [
    32 * 1024 - 1,
    32 * 1024,
    32 * 1024 + 1,
    64 * 1024,
    100_000,
    1024 * 1024 + 77,
];

/// The digest covers the whole content, whatever its length and however it is hashed.
#[test]
fn writes_the_plain_digest_of_a_record_of_any_length() {
    const CONTENT_DIGEST: std::ops::Range<usize> = 40..56;
    for (seed, bytes) in (0..).zip([0, 1, 100, PAGE_BYTES as usize].into_iter().chain(LONG)) {
        let content = random_content(seed, bytes);
        let disk = Disk::default();
        append_long(&mut open_wal(&disk, KEY, 1), 5, &content);
        let mut header = [0; HEADER_BYTES];
        disk.log().read(0, &mut header).unwrap();
        // Hashes in pieces of different sizes.
        let mut hasher = SipHasher13::new_with_key(&KEY.0);
        let mut rest = &content[..];
        for piece_bytes in 1.. {
            let (piece, after) = rest.split_at(rest.len().min(piece_bytes));
            hasher.write(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let expected = hasher.finish128().as_bytes();
        assert_eq!(header[CONTENT_DIGEST], expected, "{bytes} bytes");
        assert_eq!(found(&disk, 1), [(5, content)], "{bytes} bytes");
    }
}

/// Returns every 499th byte, the bytes next to page boundaries, and the first and last ones.
fn sampled_offsets(bytes: usize) -> Vec<usize> {
    let beside_pages = (0..bytes).step_by(PAGE_BYTES as usize).flat_map(|page| {
        let first = page.saturating_sub(HEADER_BYTES + 1);
        [
            first,
            first + 1,
            first + 2,
            page.saturating_sub(1),
            page,
            page + 1,
        ]
    });
    let ends = (0..64).chain(bytes.saturating_sub(64)..bytes);
    let mut offsets: Vec<_> = (0..bytes)
        .step_by(499)
        .chain(beside_pages)
        .chain(ends)
        .collect();
    offsets.retain(|offset| *offset < bytes);
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// A flipped bit is detected anywhere, even in the last record, which a torn write could explain.
#[test]
fn detects_a_flipped_bit_anywhere_in_a_long_record() {
    for (seed, bytes) in (0..).zip(LONG) {
        let content = random_content(seed, bytes);
        for is_last in [true, false] {
            let disk = Disk::default();
            let mut wal = open_wal(&disk, KEY, 1);
            append_long(&mut wal, 5, &content);
            if !is_last {
                append_long(&mut wal, 6, b"a later record");
            }
            // A record of a megabyte takes a millisecond to check.
            let every = if bytes > 200_000 { 16 } else { 1 };
            for (number, offset) in sampled_offsets(bytes)
                .into_iter()
                .step_by(every)
                .enumerate()
            {
                let case = format!("{bytes} bytes, last {is_last}, flipped at {offset}");
                let (offset, bit) = ((HEADER_BYTES + offset) as u64, number as u8 % 8);
                flip(&disk, offset, bit);
                match read(&disk, KEY, 1) {
                    Ok(records) => assert!(is_last && records.is_empty(), "{case}"),
                    Err(WalReadError::Damaged(reason)) => {
                        assert!(
                            !is_last && reason.contains("record 0 at byte 0"),
                            "{case}: {reason}"
                        );
                    }
                    Err(stop) => panic!("{case}: {stop:?}"),
                }
                flip(&disk, offset, bit);
            }
            assert_eq!(read(&disk, KEY, 1).unwrap()[0], (5, content.clone()));
        }
    }
}
