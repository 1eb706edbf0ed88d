//! Single-bit changes in a large directory, and the cost of scrubbing.
//!
//! `cargo bench -p ledger-store --bench scrub -- [flips] [transfers] [seed]`
//!
//! 1. Makes a directory of `transfers` made-up transfers with a pruned window, whose newest blocks
//!    are only in the log, and leaves the store open.
//! 2. Flips single bits of its files, one at a time, and scrubs at full speed. A bit that is not
//!    found must not change the content: a copy of the directory, recovered as after a crash, has
//!    the same rows in all tables. A tenth of the flips is in the log.
//! 3. Commits beside passes at a fifth of the time, and without them, in turns.
//!
//! Fails if a bit is missed.

#![allow(clippy::print_stdout)]

use fastrand::Rng;
use ledger_store::{
    FileSize, ScrubControl, ScrubOutcome, Store, StoreOptions, StoreReader, StoreScrubber,
    StoreWriter,
};
use ledger_test_support::generated::{BlockGenerator, genesis, transfer};
use redb::{
    Builder, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageBackend, TableDefinition, TableHandle,
};
use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 64 * 1024 * 1024,
};
const ACCOUNTS: u64 = 20_000;
const PER_BLOCK: u64 = 200;
/// Readable versions, of which the older ones are pruned.
const WINDOW_PERCENT: u64 = 90;
const PAGE: usize = 4096;
/// Duration of one turn of the comparison of throughputs.
const TURN: Duration = Duration::from_secs(10);
/// Number of turns with and without scrubbing.
const TURNS: usize = 3;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let flips = numbers.next().unwrap_or(200);
    let transfers = numbers.next().unwrap_or(1_000_000);
    let seed = numbers.next().unwrap_or(39);
    println!("seed {seed}");
    let directory = tempfile::tempdir()?;
    let mut ledger = Ledger::make(&directory.path().join("ledger"), transfers, seed)?;
    measure_pass(&ledger)?;
    flip_bits(&ledger, flips, seed)?;
    compare_throughput(&mut ledger)
}

/// An open store in a directory.
struct Ledger {
    path: PathBuf,
    generator: BlockGenerator,
    random: Rng,
    scrubber: StoreScrubber,
    writer: StoreWriter,
    reader: StoreReader,
}

impl Ledger {
    fn make(path: &Path, transfers: u64, seed: u64) -> Result<Self, Failure> {
        let mut generator = BlockGenerator::new();
        let mut store = Store::open(path, &OPTIONS)?;
        store.initialize(&genesis(), &generator.first_block(BTreeMap::new()))?;
        let scrubber = store.scrubber();
        let (writer, reader) = store.split();
        let mut ledger = Self {
            path: path.to_owned(),
            generator,
            random: Rng::with_seed(seed),
            scrubber,
            writer,
            reader,
        };
        let window = transfers * WINDOW_PERCENT / 100;
        for _ in 0..transfers / PER_BLOCK {
            ledger.commit()?;
            let newest = ledger.reader.snapshot()?.ledger_info().version;
            if newest > window {
                ledger.writer.prune(newest - window, PER_BLOCK * 2)?;
            }
        }
        let size = FileSize::of(path)?;
        println!(
            "{transfers} transfers: a database of {} bytes, {} on the disk, and a log of {} bytes",
            size.file_bytes,
            size.disk_bytes,
            fs::metadata(path.join("ledger.log"))?.len()
        );
        Ok(ledger)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        let specs = (0..PER_BLOCK).map(|_| {
            let sender = self.random.u64(..ACCOUNTS);
            let recipient = self.random.u64(..ACCOUNTS);
            transfer(sender, recipient, &mut self.random)
        });
        let block = self.generator.block(specs.collect());
        self.writer.commit(&[Arc::new(block)])?;
        Ok(())
    }
}

/// A control that counts the bytes, and sleeps so that a share of the time is work.
#[derive(Debug)]
struct Pace {
    bytes: AtomicU64,
    /// Sleep per unit of work; 0 for full speed.
    sleep_per_work: u32,
    begun: Mutex<Instant>,
    is_stopped: AtomicBool,
}

impl Pace {
    fn new(sleep_per_work: u32) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            sleep_per_work,
            begun: Mutex::new(Instant::now()),
            is_stopped: AtomicBool::new(false),
        })
    }
}

impl ScrubControl for Pace {
    fn on_read(&self, bytes: u64) -> bool {
        self.bytes.fetch_add(bytes, Relaxed);
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let work = begun.elapsed();
        if self.sleep_per_work > 0 && work > Duration::from_millis(5) {
            thread::sleep(work * self.sleep_per_work);
            *begun = Instant::now();
        }
        !self.is_stopped.load(Relaxed)
    }
}

fn scrub(ledger: &Ledger, pace: &Arc<Pace>) -> Result<ScrubOutcome, ledger_store::StoreError> {
    let control: Arc<dyn ScrubControl> = Arc::clone(pace) as _;
    ledger.scrubber.scrub(&control)
}

