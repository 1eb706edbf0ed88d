//! Damaged bytes of the database file: opening the store fails, or every answer is correct.

use super::{OPTIONS, workload::Workload};
use crate::{Snapshot, Store, StoreError};
use fastrand::Rng;
use ledger_test_support::generated::genesis;
use std::{fs, ops::Range, path::Path};

/// Number of damaged files.
const CASES: u64 = 60;
const BLOCKS: u64 = 40;

/// Creates a ledger, closes it, and returns its file.
fn ledger_file(workload: &mut Workload) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path(), &OPTIONS).unwrap();
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, reader) = store.split();
    for block in workload.grow(BLOCKS) {
        writer.commit(&[block]).unwrap();
    }
    drop((writer, reader));
    fs::read(directory.path().join("ledger.redb")).unwrap()
}

/// Returns all transactions and blocks as text.
fn read_all(snapshot: &Snapshot) -> Result<String, StoreError> {
    let info = *snapshot.ledger_info();
    let mut answers = format!("{info:?}");
    for version in 0..=info.version {
        answers += &format!("{:?}", snapshot.transaction(version)?);
    }
    for height in 0..=info.block_height {
        answers += &format!("{:?}", snapshot.block(height)?);
    }
    Ok(answers)
}

fn open(directory: &Path) -> Result<String, StoreError> {
    let (_writer, reader) = Store::open_checked(directory, &OPTIONS, u64::MAX)?.split();
    read_all(&reader.snapshot()?)
}

/// Opens a directory with `file`, and returns its answers.
fn open_file(file: &[u8]) -> Result<String, StoreError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.redb");
    fs::write(&path, file).unwrap();
    let opened = open(directory.path());
    if let Err(error) = &opened {
        assert!(
            error
                .to_string()
                .contains(directory.path().to_str().unwrap()),
            "does not name the directory: {error}"
        );
        assert!(
            fs::read(&path).unwrap() == file,
            "a rejected file was changed: {error}"
        );
    }
    opened
}

#[test]
fn rejects_damaged_bytes_unless_no_answer_changes() {
    let intact = ledger_file(&mut Workload::new(1));
    let expected = open_file(&intact).unwrap();
    // Zeros at the end of the file are unused space.
    let used = intact.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut rejected = 0;
    for seed in 0..CASES {
        let mut random = Rng::with_seed(seed + 1);
        let mut file = intact.clone();
        for _ in 0..=random.u8(..8) {
            // A quarter of the damage is in the first page, which has the roots.
            let end = if random.u8(..4) == 0 { 320 } else { used };
            file[random.usize(..end)] ^= 1 << random.u8(..8);
        }
        match open_file(&file) {
            Ok(answers) => assert!(answers == expected, "seed {seed}: a wrong answer"),
            Err(_) => rejected += 1,
        }
    }
    assert!(
        rejected > CASES / 4,
        "only {rejected} of {CASES} files were rejected"
    );
}

#[test]
fn rejects_a_truncated_file_unless_no_answer_changes() {
    let intact = ledger_file(&mut Workload::new(2));
    let expected = open_file(&intact).unwrap();
    let mut random = Rng::with_seed(3);
    for _ in 0..CASES / 4 {
        let length = random.usize(..intact.len());
        if let Ok(answers) = open_file(&intact[..length]) {
            assert!(
                answers == expected,
                "a wrong answer after a cut to {length}"
            );
        }
    }
}

/// Offset of redb's flags in the file, in bytes.
const FLAGS: usize = 9;
/// Flag of redb if the second of the two commit slots is the newest.
const SECOND_SLOT_IS_NEWEST: u8 = 1;
/// Flag of redb for a file that was not closed.
const NEEDS_REPAIR: u8 = 2;
/// Flag of redb if the newest commit was synced before the flags named it, so that no repair
/// reverts it.
const TWO_PHASE_COMMIT: u8 = 4;
/// Offsets of the two commit slots in the file, in bytes.
const SLOTS: [usize; 2] = [64, 192];
/// Bytes of a slot that indicate whether it has a root of the tables and of the system's tables.
const HAS_ROOTS: Range<usize> = 1..3;
/// Bytes of a slot with the page number of the root.
const ROOT_PAGE: Range<usize> = 8..16;
/// Bits of a page number that count pages within the first region.
const PAGE_INDEX: u64 = (1 << 20) - 1;
const PAGE_BYTES: usize = 4096;
/// Bytes with the number of pages between the page of the slots and the first page that is counted.
const REGION_HEADER_PAGES: Range<usize> = 16..20;

/// redb up to 4.5 repaired such a file by a revert to a commit slot that fails its checksum. In
/// this test that slot has no tables, so the ledger was opened as an empty one.
#[test]
fn rejects_a_file_with_damage_in_its_newest_two_commits() {
    let mut file = ledger_file(&mut Workload::new(4));
    let newest = usize::from(file[FLAGS] & SECOND_SLOT_IS_NEWEST);
    let [newest, previous] = [SLOTS[newest], SLOTS[1 - newest]];
    let number = |bytes: Range<usize>| {
        let bytes = file[bytes].iter().rev();
        bytes.fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let root = number(newest + ROOT_PAGE.start..newest + ROOT_PAGE.end) & PAGE_INDEX;
    let root = (1 + number(REGION_HEADER_PAGES) + root) as usize * PAGE_BYTES;
    file[FLAGS] = (file[FLAGS] | NEEDS_REPAIR) & !TWO_PHASE_COMMIT;
    file[root..root + PAGE_BYTES].fill(0xFF);
    file[previous + HAS_ROOTS.start..previous + HAS_ROOTS.end].fill(0);
    for check_bytes_max in [u64::MAX, 0] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("ledger.redb"), &file).unwrap();
        let opened = Store::open_checked(directory.path(), &OPTIONS, check_bytes_max);
        let error = opened
            .map(|store| store.height())
            .expect_err("the file is damaged");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        let message = format!("{} is damaged: ", directory.path().display());
        assert!(error.to_string().contains(&message), "{error}");
    }
}
