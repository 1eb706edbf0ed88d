//! Records for which the disk has no space.

use super::{
    CAPACITY, KEY, LONG_CAPACITY, Records, append_long, contents, found, open_wal, random_content,
    written,
};
use crate::{
    StoreError,
    wal::{GROWTH_BYTES, Wal},
};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault};
use proptest::prelude::*;
use redb::StorageBackend as _;
use std::io::Write as _;

/// A disk without space for more than `more_bytes`, until a test frees it.
fn full(more_bytes: usize) -> Fault {
    Fault::Full {
        more_bytes,
        failures_max: usize::MAX,
    }
}

/// Appends a record that the disk has no space for.
fn append_to_full_disk(wal: &mut Wal, content: &[u8]) -> StoreError {
    let appended = wal.append(LONG_CAPACITY, 90, |out| {
        out.write_all(content)
            .map_err(|error| StoreError::Inconsistent(error.to_string()))
    });
    appended.map(drop).unwrap_err()
}

/// Checks that the log holds `before` after a record that found no space, that a power failure
/// shows at most `failed` in addition, and that the next record follows `before`.
fn check_cut_back(disk: &Disk, wal: &mut Wal, before: &Records, failed: &[u8], seed: u64) {
    assert_eq!(&found(disk, 1), before);
    for try_number in 0..8 {
        let mut random = Rng::with_seed(seed.wrapping_mul(8) + try_number);
        let disk = Disk::new(disk.torn(&mut |bound| random.usize(..bound)));
        let mut records = found(&disk, 1);
        if records.len() > before.len() {
            assert_eq!(records.pop(), Some((90, failed.to_vec())));
        }
        assert_eq!(&records, before);
    }
    disk.free_space();
    append_long(wal, 91, b"with free space");
    let mut after = before.clone();
    after.push((91, b"with free space".to_vec()));
    assert_eq!(found(disk, 1), after);
    assert_eq!(found(&Disk::new(disk.synced()), 1), after);
}

proptest! {
    #[test]
    fn cuts_back_a_record_that_makes_the_file_too_long(
        contents in contents(),
        bytes in CAPACITY as usize..600_000,
        more_bytes in 0..700_000_usize,
        seed in any::<u64>(),
    ) {
        let (disk, records, ends) = written(&contents);
        let mut wal = open_wal(&disk, KEY, 1);
        (wal.number, wal.end) = (records.len() as u64, *ends.last().unwrap());
        let length = disk.log().len().unwrap();
        // Less than the growth, and in some cases enough for the record without it.
        let more_bytes = more_bytes % (wal.end as usize + bytes).next_multiple_of(GROWTH_BYTES as usize).saturating_sub(length as usize);
        disk.inject(full(more_bytes));
        let content = random_content(seed, bytes);
        let error = append_to_full_disk(&mut wal, &content);
        prop_assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
        prop_assert_eq!(disk.log().len().unwrap(), length);
        check_cut_back(&disk, &mut wal, &records, &content, seed);
    }

    #[test]
    fn cuts_back_a_record_that_fails_within_the_file(
        contents in contents(),
        bytes in 0..9_000_usize,
        is_overwriting_failing in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let (disk, records, ends) = written(&contents);
        let mut wal = open_wal(&disk, KEY, 1);
        (wal.number, wal.end) = (records.len() as u64, *ends.last().unwrap());
        let count = if is_overwriting_failing { 2 } else { 1 };
        disk.inject(Fault::FullWrites { count });
        let content = random_content(seed, bytes);
        let error = append_to_full_disk(&mut wal, &content);
        prop_assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
        check_cut_back(&disk, &mut wal, &records, &content, seed);
    }
}

#[test]
fn fails_if_a_record_cannot_be_cut_back() {
    let (disk, ..) = written(&[vec![1; 10]]);
    let mut wal = open_wal(&disk, KEY, 1);
    disk.inject(full(4_096));
    disk.inject(Fault::Gone { after: 1 });
    let error = append_to_full_disk(&mut wal, &[3; 2 * CAPACITY as usize]);
    assert!(error.is_failed_io(), "{error}");
    assert!(
        error.to_string().contains("cutting back the write-ahead"),
        "{error}"
    );
}