/// Measures a pass at full speed.
fn measure_pass(ledger: &Ledger) -> Result<(), Failure> {
    let (pace, memory, started) = (Pace::new(0), resident_bytes()?, Instant::now());
    let outcome = scrub(ledger, &pace)?;
    println!(
        "a pass at full speed: {outcome:?}, {} bytes in {:.2?}, {} kB more memory",
        pace.bytes.load(Relaxed),
        started.elapsed(),
        resident_bytes()?.saturating_sub(memory) / 1024
    );
    Ok(())
}

fn resident_bytes() -> Result<u64, Failure> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split(' ').nth(1).unwrap_or_default().parse()?;
    Ok(pages * PAGE as u64)
}

/// Flips bits, scrubs after each, and compares the content if the bit is not found.
fn flip_bits(ledger: &Ledger, flips: u64, seed: u64) -> Result<(), Failure> {
    let mut random = Rng::with_seed(seed);
    let started = Instant::now();
    let expected = content(&ledger.path)?;
    println!(
        "all rows read after a recovery in {:.2?}: {:?}",
        started.elapsed(),
        expected.pages
    );
    let (mut found, mut without_data, mut missed) = ([0; 2], [0; 2], 0);
    let started = Instant::now();
    for number in 0..flips {
        let kind = usize::from(number % 10 == 9);
        let path = ledger.path.join(["ledger.redb", "ledger.log"][kind]);
        let (offset, bit) = (random_used(&path, &mut random)?, random.u8(..8));
        flip(&path, offset, bit)?;
        match scrub(ledger, &Pace::new(0)) {
            Err(_) => found[kind] += 1,
            Ok(outcome) => {
                let content = content(&ledger.path);
                if content.as_ref().ok() == Some(&expected) && outcome == ScrubOutcome::Intact {
                    without_data[kind] += 1;
                } else {
                    missed += 1;
                    println!(
                        "missed: bit {bit} of byte {offset} of {}: {outcome:?}, {content:?}",
                        path.display()
                    );
                }
            }
        }
        flip(&path, offset, bit)?;
    }
    println!(
        "{flips} flips in {:.0?}: database: {} found, {} without data; log: {} found, {} without data; {missed} missed",
        started.elapsed(),
        found[0],
        without_data[0],
        found[1],
        without_data[1]
    );
    let intact = scrub(ledger, &Pace::new(0))?;
    if missed > 0 || intact != ScrubOutcome::Intact {
        return Err(format!("{missed} missed, at the end {intact:?}").into());
    }
    Ok(())
}

/// Returns a random offset in a page that has content.
fn random_used(path: &Path, random: &mut Rng) -> Result<u64, Failure> {
    let file = fs::File::open(path)?;
    let pages = file.metadata()?.len() / PAGE as u64;
    loop {
        let mut page = [0; PAGE];
        let begin = random.u64(..pages) * PAGE as u64;
        file.read_exact_at(&mut page, begin)?;
        if page.iter().any(|byte| *byte != 0) {
            return Ok(begin + random.u64(..PAGE as u64));
        }
    }
}

fn flip(path: &Path, offset: u64, bit: u8) -> io::Result<()> {
    let file = fs::File::options().read(true).write(true).open(path)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset)?;
    file.write_all_at(&[byte[0] ^ 1 << bit], offset)
}

/// Returns a digest of all rows after a recovery, as after a crash, without changing the files.
fn content(path: &Path) -> Result<Content, Failure> {
    let database = Arc::new(Overlay::new(&path.join("ledger.redb"))?);
    let log = Overlay::new(&path.join("ledger.log"))?;
    let store = Store::open_backend(SharedOverlay(Arc::clone(&database)), log, &OPTIONS)?;
    // Closes the log with a checkpoint.
    drop(store);
    let database = Builder::new().create_with_backend(SharedOverlay(database))?;
    let transaction = database.begin_read()?;
    let mut digest = DefaultHasher::new();
    let meta = TableDefinition::<&str, &[u8]>::new("meta");
    let numbers = ["blocks", "transactions"].map(TableDefinition::<u64, &[u8]>::new);
    let positions = ["events", "writes"].map(TableDefinition::<(u64, u32), &[u8]>::new);
    let runs = TableDefinition::<&[u8], &[u8]>::new("runs");
    let mut pages = vec![add_rows(&transaction, meta, &mut digest)?];
    for table in numbers {
        pages.push(add_rows(&transaction, table, &mut digest)?);
    }
    for table in positions {
        pages.push(add_rows(&transaction, table, &mut digest)?);
    }
    pages.push(add_rows(&transaction, runs, &mut digest)?);
    Ok(Content {
        digest: digest.finish(),
        pages,
    })
}

/// The content of a directory.
#[derive(PartialEq, Eq, Debug)]
struct Content {
    /// Digest of all keys and values.
    digest: u64,
    /// Number of pages of each table.
    pages: Vec<TablePages>,
}

/// Number of pages of a table.
#[derive(PartialEq, Eq, Debug)]
struct TablePages {
    name: String,
    leaves: u64,
    branches: u64,
}

