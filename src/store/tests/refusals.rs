//! Directories, blocks, and versions that the store rejects. Messages name the directory.

use super::{OPTIONS, workload::Workload};
use crate::{
    PruneBound, Snapshot, Store, StoreError,
    tables::schema::{FORMAT, META, META_FORMAT},
};
use ledger_test_support::generated::{genesis, resource_key, stream};
use ledger_types::{FrameworkUpgrade, StateError, StateView as _};
use redb::Database;
use std::{
    fs,
    path::Path,
    sync::{Arc, Barrier},
    thread,
};

fn open_error(directory: &Path) -> StoreError {
    let error = Store::open(directory, &OPTIONS).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&directory.display().to_string()), "{text}");
    error
}

fn initialized(directory: &Path) -> (Store, Workload) {
    let workload = Workload::new(1);
    let mut store = Store::open(directory, &OPTIONS).unwrap();
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    (store, workload)
}

#[test]
fn rejects_a_directory_with_other_files() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.txt"), "years of work").unwrap();
    let error = open_error(directory.path());
    assert!(
        matches!(&error, StoreError::Foreign { file, .. } if file == "thesis.txt"),
        "{error}"
    );
    let files = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 1, "a file was created in a foreign directory");
}

#[test]
fn rejects_a_database_of_another_program() {
    const OTHER: redb::TableDefinition<u64, u64> = redb::TableDefinition::new("recipes");
    let directory = tempfile::tempdir().unwrap();
    let database = Database::create(directory.path().join("ledger.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(OTHER).unwrap().insert(1, 2).unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert!(matches!(
        open_error(directory.path()),
        StoreError::Foreign { .. }
    ));
}

/// Returns the error of opening a directory of another format, and checks that its file is
/// unchanged.
fn format_error(format: u64) -> StoreError {
    let directory = tempfile::tempdir().unwrap();
    drop(initialized(directory.path()));
    drop(with_format(directory.path(), format));
    let file = directory.path().join("ledger.redb");
    let before = fs::read(&file).unwrap();
    let error = open_error(directory.path());
    assert!(
        fs::read(&file).unwrap() == before,
        "the rejected file was changed"
    );
    error
}

