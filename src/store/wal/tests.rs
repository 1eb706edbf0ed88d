//! What a start reads of a log, whatever a crash, an earlier use or damage left in it.

use crate::{StoreError, SyncTimer};
use crate::{
    tables::digest::LogKey,
    wal::{
        GROWTH_BYTES, Wal, WalReadError,
        record::{HEADER_BYTES, PAGE_BYTES},
    },
};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault};
use proptest::{prelude::*, test_runner::TestCaseError};
use redb::StorageBackend as _;
use siphasher::sip128::{Hasher128 as _, SipHasher13};
use std::{hash::Hasher as _, io::Write as _, sync::Arc};

const KEY: LogKey = LogKey([7; 16]);
/// Room for a few records of some pages.
const ROOM: u64 = 16 * PAGE_BYTES;

/// First height and content of each record.
type Records = Vec<(u64, Vec<u8>)>;

fn log(disk: &Disk, key: LogKey, generation: u64) -> Wal {
    Wal::new(Arc::new(disk.log()), key, generation, SyncTimer::default()).unwrap()
}

fn append(log: &mut Wal, height: u64, content: &[u8]) -> Result<bool, StoreError> {
    let appended = log.append(ROOM, height, |out| {
        // In pieces, as a serializer does.
        for piece in content.chunks(100) {
            out.write_all(piece)
                .map_err(|error| StoreError::Inconsistent(error.to_string()))?;
        }
        Ok(())
    });
    Ok(appended?.is_some())
}

fn read(disk: &Disk, key: LogKey, generation: u64) -> Result<Records, WalReadError> {
    let mut scan = log(disk, key, generation).reader()?;
    let mut records = Records::new();
    while let Some(record) = scan.next()? {
        records.push(record);
    }
    Ok(records)
}

fn found(disk: &Disk, generation: u64) -> Records {
    read(disk, KEY, generation).unwrap()
}

/// A disk with these records of generation 1, and where they begin and end.
fn written(contents: &[Vec<u8>]) -> (Disk, Records, Vec<u64>) {
    let disk = Disk::default();
    let mut log = log(&disk, KEY, 1);
    let (mut records, mut ends) = (Records::new(), vec![0]);
    for (height, content) in (5..).zip(contents) {
        if !append(&mut log, height, content).unwrap() {
            break;
        }
        records.push((height, content.clone()));
        ends.push(log.end);
    }
    (disk, records, ends)
}

fn flip(disk: &Disk, place: u64, bit: u8) {
    let mut byte = [0];
    disk.log().read(place, &mut byte).unwrap();
    disk.log().write(place, &[byte[0] ^ (1 << bit)]).unwrap();
}

fn contents() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let content = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..600),
        1 => prop::collection::vec(any::<u8>(), 3_900..9_000),
    ];
    prop::collection::vec(content, 1..6)
}

/// The power fails before the sync of a record.
struct Torn {
    disk: Disk,
    before: Records,
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
                // Nothing was there, so the generation goes on, over what was torn.
                append(&mut log(&disk, KEY, 2), 50, b"another").unwrap();
                assert_eq!(super::tests::found(&disk, 2), [(50, b"another".to_vec())]);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_was_appended_is_read_by_the_same_directory_and_generation_only(contents in contents()) {
        let (disk, records, _) = written(&contents);
        prop_assert_eq!(found(&disk, 1), records);
        prop_assert_eq!(found(&disk, 0), Records::new());
        prop_assert_eq!(found(&disk, 2), Records::new());
        let other = read(&disk, LogKey([8; 16]), 1).unwrap();
        prop_assert_eq!(other, Records::new());
    }

    #[test]
    fn nothing_of_an_earlier_generation_is_read_again(old in contents(), new in contents(), stays in any::<bool>()) {
        let (disk, ..) = written(&old);
        let mut log = log(&disk, KEY, 1);
        log.restart(2);
        let mut records = Records::new();
        for (height, content) in (50..).zip(&new) {
            if append(&mut log, height, content).unwrap() {
                records.push((height, content.clone()));
            }
        }
        prop_assert_eq!(found(&disk, 2), records);
        if stays {
            log.restart(3);
            prop_assert_eq!(found(&disk, 3), Records::new());
        }
    }

    #[test]
    fn a_torn_record_is_the_end_and_the_rest_is_there(
        old in contents(),
        new in contents(),
        seed in any::<u64>(),
    ) {
        // Over records of an earlier generation and into fresh room.
        let (disk, ..) = written(&old);
        let mut log = log(&disk, KEY, 1);
        log.restart(2);
        let mut records = Records::new();
        for (height, content) in (50..).zip(&new) {
            let torn = Torn { disk: disk.clone(), before: records.clone(), next: (height, content.clone()) };
            disk.set_on_sync(move || torn.check(seed ^ height));
            if append(&mut log, height, content).unwrap() {
                records.push((height, content.clone()));
            }
        }
        prop_assert_eq!(found(&disk, 2), records);
    }

