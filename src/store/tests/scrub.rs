//! Scrubbing of an open store: what it finds, and that it finds nothing in an intact one.

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{
    ScrubControl, ScrubOutcome, Snapshot, Store, StoreError, StoreReader, StoreScrubber,
    StoreWriter,
};
use fastrand::Rng;
use ledger_test_support::generated::genesis;
use redb::{StorageBackend, backends::InMemoryBackend};
use std::{
    fmt, fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};

const DATABASE: &str = "ledger.redb";
const LOG: &str = "ledger.log";
/// Number of flipped bits in a test.
const FLIPS: u64 = 60;
/// Number of passes beside writes in a test.
const PASSES: u64 = 30;

/// A control that never ends a pass.
#[derive(Debug)]
struct FullSpeed;

impl ScrubControl for FullSpeed {
    fn on_read(&self, _: u64) -> bool {
        true
    }
}

/// A control that calls a function at each read.
struct OnRead<F>(F);

impl<F> fmt::Debug for OnRead<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnRead")
    }
}

impl<F: Fn() -> bool + Send + Sync + 'static> ScrubControl for OnRead<F> {
    fn on_read(&self, _: u64) -> bool {
        (self.0)()
    }
}

fn scrub(scrubber: &StoreScrubber) -> Result<ScrubOutcome, StoreError> {
    let control: Arc<dyn ScrubControl> = Arc::new(FullSpeed);
    scrubber.scrub(&control)
}

fn scrub_with(
    scrubber: &StoreScrubber,
    on_read: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<ScrubOutcome, StoreError> {
    let control: Arc<dyn ScrubControl> = Arc::new(OnRead(on_read));
    scrubber.scrub(&control)
}

/// An open store with some blocks, of which the newest are only in the log.
struct Open {
    directory: tempfile::TempDir,
    workload: Workload,
    scrubber: StoreScrubber,
    writer: StoreWriter,
    reader: StoreReader,
}

impl Open {
    fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut workload = Workload::new(seed);
        let mut store = configured(
            Store::open(directory.path(), &OPTIONS).unwrap(),
            Config::SMALL,
        );
        store.initialize(&genesis(), &workload.blocks[0]).unwrap();
        let scrubber = store.scrubber();
        let (mut writer, reader) = store.split();
        for block in workload.grow(40) {
            writer.commit(&[block]).unwrap();
        }
        Self {
            directory,
            workload,
            scrubber,
            writer,
            reader,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the answers of a copy of the directory, which is opened as after a crash.
    fn answers_of_copy(&self) -> Result<String, StoreError> {
        let copy = tempfile::tempdir().unwrap();
        for name in [DATABASE, LOG] {
            fs::copy(self.path(name), copy.path().join(name)).unwrap();
        }
        let (_writer, reader) = Store::open_checked(copy.path(), &OPTIONS, u64::MAX)?.split();
        read_all(&reader.snapshot()?)
    }
}

/// Returns all transactions and blocks as text.
fn read_all(snapshot: &Snapshot) -> Result<String, StoreError> {
    let info = *snapshot.ledger_info();
    let mut answers = format!("{info:?}");
    for version in info.oldest_version..=info.version {
        answers += &format!("{:?}", snapshot.transaction(version)?);
    }
    for height in info.oldest_block_height..=info.block_height {
        answers += &format!("{:?}", snapshot.block(height)?);
    }
    Ok(answers)
}

/// Flips a bit of a file.
fn flip(path: &Path, offset: u64, bit: u8) {
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1 << bit], offset).unwrap();
}

/// Returns the offset after the last byte that is not 0.
fn used_bytes(path: &Path) -> u64 {
    let content = fs::read(path).unwrap();
    content.iter().rposition(|byte| *byte != 0).unwrap() as u64 + 1
}

#[test]
fn finds_each_flipped_bit_unless_no_answer_changes() {
    let store = Open::new(11);
    let expected = store.answers_of_copy().unwrap();
    assert_eq!(scrub(&store.scrubber).unwrap(), ScrubOutcome::Intact);
    let mut random = Rng::with_seed(12);
    for name in [DATABASE, LOG] {
        let path = store.path(name);
        let used = used_bytes(&path);
        let mut found = 0;
        for _ in 0..FLIPS {
            let (offset, bit) = (random.u64(..used), random.u8(..8));
            flip(&path, offset, bit);
            match scrub(&store.scrubber) {
                Ok(outcome) => {
                    assert_eq!(outcome, ScrubOutcome::Intact);
                    let answers = store.answers_of_copy();
                    assert_eq!(
                        answers.as_ref().ok(),
                        Some(&expected),
                        "bit {bit} of byte {offset} of {name} was not found"
                    );
                }
                Err(error) => {
                    assert!(error.is_failed_io(), "{error}");
                    found += 1;
                }
            }
            flip(&path, offset, bit);
        }
        // Most pages of the file are free, or belong to older commits.
        assert!(
            found > FLIPS / 10,
            "{name}: only {found} of {FLIPS} were found"
        );
    }
    assert_eq!(scrub(&store.scrubber).unwrap(), ScrubOutcome::Intact);
}

/// A writer that commits and prunes beside a pass.
struct Load {
    writer: StoreWriter,
    workload: Workload,
    random: Rng,
    seed: u64,
}

impl Load {
    /// Commits a few blocks, and prunes with every third call.
    fn write(&mut self) {
        let group = self.workload.grow(1 + self.random.u64(..3));
        self.writer.commit(&group).unwrap_or_else(|error| {
            panic!("seed {}: {error}", self.seed);
        });
        if self.random.u8(..3) == 0 {
            let newest = group.last().unwrap().tip.version;
            let window = self.random.u64(..200);
            self.writer
                .prune(newest.saturating_sub(window), 1 + self.random.u64(..60))
                .unwrap();
        }
    }
}