/// Changes the format of the database in `directory`, and returns the open database.
fn with_format(directory: &Path, format: u64) -> Database {
    let database = Database::create(directory.join("ledger.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(META)
        .unwrap()
        .insert(META_FORMAT, format.to_le_bytes().as_slice())
        .unwrap();
    transaction.commit().unwrap();
    database
}

#[test]
fn rejects_another_format_in_a_file_that_was_not_closed() {
    let directory = tempfile::tempdir().unwrap();
    drop(initialized(directory.path()));
    let database = with_format(directory.path(), FORMAT + 1);
    let killed = tempfile::tempdir().unwrap();
    let (from, to) = [&directory, &killed]
        .map(|directory| directory.path().join("ledger.redb"))
        .into();
    fs::copy(from, to).unwrap();
    drop(database);
    assert!(matches!(
        open_error(killed.path()),
        StoreError::NewerFormat { .. }
    ));
}

#[test]
fn rejects_other_formats() {
    let newer = format_error(FORMAT + 1);
    assert!(
        matches!(newer, StoreError::NewerFormat { found, known, .. } if found == FORMAT + 1 && known == FORMAT)
    );
    let older = format_error(FORMAT - 1);
    let StoreError::OlderFormat { found, known, .. } = older else {
        panic!("{older}");
    };
    assert_eq!((found, known), (FORMAT - 1, FORMAT));
    let text = older.to_string();
    assert!(
        text.contains("the program that wrote it, or start with an empty directory"),
        "{text}"
    );
    let unknown = format_error(0);
    assert!(matches!(unknown, StoreError::Damaged { .. }), "{unknown}");
}

#[test]
fn a_directory_is_in_use_until_its_writer_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let (store, workload) = initialized(directory.path());
    assert!(matches!(
        open_error(directory.path()),
        StoreError::InUse { .. }
    ));
    let (writer, reader) = store.split();
    assert!(matches!(
        open_error(directory.path()),
        StoreError::InUse { .. }
    ));
    let snapshot = reader.snapshot().unwrap();
    workload.check(&snapshot, &workload.info(0, 0)).unwrap();
    // Readers need the database, which the writer owns.
    drop(writer);
    let closed = workload.check(&snapshot, &workload.info(0, 0)).unwrap_err();
    assert!(
        format!("{closed:?}").contains("DatabaseClosed"),
        "{closed:?}"
    );
    Store::open(directory.path(), &OPTIONS).unwrap();
}

/// Number of threads that open the same absent directory concurrently.
const THREADS: usize = 4;
/// Number of attempts. In most of them, two threads are between the check and the creation.
const ROUNDS: usize = 40;

#[test]
fn one_of_several_concurrent_openers_creates_a_directory() {
    for round in 0..ROUNDS {
        let above = tempfile::tempdir().unwrap();
        let directory = above.path().join("new/data");
        let barrier = Barrier::new(THREADS);
        let opened: Vec<_> = thread::scope(|scope| {
            let open = || {
                barrier.wait();
                let opened = Store::open(&directory, &OPTIONS);
                // Drops no store before all threads have tried.
                barrier.wait();
                opened.map(|mut store| {
                    let block = &Workload::new(1).blocks[0];
                    store.initialize(&genesis(), block).unwrap();
                })
            };
            let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(open)).collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap())
                .collect()
        });
        let errors: Vec<_> = opened.into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), THREADS - 1, "round {round}: {errors:?}");
        for error in errors {
            assert!(
                matches!(error, StoreError::InUse { .. }),
                "round {round}: {error}"
            );
        }
        let store = Store::open(&directory, &OPTIONS).unwrap();
        assert_eq!(
            store.genesis().unwrap(),
            Some(genesis()),
            "round {round}: the genesis is lost"
        );
    }
}

#[test]
fn rejects_a_directory_in_which_another_process_creates_a_ledger() {
    let directory = tempfile::tempdir().unwrap();
    let file = fs::File::create(directory.path().join("ledger.lock")).unwrap();
    file.try_lock().unwrap();
    fs::write(directory.path().join("ledger.redb.new"), "incomplete").unwrap();
    assert!(matches!(
        open_error(directory.path()),
        StoreError::InUse { .. }
    ));
    let incomplete = fs::read(directory.path().join("ledger.redb.new")).unwrap();
    assert_eq!(incomplete, b"incomplete");
    assert!(!directory.path().join("ledger.redb").exists());
}

#[test]
fn rejects_a_file_that_is_no_database() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("ledger.redb"), vec![b'x'; 20_000]).unwrap();
    let error = open_error(directory.path());
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn rejects_a_truncated_file() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut workload) = initialized(directory.path());
    let (mut writer, reader) = store.split();
    writer.commit(&workload.grow(200)).unwrap();
    drop((writer, reader));
    let path = directory.path().join("ledger.redb");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 3).unwrap();
    drop(file);
    let error = open_error(directory.path());
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn replaces_the_file_of_an_interrupted_start() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("ledger.redb.new"), vec![0; 5_000]).unwrap();
    let (store, _) = initialized(directory.path());
    assert_eq!(store.genesis().unwrap(), Some(genesis()));
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["ledger.lock", "ledger.log", "ledger.redb"]);
}

#[test]
fn rejects_a_path_that_is_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "").unwrap();
    assert!(matches!(open_error(&path), StoreError::Directory { .. }));
}

