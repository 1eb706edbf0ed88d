//! The scrubber thread: compares the files of the ledger with their checksums, in paced passes.
//!
//! The storage actor begins each pass ([`super::scrub_schedule`]). The thread ends a pass early
//! between two pages: a message to it would wait for the end of the pass.

use super::health::HealthReporter;
use crate::{
    protocol::storage::ScrubDone,
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, nice::raise_nice_value},
    state::{directory_size::DirectorySize, storage_health::StorageHealth},
};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use ledger_metrics::{Counter, Gauge, counters};
use ledger_store::{ScrubControl, ScrubOutcome, StoreScrubber};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Name of the thread.
const THREAD: &str = "store-scrubber";

/// Nice value of the thread. It is the highest, so that any other thread of the node runs first.
const NICE: u8 = 19;

/// Duration of the work between two sleeps of a pass.
///
/// Much longer than the read of a page, and short enough that a request behind it on the same disk
/// is not delayed noticeably.
const WORK: Duration = Duration::from_millis(5);

/// Duration of a sleep in proportion to the work before it: the scrubber uses at most a fifth of
/// the disk's time, and of one core's.
const SLEEP_PER_WORK: u32 = 4;

/// Longest part of a sleep between two checks of whether the pass may run. After a slow read, or
/// one during which other threads kept all cores busy, a sleep takes many seconds.
const SLEEP_PART: Duration = Duration::from_millis(50);

counters! {
    /// Metrics of the scrubber, updated by its thread.
    pub(crate) struct ScrubMeter;

    /// Snapshot of the scrubber since the start of the node.
    #[derive(Clone, Copy, Debug)]
    pub struct ScrubStatus {
        /// Passes that verified the whole ledger.
        pub passes: Counter,
        /// Passes that ended early, because disk space is low, the directory exceeds its limit, or
        /// a write failed.
        pub interrupted: Counter,
        /// Pages or log records that do not match their checksums, or cannot be read.
        pub findings: Counter,
        /// Passes that met a page with a wrong checksum, which a second read did not confirm.
        pub unconfirmed: Counter,
        /// Bytes that were read.
        pub bytes: Counter,
        /// Bytes that the current pass has read; 0 between passes.
        pub position_bytes: Gauge,
        /// Bytes that the last complete pass has read.
        pub last_bytes: Gauge,
        /// Duration of the last complete pass, in milliseconds.
        pub last_millis: Gauge,
    }
}

/// A request of the storage actor to begin a pass.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BeginPass;

/// The recipient of the scrubber's messages.
#[derive(Debug)]
pub(crate) struct ScrubberPeers {
    pub(crate) storage: Recipient<ScrubDone>,
}

/// Returns whether a pass may run. It would retain pages that are about to become free while disk
/// space is low or the directory exceeds its limit. After a fault it has no use.
pub(super) fn may_scrub(health: &StorageHealth, size: &DirectorySize) -> bool {
    health.unavailable().is_none() && !size.must_free_pages()
}

/// The scrubber, until its thread is started.
pub(crate) struct Scrubber {
    store: StoreScrubber,
    /// Disconnected by the end of the storage actor.
    passes: Receiver<BeginPass>,
    peers: ScrubberPeers,
    health: HealthReporter,
    meter: Arc<ScrubMeter>,
    control: Arc<Pace>,
}

impl Scrubber {
    pub(crate) fn new(
        store: StoreScrubber,
        passes: Receiver<BeginPass>,
        peers: ScrubberPeers,
        health: HealthReporter,
        size: DirectorySize,
        meter: Arc<ScrubMeter>,
    ) -> Self {
        let pace = Pace::new(
            Arc::clone(&meter),
            health.health().clone(),
            size,
            passes.clone(),
        );
        Self {
            store,
            passes,
            peers,
            health,
            meter,
            control: Arc::new(pace),
        }
    }

    /// Starts the thread. It ends when the sending side of `passes` is dropped, within a pass at
    /// its next read.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the thread cannot be started.
    pub(crate) fn spawn(self, reporter: &FatalErrorReporter) -> io::Result<JoinHandle<()>> {
        reporter.spawn(THREAD, move || {
            if let Err(error) = raise_nice_value(NICE) {
                tracing::warn!(%error, "the nice value of the scrubber thread could not be raised");
            }
            while let Ok(BeginPass) = self.passes.recv() {
                let is_complete = self.pass();
                self.peers.storage.send(ScrubDone { is_complete });
            }
        })
    }

