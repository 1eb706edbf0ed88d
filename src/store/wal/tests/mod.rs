//! Reading a log after a crash, after earlier generations, and with damage.

mod full_disk;
mod long_records;

use super::{
    GROWTH_BYTES, Wal,
    reader::WalReadError,
    record::{HEADER_BYTES, PAGE_BYTES},
};
use crate::{StoreError, SyncTimer, tables::digest::LogKey};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault};
use proptest::{prelude::*, test_runner::TestCaseError};
use redb::StorageBackend as _;
use std::{io::Write as _, sync::Arc};

const KEY: LogKey = LogKey([7; 16]);
/// Capacity for a few records of some pages.
const CAPACITY: u64 = 16 * PAGE_BYTES;

/// Height before each record, and its content.
type Records = Vec<(u64, Vec<u8>)>;

fn open_wal(disk: &Disk, key: LogKey, generation: u64) -> Wal {
    Wal::new(Arc::new(disk.log()), key, generation, SyncTimer::default()).unwrap()
}

fn append(wal: &mut Wal, height: u64, content: &[u8]) -> Result<bool, StoreError> {
    let appended = wal.append(CAPACITY, height, |out| {
        // Writes in pieces, as a serializer does.
        for piece in content.chunks(100) {
            out.write_all(piece)
                .map_err(|error| StoreError::Inconsistent(error.to_string()))?;
        }
        Ok(())
    });
    Ok(appended?.is_some())
}

fn read(disk: &Disk, key: LogKey, generation: u64) -> Result<Records, WalReadError> {
    let mut scan = open_wal(disk, key, generation).reader()?;
    let mut records = Records::new();
    while let Some(record) = scan.next()? {
        records.push(record);
    }
    Ok(records)
}

fn found(disk: &Disk, generation: u64) -> Records {
    read(disk, KEY, generation).unwrap()
}

/// Returns a disk with these records of generation 1, the records, and their boundaries.
fn written(contents: &[Vec<u8>]) -> (Disk, Records, Vec<u64>) {
    let disk = Disk::default();
    let mut wal = open_wal(&disk, KEY, 1);
    let (mut records, mut ends) = (Records::new(), vec![0]);
    for (height, content) in (5..).zip(contents) {
        if !append(&mut wal, height, content).unwrap() {
            break;
        }
        records.push((height, content.clone()));
        ends.push(wal.end);
    }
    (disk, records, ends)
}

fn flip(disk: &Disk, offset: u64, bit: u8) {
    let mut byte = [0];
    disk.log().read(offset, &mut byte).unwrap();
    disk.log().write(offset, &[byte[0] ^ (1 << bit)]).unwrap();
}

fn contents() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let content = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..600),
        1 => prop::collection::vec(any::<u8>(), 3_900..9_000),
    ];
    prop::collection::vec(content, 1..6)
}

/// A power failure before the sync of a record.
struct Torn {
    disk: Disk,
    /// Synced records.
    before: Records,
    /// The record that is not synced.
    next: (u64, Vec<u8>),
}

impl Torn {
    fn check(&self, seed: u64) {
        for try_number in 0..8 {
            let mut random = Rng::with_seed(seed.wrapping_mul(8) + try_number);
            let disk = Disk::new(self.disk.torn(&mut |bound| random.usize(..bound)));
            let found = found(&disk, 2);
            let has_next = found.len() > self.before.len();
            let next = has_next.then(|| self.next.clone());
            let expected: Records = self.before.iter().cloned().chain(next).collect();
            assert_eq!(found, expected);
            if found.is_empty() {
                // No record was complete, so the generation continues over the torn one.
                append(&mut open_wal(&disk, KEY, 2), 50, b"another").unwrap();
                assert_eq!(super::tests::found(&disk, 2), [(50, b"another".to_vec())]);
            }
        }
    }
}