#[test]
fn rejects_blocks_that_do_not_follow() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut workload) = initialized(directory.path());
    let (mut writer, reader) = store.split();
    let blocks = workload.grow(4);
    let is_gap = |result| assert!(matches!(result, Err(StoreError::Gap(_))), "{result:?}");
    is_gap(writer.commit(&blocks[1..]));
    is_gap(writer.commit(&[blocks[0].clone(), blocks[2].clone()]));
    is_gap(writer.commit(&[blocks[0].clone(), blocks[0].clone()]));
    let mut other_parent = (*blocks[0]).clone();
    other_parent.header.parent_hash = ledger_crypto::HashValue::sha3_of(&[b"another"]);
    is_gap(writer.commit(&[Arc::new(other_parent)]));
    let mut other_version = (*blocks[0]).clone();
    other_version.first_version += 1;
    other_version.tip.version += 1;
    is_gap(writer.commit(&[Arc::new(other_version)]));
    for change in [
        (|block| block.transactions.clear()) as fn(&mut ledger_types::ExecutedBlock),
        |block| block.tip.version += 1,
        |block| block.tip.height += 1,
        |block| block.transactions[0].hash = ledger_crypto::HashValue::ZERO,
    ] {
        let mut block = (*blocks[0]).clone();
        change(&mut block);
        let result = writer.commit(&[Arc::new(block)]);
        assert!(
            matches!(result, Err(StoreError::Inconsistent(_))),
            "{result:?}"
        );
    }
    // A rejection is not a failed write: blocks that follow are accepted.
    writer.commit(&blocks).unwrap();
    workload
        .check(&reader.snapshot().unwrap(), &workload.info(4, 0))
        .unwrap();
}

#[test]
fn extends_the_genesis_by_upgrades_above_the_newest_block() {
    let with = |upgrades: &[(u64, u64)]| {
        let mut genesis = genesis();
        let upgrade = |&(version, height)| FrameworkUpgrade { version, height };
        genesis.parameters.framework_upgrades = upgrades.iter().map(upgrade).collect();
        genesis
    };
    let directory = tempfile::tempdir().unwrap();
    let mut empty = Store::open(&directory.path().join("empty"), &OPTIONS).unwrap();
    assert!(matches!(
        empty.extend_genesis(&with(&[(2, 9)])),
        Err(StoreError::Empty)
    ));
    let path = directory.path().join("grown");
    let (store, mut workload) = initialized(&path);
    let (mut writer, _) = store.split();
    writer.commit(&workload.grow(3)).unwrap();
    drop(writer);
    let mut store = Store::open(&path, &OPTIONS).unwrap();
    assert_eq!(store.height(), Some(3));
    store.extend_genesis(&with(&[(2, 4)])).unwrap();
    let mut other_chain = with(&[(2, 4), (3, 9)]);
    other_chain.chain_id += 1;
    for other in [
        genesis(),
        with(&[(1, 3), (2, 4)]),
        with(&[(2, 5)]),
        other_chain,
    ] {
        let error = store.extend_genesis(&other).unwrap_err();
        assert!(matches!(error, StoreError::OtherGenesis(_)), "{error:?}");
    }
    drop(store);
    let store = Store::open(&path, &OPTIONS).unwrap();
    assert_eq!(store.genesis().unwrap(), Some(with(&[(2, 4)])));
    // Later blocks can be committed.
    let (mut writer, _) = store.split();
    writer.commit(&workload.grow(1)).unwrap();
}

#[test]
fn rejects_a_second_genesis_and_blocks_without_genesis() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, workload) = initialized(directory.path());
    let second = store.initialize(&genesis(), &workload.blocks[0]);
    assert!(matches!(second, Err(StoreError::NotEmpty)));
    drop(store);
    let empty = tempfile::tempdir().unwrap();
    let mut store = Store::open(&empty.path().join("made"), &OPTIONS).unwrap();
    let mut other = workload.clone();
    let block = other.grow(1).remove(0);
    assert!(matches!(
        store.initialize(&genesis(), &block),
        Err(StoreError::Gap(_))
    ));
    let (mut writer, reader) = store.split();
    assert!(matches!(reader.snapshot(), Err(StoreError::Empty)));
    assert!(matches!(writer.commit(&[block]), Err(StoreError::Empty)));
}