    /// Runs a pass, and returns whether it is complete. A finding is reported as a failed read.
    fn pass(&self) -> bool {
        let begun = Instant::now();
        self.control.begin();
        let control: Arc<dyn ScrubControl> = Arc::clone(&self.control) as _;
        let outcome = self.store.scrub(&control);
        let duration = begun.elapsed();
        let bytes = self.control.pass_bytes();
        self.meter.position_bytes.set(0);
        match outcome {
            Ok(ScrubOutcome::Interrupted) => {
                self.meter.interrupted.increment();
                return false;
            }
            Ok(ScrubOutcome::Intact) => {}
            Ok(ScrubOutcome::Unconfirmed) => {
                self.meter.unconfirmed.increment();
                tracing::warn!(
                    "a page of the ledger did not match its checksum, and matched when it was read \
                     again; check memory and disk"
                );
            }
            Err(error) => {
                self.meter.findings.increment();
                self.health.report_read(THREAD, &error);
                return false;
            }
        }
        self.meter.passes.increment();
        self.meter.last_bytes.set(as_gauge(bytes));
        self.meter
            .last_millis
            .set(usize::try_from(duration.as_millis()).unwrap_or(usize::MAX));
        true
    }
}

/// Returns the value of a gauge.
fn as_gauge(amount: u64) -> usize {
    usize::try_from(amount).unwrap_or(usize::MAX)
}

/// The limit of a pass's rate, and its end. Only the scrubber thread changes it.
#[derive(Debug)]
struct Pace {
    meter: Arc<ScrubMeter>,
    health: StorageHealth,
    size: DirectorySize,
    passes: Receiver<BeginPass>,
    /// Creation of the scrubber.
    started: Instant,
    /// Time from the creation to the end of the last sleep, in nanoseconds.
    working_since_nanos: AtomicU64,
    /// Bytes that the pass has read.
    pass_bytes: AtomicU64,
}

impl Pace {
    fn new(
        meter: Arc<ScrubMeter>,
        health: StorageHealth,
        size: DirectorySize,
        passes: Receiver<BeginPass>,
    ) -> Self {
        Self {
            meter,
            health,
            size,
            passes,
            started: Instant::now(),
            working_since_nanos: AtomicU64::new(0),
            pass_bytes: AtomicU64::new(0),
        }
    }

    /// Begins a pass.
    fn begin(&self) {
        self.pass_bytes.store(0, Relaxed);
        self.begin_work();
    }

    /// Returns the number of bytes that the pass has read.
    fn pass_bytes(&self) -> u64 {
        self.pass_bytes.load(Relaxed)
    }

    fn begin_work(&self) {
        let nanos = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.working_since_nanos.store(nanos, Relaxed);
    }

    /// Returns the time since the last sleep.
    fn worked(&self) -> Duration {
        let since = Duration::from_nanos(self.working_since_nanos.load(Relaxed));
        self.started.elapsed().saturating_sub(since)
    }

    /// Sleeps for `time`, and returns whether the pass may continue. The sleep ends within
    /// [`SLEEP_PART`] if it may not.
    fn sleep(&self, mut time: Duration) -> bool {
        while may_scrub(&self.health, &self.size) {
            let part = time.min(SLEEP_PART);
            // No pass is requested during a pass, so only the end of the storage actor ends it.
            if self.passes.recv_timeout(part) != Err(RecvTimeoutError::Timeout) {
                return false;
            }
            time -= part;
            if time.is_zero() {
                return may_scrub(&self.health, &self.size);
            }
        }
        false
    }
}

impl ScrubControl for Pace {
    /// Sleeps after [`WORK`]. Returns false if the node stops, or if the pass may not run any more.
    fn on_read(&self, bytes: u64) -> bool {
        let position = self.pass_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.meter.bytes.add(bytes);
        self.meter.position_bytes.set(as_gauge(position));
        let worked = self.worked();
        let sleep = match worked < WORK {
            true => Duration::ZERO,
            false => worked.saturating_mul(SLEEP_PER_WORK),
        };
        let may_continue = self.sleep(sleep);
        if !sleep.is_zero() {
            self.begin_work();
        }
        may_continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::FaultKind,
        state::storage_health::{ShortageSource, StorageHealthPublisher},
    };
    use crossbeam_channel::{Sender, bounded};
    use ledger_metrics::Metric as _;
    use ledger_store::{StoreReader, StoreWriter};
    use ledger_test_support::store::open_store;
    use std::{fs, os::unix::fs::FileExt};
    use tempfile::TempDir;

    /// An open store, and what its scrubber is started with.
    struct Fixture {
        directory: TempDir,
        store: StoreScrubber,
        _open: (StoreWriter, StoreReader),
        health: HealthReporter,
        size: DirectorySize,
        meter: Arc<ScrubMeter>,
    }