proptest! {
    #[test]
    fn reads_records_of_the_same_key_and_generation_only(contents in contents()) {
        let (disk, records, _) = written(&contents);
        prop_assert_eq!(found(&disk, 1), records);
        prop_assert_eq!(found(&disk, 0), Records::new());
        prop_assert_eq!(found(&disk, 2), Records::new());
        let other = read(&disk, LogKey([8; 16]), 1).unwrap();
        prop_assert_eq!(other, Records::new());
    }

    #[test]
    fn ignores_records_of_earlier_generations(old in contents(), new in contents(), is_restarted in any::<bool>()) {
        let (disk, ..) = written(&old);
        let mut wal = open_wal(&disk, KEY, 1);
        wal.restart(2);
        let mut records = Records::new();
        for (height, content) in (50..).zip(&new) {
            if append(&mut wal, height, content).unwrap() {
                records.push((height, content.clone()));
            }
        }
        prop_assert_eq!(found(&disk, 2), records);
        if is_restarted {
            wal.restart(3);
            prop_assert_eq!(found(&disk, 3), Records::new());
        }
    }

    #[test]
    fn ends_at_a_torn_record(
        old in contents(),
        new in contents(),
        seed in any::<u64>(),
    ) {
        // Writes over records of an earlier generation and into new space.
        let (disk, ..) = written(&old);
        let mut wal = open_wal(&disk, KEY, 1);
        wal.restart(2);
        let mut records = Records::new();
        for (height, content) in (50..).zip(&new) {
            let torn = Torn { disk: disk.clone(), before: records.clone(), next: (height, content.clone()) };
            disk.set_on_sync(move || torn.check(seed ^ height));
            if append(&mut wal, height, content).unwrap() {
                records.push((height, content.clone()));
            }
        }
        prop_assert_eq!(found(&disk, 2), records);
    }

    #[test]
    fn rejects_damage_except_in_the_last_record(
        contents in contents(),
        offset in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let (disk, records, ends) = written(&contents);
        let end = *ends.last().unwrap();
        let offset = offset.index(usize::try_from(end).unwrap()) as u64;
        let damaged = ends.iter().filter(|end| **end <= offset).count() - 1;
        flip(&disk, offset, bit);
        match read(&disk, KEY, 1) {
            // The padding of a page has no content.
            Ok(found) if found == records => {
                let used = ends[damaged] + (HEADER_BYTES + records[damaged].1.len()) as u64;
                prop_assert!(offset >= used, "damage at {offset} is not detected");
            }
            Ok(found) => {
                prop_assert_eq!(damaged, records.len() - 1, "damage at {} is skipped", offset);
                prop_assert_eq!(&found, &records[..damaged]);
            }
            Err(WalReadError::Damaged(reason)) => {
                prop_assert!(damaged < records.len() - 1);
                prop_assert!(reason.contains(&format!("record {damaged} at byte {}", ends[damaged])), "{reason}");
            }
            Err(stop) => return Err(TestCaseError::fail(format!("{stop:?}"))),
        }
    }

    #[test]
    fn reads_the_records_before_a_truncation(contents in contents(), cut in any::<prop::sample::Index>()) {
        let (disk, records, ends) = written(&contents);
        let length = disk.log().len().unwrap();
        let cut = cut.index(usize::try_from(length).unwrap()) as u64;
        disk.log().set_len(cut).unwrap();
        let used = |number: usize| ends[number] + (HEADER_BYTES + records[number].1.len()) as u64;
        let complete = (0..records.len()).take_while(|number| used(*number) <= cut).count();
        prop_assert_eq!(found(&disk, 1), &records[..complete]);
    }
}

/// Returns random content, so that no two parts of it are equal.
fn random_content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// Capacity for two records of a megabyte.
const LONG_CAPACITY: u64 = 4 * 1024 * 1024;

fn append_long(wal: &mut Wal, height: u64, content: &[u8]) {
    let appended = wal.append(LONG_CAPACITY, height, |out| {
        out.write_all(content)
            .map_err(|error| StoreError::Inconsistent(error.to_string()))
    });
    assert!(
        appended.unwrap().is_some(),
        "{} bytes do not fit",
        content.len()
    );
}