#[test]
fn rejects_a_snapshot_outside_the_window() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut workload) = initialized(directory.path());
    let (mut writer, reader) = store.split();
    writer.commit(&workload.grow(9)).unwrap();
    let mut ahead = workload.info(9, 0);
    ahead.version += 1;
    assert!(matches!(
        reader.snapshot_at(&ahead),
        Err(StoreError::VersionOutOfRange { .. })
    ));
    writer
        .prune(workload.blocks[5].first_version, 1_000)
        .unwrap();
    let pruned = workload.info(4, 0);
    assert!(matches!(
        reader.snapshot_at(&pruned),
        Err(StoreError::VersionOutOfRange { .. })
    ));
    assert!(reader.snapshot_at(&workload.info(5, 0)).is_ok());
}

#[test]
fn reads_of_the_state_return_the_error_of_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _) = initialized(directory.path());
    let (_writer, reader) = store.split();
    let snapshot = reader.snapshot().unwrap();
    let version = snapshot.ledger_info().version;
    let key = resource_key(1, 0);
    let above = snapshot.read_state(version + 1, |state| {
        assert!(state.get(&key).is_err());
        Ok(())
    });
    assert!(
        matches!(above, Err(StoreError::VersionOutOfRange { requested, .. }) if requested == version + 1),
        "{above:?}"
    );
    let read = snapshot.read_state(version, |state| state.get(&key));
    assert_eq!(read.unwrap(), snapshot.state_value(&key, version).unwrap());
    let damaged = snapshot.read_state(version, |_| {
        Err::<(), _>(StateError("does not decode".to_owned()))
    });
    assert!(
        matches!(&damaged, Err(StoreError::Inconsistent(reason)) if reason == "does not decode"),
        "{damaged:?}"
    );
}

/// The callback precedes the new view, so that no response has an older lower end than an earlier
/// one.
#[test]
fn reports_pruned_versions_before_snapshots_exclude_them() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut workload) = initialized(directory.path());
    let (mut writer, reader) = store.split();
    writer.commit(&workload.grow(9)).unwrap();
    let bound = workload.blocks[5].first_version;
    let oldest = |snapshot: Snapshot| snapshot.ledger_info().oldest_version;
    let mut reported = None;
    let pruned = writer
        .prune_with(PruneBound::below(bound), 1_000, |pruned| {
            assert_eq!(oldest(reader.snapshot().unwrap()), 0);
            let mut head = workload.info(9, 0);
            head.oldest_version = pruned.oldest_version;
            let ahead = reader.snapshot_at(&head).unwrap();
            assert!(ahead.transaction(bound - 1).unwrap().is_none());
            assert_eq!(oldest(ahead), bound);
            reported = Some(*pruned);
        })
        .unwrap();
    assert_eq!(reported, Some(pruned));
    assert_eq!(oldest(reader.snapshot().unwrap()), bound);
}

/// The first event of a stream is the same before and after snapshots exclude the pruned events.
#[test]
fn first_event_is_the_same_before_and_after_a_pruned_view() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut workload) = initialized(directory.path());
    let (mut writer, reader) = store.split();
    let streams: Vec<_> = (0..5)
        .flat_map(|account| [stream(account, 0), stream(account, 1)])
        .collect();
    let starts = |snapshot: Snapshot| -> Vec<_> {
        let starts = streams
            .iter()
            .map(|stream| snapshot.first_event(stream).unwrap());
        starts.collect()
    };
    for _ in 0..30 {
        writer.commit(&workload.grow(3)).unwrap();
        let newest = workload.blocks.last().unwrap();
        let head = workload.info(newest.height(), newest.height());
        let mut ahead = None;
        writer
            .prune_with(PruneBound::below(newest.first_version), u64::MAX, |_| {
                ahead = Some(starts(reader.snapshot_at(&head).unwrap()));
            })
            .unwrap();
        assert_eq!(ahead, Some(starts(reader.snapshot_at(&head).unwrap())));
    }
}