    #[test]
    fn damage_is_refused_unless_it_is_where_a_torn_record_may_be(
        contents in contents(),
        place in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let (disk, records, ends) = written(&contents);
        let end = *ends.last().unwrap();
        let place = place.index(usize::try_from(end).unwrap()) as u64;
        let damaged = ends.iter().filter(|end| **end <= place).count() - 1;
        flip(&disk, place, bit);
        match read(&disk, KEY, 1) {
            // Zeros that fill a page up are nothing.
            Ok(found) if found == records => {
                let used = ends[damaged] + (HEADER_BYTES + records[damaged].1.len()) as u64;
                prop_assert!(place >= used, "damage at {place} is not seen");
            }
            Ok(found) => {
                prop_assert_eq!(damaged, records.len() - 1, "damage at {} is skipped", place);
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
    fn a_log_cut_anywhere_has_the_records_before_the_cut(contents in contents(), cut in any::<prop::sample::Index>()) {
        let (disk, records, ends) = written(&contents);
        let length = disk.log().len().unwrap();
        let cut = cut.index(usize::try_from(length).unwrap()) as u64;
        disk.log().set_len(cut).unwrap();
        let used = |number: usize| ends[number] + (HEADER_BYTES + records[number].1.len()) as u64;
        let whole = (0..records.len()).take_while(|number| used(*number) <= cut).count();
        prop_assert_eq!(found(&disk, 1), &records[..whole]);
    }
}

/// Returns content without a pattern, so that no two parts of it are alike.
fn random_content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// Lengths of contents beside powers of two, up to what a block of some thousand transactions takes.
const LONG: [usize; 6] = [
    32 * 1024 - 1,
    32 * 1024,
    32 * 1024 + 1,
    64 * 1024,
    100_000,
    1024 * 1024 + 77,
];
/// Capacity for two of the longest records.
const LONG_ROOM: u64 = 4 * 1024 * 1024;

fn append_long(log: &mut Wal, height: u64, content: &[u8]) {
    let appended = log.append(LONG_ROOM, height, |out| {
        out.write_all(content)
            .map_err(|error| StoreError::Inconsistent(error.to_string()))
    });
    assert!(
        appended.unwrap().is_some(),
        "{} bytes do not fit",
        content.len()
    );
}

/// The digest is that of the whole content, whatever its length and however it is hashed.
#[test]
fn writes_the_plain_digest_of_a_record_of_any_length() {
    const CONTENT_DIGEST: std::ops::Range<usize> = 40..56;
    for (seed, bytes) in (0..).zip([0, 1, 100, PAGE_BYTES as usize].into_iter().chain(LONG)) {
        let content = random_content(seed, bytes);
        let disk = Disk::default();
        append_long(&mut log(&disk, KEY, 1), 5, &content);
        let mut header = [0; HEADER_BYTES];
        disk.log().read(0, &mut header).unwrap();
        // In pieces of which none has as many bytes as the one before.
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
fn sampled_places(bytes: usize) -> Vec<usize> {
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
    let mut places: Vec<_> = (0..bytes)
        .step_by(499)
        .chain(beside_pages)
        .chain(ends)
        .collect();
    places.retain(|place| *place < bytes);
    places.sort_unstable();
    places.dedup();
    places
}

/// A long record is no less protected than a short one: a flipped bit is seen wherever it is, also
/// where the record is the last one and a torn write could explain it.
#[test]
fn detects_a_flipped_bit_anywhere_in_a_long_record() {
    for (seed, bytes) in (0..).zip(LONG) {
        let content = random_content(seed, bytes);
        for is_last in [true, false] {
            let disk = Disk::default();
            let mut log = log(&disk, KEY, 1);
            append_long(&mut log, 5, &content);
            if !is_last {
                append_long(&mut log, 6, b"a later record");
            }
            // A record of a megabyte takes a millisecond to check.
            let every = if bytes > 200_000 { 16 } else { 1 };
            for (number, place) in sampled_places(bytes).into_iter().step_by(every).enumerate() {
                let what = format!("{bytes} bytes, last {is_last}, flipped at {place}");
                let (place, bit) = ((HEADER_BYTES + place) as u64, number as u8 % 8);
                flip(&disk, place, bit);
                match read(&disk, KEY, 1) {
                    Ok(records) => assert!(is_last && records.is_empty(), "{what}"),
                    Err(WalReadError::Damaged(reason)) => {
                        assert!(
                            !is_last && reason.contains("record 0 at byte 0"),
                            "{what}: {reason}"
                        );
                    }
                    Err(stop) => panic!("{what}: {stop:?}"),
                }
                flip(&disk, place, bit);
            }
            assert_eq!(read(&disk, KEY, 1).unwrap()[0], (5, content.clone()));
        }
    }
}

#[test]
fn every_cut_of_a_torn_record_is_seen() {
    let contents = [vec![1; 100], vec![2; 5_000]];
    let (disk, records, ends) = written(&contents);
    let image = disk.written();
    // Sector by sector, each way: what comes first may be what arrives last.
    let sectors: Vec<u64> = (ends[1]..ends[2]).step_by(512).collect();
    for missing in 1..1u32 << sectors.len().min(10) {
        let disk = Disk::new(image.clone());
        for (number, place) in sectors.iter().enumerate() {
            if missing & (1 << (number % 10)) != 0 {
                disk.log().write(*place, &[0; 512]).unwrap();
            }
        }
        assert_eq!(found(&disk, 1), &records[..1], "sectors {missing:b}");
    }
}

#[test]
fn a_record_that_does_not_fit_is_not_written() {
    let disk = Disk::default();
    let mut log = log(&disk, KEY, 1);
    let page = PAGE_BYTES as usize;
    let fits = vec![3; ROOM as usize - HEADER_BYTES];
    assert!(append(&mut log, 1, &vec![3; page]).unwrap());
    let operations = disk.operations();
    // The first took two pages.
    assert!(!append(&mut log, 2, &fits[2 * page - 1..]).unwrap());
    assert!(!append(&mut log, 2, &fits).unwrap());
    assert_eq!(disk.operations(), operations);
    assert!(
        append(&mut log, 2, &fits[2 * page..]).unwrap(),
        "it takes all that is left"
    );
    log.restart(2);
    assert!(append(&mut log, 2, &fits).unwrap(), "it fits exactly");
    assert!(!append(&mut log, 3, b"").unwrap());
    assert_eq!(found(&disk, 2), [(2, fits)]);
    assert_eq!(disk.log().len().unwrap(), ROOM);
}

#[test]
fn a_record_costs_one_write_and_one_sync_and_the_file_grows_rarely() {
    let disk = Disk::default();
    let mut log = log(&disk, KEY, 1);
    let append = |log: &mut Wal| {
        log.append(4 * GROWTH_BYTES, 1, |out| {
            out.write_all(b"a block")
                .map_err(|error| StoreError::Inconsistent(error.to_string()))
        })
    };
    let mut lengths = Vec::new();
    while append(&mut log).unwrap().is_some() {
        lengths.push(disk.log().len().unwrap());
    }
    assert_eq!(disk.operations(), 2 * lengths.len());
    lengths.dedup();
    assert_eq!(lengths, [1, 2, 3, 4].map(|number| number * GROWTH_BYTES));
    log.restart(2);
    assert!(append(&mut log).unwrap().is_some());
    log.truncate().unwrap();
    assert_eq!(
        (disk.log().len().unwrap(), found(&disk, 2)),
        (0, Records::new())
    );
}

#[test]
fn a_record_that_somebody_has_is_not_written_over() {
    let disk = Disk::default();
    let mut log = log(&disk, KEY, 1);
    let mut append = |content: &[u8]| {
        let appended = log.append(ROOM, 1, |out| {
            out.write_all(content)
                .map_err(|error| StoreError::Inconsistent(error.to_string()))
        });
        appended.unwrap().unwrap().0
    };
    let first = append(b"a block");
    let second = append(b"another");
    assert_eq!(&first[HEADER_BYTES..][..7], b"a block");
    let place = second.as_ptr();
    drop(second);
    assert_eq!(
        append(b"a third").as_ptr(),
        place,
        "its memory is used again"
    );
}

#[test]
fn a_disk_that_fails_is_told() {
    for fault in [
        Fault::Write { after: 0 },
        Fault::Sync { after: 0, keeps: 0 },
        Fault::Full { more_bytes: 0 },
    ] {
        let disk = Disk::default();
        let mut log = log(&disk, KEY, 1);
        disk.inject(fault);
        let error = append(&mut log, 1, b"a block").unwrap_err();
        assert!(error.is_failed_io(), "{fault:?}: {error}");
        assert!(error.to_string().contains("the block log"), "{error}");
    }
    let (disk, ..) = written(&[vec![1; 10]]);
    disk.inject(Fault::Reads { after: 0 });
    assert!(matches!(
        read(&disk, KEY, 1),
        Err(WalReadError::Unreadable(_))
    ));
}