/// Adds the rows of a table to a digest, and returns the number of its pages.
fn add_rows<K: redb::Key + 'static>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, K, &'static [u8]>,
    digest: &mut DefaultHasher,
) -> Result<TablePages, Failure> {
    let table = transaction.open_table(definition)?;
    for row in table.iter()? {
        let (key, value) = row?;
        K::as_bytes(&key.value()).as_ref().hash(digest);
        value.value().hash(digest);
    }
    let stats = table.stats()?;
    Ok(TablePages {
        name: definition.name().to_owned(),
        leaves: stats.leaf_pages(),
        branches: stats.branch_pages(),
    })
}

/// A file whose changes stay in memory.
#[derive(Debug)]
struct Overlay {
    file: fs::File,
    length: AtomicU64,
    file_bytes: u64,
    pages: Mutex<HashMap<u64, Box<[u8; PAGE]>>>,
}

impl Overlay {
    fn new(path: &Path) -> io::Result<Self> {
        let file = fs::File::open(path)?;
        let file_bytes = file.metadata()?.len();
        Ok(Self {
            file,
            length: AtomicU64::new(file_bytes),
            file_bytes,
            pages: Mutex::default(),
        })
    }

    /// Calls `access` with each page of a range, the range within it, and that within the buffer.
    fn on_pages(
        &self,
        offset: u64,
        bytes: usize,
        is_write: bool,
        mut access: impl FnMut(&mut [u8], std::ops::Range<usize>),
    ) -> io::Result<()> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < bytes {
            let position = offset + done as u64;
            let (number, start) = (position / PAGE as u64, (position % PAGE as u64) as usize);
            let count = (PAGE - start).min(bytes - done);
            let read = || {
                let mut page = Box::new([0; PAGE]);
                let begin = number * PAGE as u64;
                let there = self.file_bytes.saturating_sub(begin).min(PAGE as u64) as usize;
                self.file.read_exact_at(&mut page[..there], begin)?;
                Ok::<_, io::Error>(page)
            };
            let range = done..done + count;
            match pages.get_mut(&number) {
                Some(page) => access(&mut page[start..start + count], range),
                None => {
                    let mut page = read()?;
                    access(&mut page[start..start + count], range);
                    if is_write {
                        pages.insert(number, page);
                    }
                }
            }
            done += count;
        }
        Ok(())
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length.load(Relaxed))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.on_pages(offset, out.len(), false, |page, range| {
            out[range].copy_from_slice(page);
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.length.store(length, Relaxed);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.length.fetch_max(offset + data.len() as u64, Relaxed);
        self.on_pages(offset, data.len(), true, |page, range| {
            page.copy_from_slice(&data[range]);
        })
    }
}

/// An overlay that two databases open, one after the other.
#[derive(Debug)]
struct SharedOverlay(Arc<Overlay>);

impl StorageBackend for SharedOverlay {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

/// Commits without and with a scrubber that runs pass after pass, in turns.
fn compare_throughput(ledger: &mut Ledger) -> Result<(), Failure> {
    for turn in 1..=TURNS {
        let without = commit_for(ledger, TURN)?;
        let scrubber = ledger.scrubber.clone();
        let pace = Pace::new(4);
        let thread = {
            let pace = Arc::clone(&pace);
            thread::spawn(move || {
                let control: Arc<dyn ScrubControl> = Arc::clone(&pace) as _;
                let mut passes = Vec::new();
                loop {
                    let started = Instant::now();
                    match scrubber.scrub(&control) {
                        Ok(ScrubOutcome::Interrupted) => return Ok(passes),
                        Ok(outcome) => passes.push((outcome, started.elapsed())),
                        Err(error) => return Err(error),
                    }
                }
            })
        };
        let before = FileSize::of(&ledger.path)?;
        let with = commit_for(ledger, TURN)?;
        pace.is_stopped.store(true, Relaxed);
        let passes = thread.join().map_err(|_| "the scrubber panicked")??;
        let after = FileSize::of(&ledger.path)?;
        println!(
            "turn {turn}: {without:.0} transfers/s without, {with:.0} with {} bytes scrubbed and passes {passes:?}; the file grew by {} bytes on the disk",
            pace.bytes.load(Relaxed),
            after.disk_bytes.saturating_sub(before.disk_bytes)
        );
    }
    Ok(())
}

/// Commits and prunes for a while, and returns the number of transfers per second.
fn commit_for(ledger: &mut Ledger, duration: Duration) -> Result<f64, Failure> {
    let window = {
        let info = *ledger.reader.snapshot()?.ledger_info();
        info.version - info.oldest_version
    };
    let (started, mut transfers) = (Instant::now(), 0);
    while started.elapsed() < duration {
        ledger.commit()?;
        let newest = ledger.reader.snapshot()?.ledger_info().version;
        ledger.writer.prune(newest - window, PER_BLOCK * 2)?;
        transfers += PER_BLOCK;
    }
    Ok(transfers as f64 / started.elapsed().as_secs_f64())
}