#[test]
fn detects_a_record_with_any_sectors_missing() {
    let contents = [vec![1; 100], vec![2; 5_000]];
    let (disk, records, ends) = written(&contents);
    let image = disk.written();
    // A disk writes sectors in any order, so each combination of sectors may be missing.
    let sectors: Vec<u64> = (ends[1]..ends[2]).step_by(512).collect();
    for missing in 1..1u32 << sectors.len().min(10) {
        let disk = Disk::new(image.clone());
        for (number, offset) in sectors.iter().enumerate() {
            if missing & (1 << (number % 10)) != 0 {
                disk.log().write(*offset, &[0; 512]).unwrap();
            }
        }
        assert_eq!(found(&disk, 1), &records[..1], "sectors {missing:b}");
    }
}

#[test]
fn does_not_write_a_record_that_does_not_fit() {
    let disk = Disk::default();
    let mut wal = open_wal(&disk, KEY, 1);
    let page = PAGE_BYTES as usize;
    let fits = vec![3; CAPACITY as usize - HEADER_BYTES];
    assert!(append(&mut wal, 1, &vec![3; page]).unwrap());
    let operations = disk.operations();
    // The first took two pages.
    assert!(!append(&mut wal, 2, &fits[2 * page - 1..]).unwrap());
    assert!(!append(&mut wal, 2, &fits).unwrap());
    assert_eq!(disk.operations(), operations);
    assert!(
        append(&mut wal, 2, &fits[2 * page..]).unwrap(),
        "the record fits into the rest"
    );
    wal.restart(2);
    assert!(
        append(&mut wal, 2, &fits).unwrap(),
        "the record fits exactly"
    );
    assert!(!append(&mut wal, 3, b"").unwrap());
    assert_eq!(found(&disk, 2), [(2, fits)]);
    assert_eq!(disk.log().len().unwrap(), CAPACITY);
}

#[test]
fn appends_with_one_write_and_one_sync() {
    let disk = Disk::default();
    let mut wal = open_wal(&disk, KEY, 1);
    let append = |wal: &mut Wal| {
        wal.append(4 * GROWTH_BYTES, 1, |out| {
            out.write_all(b"a block")
                .map_err(|error| StoreError::Inconsistent(error.to_string()))
        })
    };
    let mut lengths = Vec::new();
    while append(&mut wal).unwrap().is_some() {
        lengths.push(disk.log().len().unwrap());
    }
    assert_eq!(disk.operations(), 2 * lengths.len());
    lengths.dedup();
    assert_eq!(lengths, [1, 2, 3, 4].map(|number| number * GROWTH_BYTES));
    wal.restart(2);
    assert!(append(&mut wal).unwrap().is_some());
    wal.truncate().unwrap();
    assert_eq!(
        (disk.log().len().unwrap(), found(&disk, 2)),
        (0, Records::new())
    );
}

#[test]
fn reuses_the_buffer_of_a_record_unless_it_is_shared() {
    let disk = Disk::default();
    let mut wal = open_wal(&disk, KEY, 1);
    let mut append = |content: &[u8]| {
        let appended = wal.append(CAPACITY, 1, |out| {
            out.write_all(content)
                .map_err(|error| StoreError::Inconsistent(error.to_string()))
        });
        appended.unwrap().unwrap().0
    };
    let first = append(b"a block");
    let second = append(b"another");
    assert_eq!(&first[HEADER_BYTES..][..7], b"a block");
    let address = second.as_ptr();
    drop(second);
    assert_eq!(
        append(b"a third").as_ptr(),
        address,
        "the buffer is not reused"
    );
}

#[test]
fn reports_disk_failures() {
    for fault in [
        Fault::Write { after: 0 },
        Fault::Sync { after: 0, keeps: 0 },
    ] {
        let disk = Disk::default();
        let mut wal = open_wal(&disk, KEY, 1);
        disk.inject(fault);
        let error = append(&mut wal, 1, b"a block").unwrap_err();
        assert!(error.is_failed_io(), "{fault:?}: {error}");
        assert!(error.to_string().contains("the write-ahead log"), "{error}");
    }
    let (disk, ..) = written(&[vec![1; 10]]);
    disk.inject(Fault::Reads { after: 0 });
    assert!(matches!(
        read(&disk, KEY, 1),
        Err(WalReadError::Unreadable(_))
    ));
}
