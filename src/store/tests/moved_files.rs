//! Files of a store that are removed, renamed or replaced while it is open: nothing is acknowledged
//! after it, and what was acknowledged before is in the removed files.

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{PathChange, PruneBound, Store, StoreError, StoreReader, StoreWriter, wal::WalConfig};
use ledger_test_support::generated::genesis;
use std::{fs, path::Path};
use tempfile::TempDir;

/// Height of the newest block before the files are moved.
const HEIGHT: u64 = 8;
const NAMES: [&str; 2] = ["ledger.redb", "ledger.log"];
/// A log for all groups of the tests.
const LARGE: WalConfig = WalConfig {
    bytes_max: 1024 * 1024,
    ..WalConfig::SMALL
};

/// An open store, with links to its files in another directory.
struct LinkedStore {
    workload: Workload,
    directory: TempDir,
    links: TempDir,
    writer: StoreWriter,
    reader: StoreReader,
}

impl LinkedStore {
    fn new() -> Self {
        let (directory, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut workload = Workload::new(31);
        let data = directory.path().join("data");
        let mut store = configured(
            Store::open(&data, &OPTIONS).unwrap(),
            Config::with_wal(LARGE),
        );
        store.initialize(&genesis(), &workload.blocks[0]).unwrap();
        let (mut writer, reader) = store.split();
        // Before the commits, so that the writer has seen this change of the files.
        for name in NAMES {
            fs::hard_link(data.join(name), links.path().join(name)).unwrap();
        }
        for block in workload.grow(HEIGHT) {
            writer.commit(&[block]).unwrap();
        }
        Self {
            workload,
            directory,
            links,
            writer,
            reader,
        }
    }

    /// Moves `target`, one of the files or the directory if the name is empty.
    fn change(&self, target: &str, change: fn(&Path)) {
        let data = self.directory.path().join("data");
        change(&match target {
            "" => data,
            name => data.join(name),
        });
    }

    /// Checks that the store is poisoned and serves all blocks up to [`HEIGHT`], and that the
    /// removed files have these blocks.
    fn check_end(self, case: &str) {
        let Self {
            mut workload,
            links,
            mut writer,
            reader,
            directory: _directory,
        } = self;
        let info = workload.info(HEIGHT, 0);
        let later = writer.commit(&workload.grow(1)).expect_err(case);
        assert!(matches!(later, StoreError::Poisoned(_)), "{case}: {later}");
        workload.check(&reader.snapshot().unwrap(), &info).unwrap();
        drop((writer, reader));
        let store = Store::open(links.path(), &OPTIONS).unwrap();
        let height = store.height().unwrap();
        // The group that was not acknowledged may be there.
        assert!((HEIGHT..=HEIGHT + 1).contains(&height), "{case}: {height}");
        let (_writer, reader) = store.split();
        let oldest = reader.snapshot().unwrap().ledger_info().oldest_block_height;
        workload
            .check(&reader.snapshot().unwrap(), &workload.info(height, oldest))
            .unwrap();
    }
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => fs::remove_dir_all(path).unwrap(),
        false => fs::remove_file(path).unwrap(),
    }
}

fn rename(path: &Path) {
    fs::rename(path, path.with_extension("old")).unwrap();
}

/// Replaces a file or a directory by a copy of it.
fn replace(path: &Path) {
    let copied = path.with_extension("copy");
    let files = match path.is_dir() {
        true => {
            fs::create_dir(&copied).unwrap();
            NAMES.to_vec()
        }
        false => vec![""],
    };
    for name in files {
        let file = |of: &Path| match name {
            "" => of.to_owned(),
            name => of.join(name),
        };
        fs::copy(file(path), file(&copied)).unwrap();
    }
    rename(path);
    fs::rename(copied, path).unwrap();
}

/// Calls `test` with the name of each case and an open store, one of whose files was moved.
fn for_each_change(test: impl Fn(LinkedStore, &str)) {
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("removed", remove),
        ("renamed", rename),
        ("replaced", replace),
    ];
    for target in ["", "ledger.redb", "ledger.log"] {
        for (name, change) in changes {
            let store = LinkedStore::new();
            store.change(target, change);
            test(store, &format!("{name}: {target:?}"));
        }
    }
}

/// Checks that an error names the path of a file of the store.
fn check_moved(error: &StoreError, case: &str) {
    let StoreError::FileMoved { path, change } = error else {
        panic!("{case}: {error}");
    };
    assert!(error.is_failed_io(), "{case}");
    assert!(
        NAMES.iter().any(|name| path.ends_with(name)),
        "{case}: {error}"
    );
    let is_replaced = matches!(change, PathChange::Replaced);
    assert_eq!(is_replaced, case.starts_with("replaced"), "{case}: {error}");
}

#[test]
fn acknowledges_no_group_after_a_file_was_moved() {
    // A record of the log, or a checkpoint.
    for wal_bytes_max in [LARGE.bytes_max, 0] {
        for_each_change(|mut store, case| {
            store.writer.wal_config.bytes_max = wal_bytes_max;
            let next = store.workload.grow(1);
            let mut is_acknowledged = false;
            let appended = store.writer.append(&next, |_| is_acknowledged = true);
            check_moved(&appended.expect_err(case), case);
            assert!(!is_acknowledged, "{case}");
            store.check_end(case);
        });
    }
}

#[test]
fn acknowledges_no_step_of_pruning_after_a_file_was_moved() {
    for wal_bytes_max in [LARGE.bytes_max, 0] {
        for_each_change(|mut store, case| {
            store.writer.wal_config.bytes_max = wal_bytes_max;
            let below = store.workload.blocks[3].first_version;
            let mut is_acknowledged = false;
            let on_durable = |_: &_| is_acknowledged = true;
            let pruned = store
                .writer
                .prune_with(PruneBound::below(below), u64::MAX, on_durable);
            check_moved(&pruned.expect_err(case), case);
            assert!(!is_acknowledged, "{case}");
            store.check_end(case);
        });
    }
}

#[test]
fn leaves_the_log_as_it_is_if_a_file_was_moved_before_the_close() {
    for_each_change(|store, case| {
        let LinkedStore {
            writer,
            reader,
            links,
            ..
        } = store;
        drop((writer, reader));
        let log = fs::metadata(links.path().join("ledger.log")).unwrap();
        assert!(log.len() > 0, "{case}: the log was truncated");
        let store = Store::open(links.path(), &OPTIONS).unwrap();
        assert_eq!(store.height(), Some(HEIGHT), "{case}");
        let replay = store.log_replay().expect(case);
        assert_eq!(replay.records, HEIGHT, "{case}");
    });
}

#[test]
fn reports_moved_files_to_any_thread() {
    for_each_change(|store, case| {
        let files = store.writer.files();
        let checked = std::thread::spawn(move || files.check()).join().unwrap();
        check_moved(&checked.expect_err(case), case);
    });
}