    /// A running scrubber, whose passes the test begins.
    struct Running {
        passes: Sender<BeginPass>,
        done: Receiver<ScrubDone>,
        thread: JoinHandle<()>,
    }

    impl Fixture {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let (_chain, store) = open_store(directory.path());
            Self {
                directory,
                store: store.scrubber(),
                _open: store.split(),
                health: HealthReporter::new(
                    StorageHealthPublisher::default(),
                    Recipient::new(|_| ()),
                    Recipient::new(|_| ()),
                ),
                size: DirectorySize::default(),
                meter: Arc::default(),
            }
        }

        fn start(&self) -> Running {
            let (passes, requests) = bounded(1);
            let (sender, done) = bounded(1);
            let thread = self.spawn(requests, sender);
            Running {
                passes,
                done,
                thread,
            }
        }

        fn spawn(&self, requests: Receiver<BeginPass>, done: Sender<ScrubDone>) -> JoinHandle<()> {
            let storage = Recipient::new(move |ended| done.send(ended).unwrap());
            let scrubber = Scrubber::new(
                self.store.clone(),
                requests,
                ScrubberPeers { storage },
                self.health.clone(),
                self.size.clone(),
                Arc::clone(&self.meter),
            );
            scrubber.spawn(&FatalErrorReporter::new()).unwrap()
        }

        /// Flips a bit in every page of the database file but the first, which has the header.
        fn damage(&self) {
            let path = self.directory.path().join("ledger.redb");
            let file = fs::File::options()
                .read(true)
                .write(true)
                .open(path)
                .unwrap();
            let pages = file.metadata().unwrap().len() / 4096;
            for page in 1..pages {
                let mut byte = [0];
                let offset = page * 4096 + 8;
                file.read_exact_at(&mut byte, offset).unwrap();
                file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
            }
        }
    }

    impl Running {
        /// Begins a pass and waits for its end. Returns whether it is complete.
        fn pass(&self) -> bool {
            self.passes.send(BeginPass).unwrap();
            self.done.recv().unwrap().is_complete
        }

        fn stop(self) {
            drop(self.passes);
            self.thread.join().unwrap();
        }
    }

    #[test]
    fn reports_damage_that_occurs_between_two_passes_as_a_failed_read() {
        let fixture = Fixture::new();
        let running = fixture.start();
        for _ in 0..2 {
            assert!(running.pass());
        }
        let status = fixture.meter.snapshot();
        assert_eq!((status.passes, status.findings), (2, 0));
        fixture.damage();
        assert!(!running.pass());
        // Restores the bits, because the store is closed at the end of the test.
        fixture.damage();
        assert_eq!(fixture.meter.snapshot().findings, 1);
        let fault = fixture.health.health().fault().unwrap();
        assert_eq!((fault.thread, fault.kind), (THREAD, FaultKind::Read));
        assert!(fault.cause.contains("checksum"), "{}", fault.cause);
        running.stop();
    }

    #[test]
    fn ends_while_it_waits_for_a_request_and_within_a_pass() {
        let fixture = Fixture::new();
        for passes in 0..2 {
            let running = fixture.start();
            assert!((0..passes).all(|_| running.pass()));
            running.stop();
        }
        let (passes, requests) = bounded(1);
        let (done, _done) = bounded(1);
        passes.send(BeginPass).unwrap();
        drop(passes);
        fixture.spawn(requests, done).join().unwrap();
        let status = fixture.meter.snapshot();
        assert_eq!((status.passes, status.interrupted), (1, 1));
        assert_eq!(fixture.health.health().fault(), None);
    }

    #[test]
    fn interrupts_a_pass_while_pages_must_be_freed() {
        let fixture = Fixture::new();
        let running = fixture.start();
        let shortage = "7 bytes are left".into();
        for is_low in [true, false] {
            let shortage = is_low.then_some(&shortage);
            fixture
                .health
                .report_disk_space(ShortageSource::Monitor, shortage);
            fixture.size.set_must_free_pages(!is_low);
            assert!(!running.pass());
        }
        assert_eq!(fixture.meter.snapshot().interrupted, 2);
        running.stop();
    }

    #[test]
    fn interrupts_a_long_sleep_while_pages_must_be_freed() {
        let fixture = Fixture::new();
        let (_passes, requests) = bounded(1);
        let pace = Pace::new(
            Arc::clone(&fixture.meter),
            fixture.health.health().clone(),
            fixture.size.clone(),
            requests,
        );
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| pace.sleep(Duration::MAX));
            fixture.size.set_must_free_pages(true);
            assert!(!sleeper.join().unwrap());
        });
    }
}
