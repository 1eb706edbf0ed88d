//! Bytes of the file that are not what was written: whatever they are, a start refuses the file or every
//! answer is right.

use super::{
    OPTIONS,
    kit::genesis,
    workload::{Random, Workload},
};
use crate::{Snapshot, Store, StoreError};
use std::{fs, path::Path};

/// How many files are damaged.
const CASES: u64 = 60;
const BLOCKS: u64 = 40;

/// Makes a ledger, closes it, and gives its file.
fn ledger(workload: &mut Workload) -> Vec<u8> {
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

/// All answers about transactions and blocks.
fn answers(snapshot: &Snapshot) -> Result<String, StoreError> {
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
    answers(&reader.snapshot()?)
}

/// Writes `file` into a directory of its own and opens it.
fn open_file(file: &[u8]) -> Result<String, StoreError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.redb");
    fs::write(&path, file).unwrap();
    let opened = open(directory.path());
    if let Err(error) = &opened {
        assert!(
            error.to_string().contains(directory.path().to_str().unwrap()),
            "it names the directory: {error}"
        );
        assert!(
            fs::read(&path).unwrap() == file,
            "a refused file was changed: {error}"
        );
    }
    opened
}

#[test]
fn damage_at_any_place_is_refused_or_changes_no_answer() {
    let whole = ledger(&mut Workload::new(1));
    let right = open_file(&whole).unwrap();
    // Zeros at the end of the file are room that nothing uses.
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut refused = 0;
    for seed in 0..CASES {
        let mut random = Random::new(seed + 1);
        let mut file = whole.clone();
        for _ in 0..=random.below(8) {
            // One in four in the first page, where the roots are.
            let end = if random.below(4) == 0 { 320 } else { used as u64 };
            let place = random.below(end) as usize;
            file[place] ^= 1 << random.below(8);
        }
        match open_file(&file) {
            Ok(answers) => assert!(answers == right, "seed {seed}: a wrong answer"),
            Err(_) => refused += 1,
        }
    }
    assert!(
        refused > CASES / 4,
        "only {refused} of {CASES} files were refused"
    );
}

#[test]
fn a_file_cut_anywhere_is_refused_or_changes_no_answer() {
    let whole = ledger(&mut Workload::new(2));
    let right = open_file(&whole).unwrap();
    let mut random = Random::new(3);
    for _ in 0..CASES / 4 {
        let length = random.below(whole.len() as u64) as usize;
        if let Ok(answers) = open_file(&whole[..length]) {
            assert!(answers == right, "a wrong answer after a cut to {length}");
        }
    }
}