#[test]
fn finds_nothing_in_an_intact_store_beside_commits_prunes_and_checkpoints() {
    for seed in 21..23 {
        let Open {
            directory: _directory,
            workload,
            scrubber,
            writer,
            reader,
        } = Open::new(seed);
        let first_height = reader.chain_tip().unwrap().height;
        let load = Arc::new(Mutex::new(Load {
            writer,
            workload,
            random: Rng::with_seed(seed),
            seed,
        }));
        let mut random = Rng::with_seed(seed);
        for pass in 0..PASSES {
            let load = Arc::clone(&load);
            let (reads, every) = (AtomicU64::new(0), 1 + random.u64(..20));
            let outcome = scrub_with(&scrubber, move || {
                if reads.fetch_add(1, SeqCst) % every == 0 {
                    load.lock().unwrap().write();
                }
                true
            });
            let outcome =
                outcome.unwrap_or_else(|error| panic!("seed {seed}, pass {pass}: {error}"));
            assert_eq!(outcome, ScrubOutcome::Intact, "seed {seed}, pass {pass}");
        }
        let height = reader.chain_tip().unwrap().height;
        assert!(height > first_height + 10 * PASSES, "there was little load");
    }
}

/// Flips a bit in the row of a block that no later write changes.
fn damage_row(store: &Open) {
    let path = store.path(DATABASE);
    let content = fs::read(&path).unwrap();
    let hash = store.workload.blocks[2].tip.block_hash;
    let windows = content.windows(32).enumerate();
    let copies = windows.filter(|(_, bytes)| *bytes == hash.as_bytes());
    for (offset, _) in copies {
        flip(&path, offset as u64, 3);
        if scrub(&store.scrubber).is_err() {
            return;
        }
        // A copy in a free page.
        flip(&path, offset as u64, 3);
    }
    panic!("no copy of the row is in use");
}

#[test]
fn finds_damage_beside_checkpoints() {
    let store = Open::new(31);
    damage_row(&store);
    let Open {
        directory: _directory,
        workload,
        scrubber,
        writer,
        ..
    } = store;
    let load = Mutex::new(Load {
        writer,
        workload,
        random: Rng::with_seed(31),
        seed: 31,
    });
    let reads = AtomicU64::new(0);
    let error = scrub_with(&scrubber, move || {
        if reads.fetch_add(1, SeqCst) < 3 {
            let mut load = load.lock().unwrap();
            for _ in 0..60 {
                let group = load.workload.grow(1);
                load.writer.commit(&group).unwrap();
            }
        }
        true
    })
    .expect_err("a row is damaged");
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn ends_at_the_next_read_after_a_stop() {
    let store = Open::new(41);
    for stop_at in [1, 2, 9] {
        let reads = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&reads);
        let outcome = scrub_with(&store.scrubber, move || {
            counted.fetch_add(1, SeqCst) + 1 < stop_at
        });
        assert_eq!(outcome.unwrap(), ScrubOutcome::Interrupted);
        assert_eq!(reads.load(SeqCst), stop_at);
    }
}

#[test]
fn ends_when_the_store_is_closed() {
    let store = Open::new(51);
    let writer = Mutex::new(Some(store.writer));
    let outcome = scrub_with(&store.scrubber, move || {
        drop(writer.lock().unwrap().take());
        true
    });
    assert_eq!(outcome.unwrap(), ScrubOutcome::Interrupted);
    drop(store.reader);
    assert_eq!(scrub(&store.scrubber).unwrap(), ScrubOutcome::Interrupted);
}

/// A disk that returns a wrong byte, once or permanently, or fails.
#[derive(Debug, Default)]
struct WrongDisk {
    memory: InMemoryBackend,
    faults: Arc<DiskFaults>,
}

#[derive(Debug, Default)]
struct DiskFaults {
    wrong_once: AtomicBool,
    fails: AtomicBool,
}

impl StorageBackend for WrongDisk {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.faults.fails.load(SeqCst) {
            return Err(io::Error::other("an injected fault"));
        }
        self.memory.read(offset, out)?;
        if offset > 0 && self.faults.wrong_once.swap(false, SeqCst) {
            out[100] ^= 1;
            out[9] ^= 1;
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.memory.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.memory.write(offset, data)
    }
}

fn store_on_wrong_disk() -> (Store, Arc<DiskFaults>) {
    let disk = WrongDisk::default();
    let faults = Arc::clone(&disk.faults);
    let mut store = Store::open_backend(disk, InMemoryBackend::new(), &OPTIONS).unwrap();
    let workload = Workload::new(61);
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    (store, faults)
}

#[test]
fn confirms_damage_with_a_second_walk() {
    let (store, faults) = store_on_wrong_disk();
    let scrubber = store.scrubber();
    assert_eq!(scrub(&scrubber).unwrap(), ScrubOutcome::Intact);
    faults.wrong_once.store(true, SeqCst);
    assert_eq!(scrub(&scrubber).unwrap(), ScrubOutcome::Unconfirmed);
}

#[test]
fn reports_a_disk_that_fails_to_read() {
    let (store, faults) = store_on_wrong_disk();
    let scrubber = store.scrubber();
    faults.fails.store(true, SeqCst);
    let error = scrub(&scrubber).expect_err("the disk fails");
    assert!(error.is_failed_io(), "{error}");
    assert!(error.to_string().contains("an injected fault"), "{error}");
}
