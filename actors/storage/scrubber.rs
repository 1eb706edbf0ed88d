//! The scrubber thread: compares the files of the ledger with their checksums, in paced passes.

use super::health::HealthReporter;
use crate::{
    runtime::{fatal::FatalErrorReporter, nice::raise_nice_value},
    state::directory_size::DirectorySize,
};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use ledger_metrics::{Counter, Gauge, counters};
use ledger_store::{ScrubControl, ScrubOutcome, StoreScrubber};
use std::{
    convert::Infallible,
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

/// Number of passes that begin within `storage.scrub_hours`.
///
/// A bit that is flipped directly after its page was read is found by the next pass. So it is found
/// in time if a pass takes at most half of that time.
const PASSES_PER_INTERVAL: u32 = 2;

/// Pause before another attempt after a pass that low disk space or the limit on the directory has
/// ended.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

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

/// A guard that keeps the thread alive. After it is dropped, the thread ends at its next read.
#[derive(Debug)]
pub(crate) struct ScrubGuard {
    _running: Sender<Infallible>,
}

/// Starts the thread, unless `interval` is zero. The first pass begins immediately.
///
/// Damage is found within `interval` if a pass takes at most half of it. No pass runs while
/// [`DirectorySize::must_free_pages`] is true.
///
/// # Errors
///
/// Returns the error of the operating system if the thread cannot be started.
pub(crate) fn spawn(
    store: StoreScrubber,
    interval: Duration,
    health: HealthReporter,
    size: DirectorySize,
    meter: Arc<ScrubMeter>,
    reporter: &FatalErrorReporter,
) -> io::Result<Option<(ScrubGuard, JoinHandle<()>)>> {
    if interval.is_zero() {
        return Ok(None);
    }
    let (running, stop) = crossbeam_channel::bounded(0);
    let scrubber = Scrubber {
        store,
        period: interval / PASSES_PER_INTERVAL,
        health: health.clone(),
        meter: Arc::clone(&meter),
        control: Arc::new(Pace::new(meter, health, size, stop.clone())),
        stop,
    };
    let thread = reporter.spawn(THREAD, move || {
        if let Err(error) = raise_nice_value(NICE) {
            tracing::warn!(%error, "the nice value of the scrubber thread could not be raised");
        }
        scrubber.run();
    })?;
    Ok(Some((ScrubGuard { _running: running }, thread)))
}

/// The state of the scrubber thread.
struct Scrubber {
    store: StoreScrubber,
    /// Time from the begin of a pass to the begin of the next one.
    period: Duration,
    health: HealthReporter,
    meter: Arc<ScrubMeter>,
    control: Arc<Pace>,
    /// Disconnected by the stop.
    stop: Receiver<Infallible>,
}

impl Scrubber {
    /// Runs passes until the node stops or the disk has failed.
    fn run(&self) {
        loop {
            let begun = Instant::now();
            let is_complete = self.pass();
            if self.health.health().fault().is_some() {
                return;
            }
            let pause = match is_complete {
                true => self.period.saturating_sub(begun.elapsed()),
                false => RETRY_PAUSE,
            };
            if self.stop.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
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
        if duration > self.period {
            tracing::warn!(
                ?duration,
                "the ledger is too large to be scrubbed within storage.scrub_hours"
            );
        }
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
    health: HealthReporter,
    /// Whether the directory exceeds `pruner.window_bytes` and pruning can change that.
    size: DirectorySize,
    stop: Receiver<Infallible>,
    /// Start of the thread.
    started: Instant,
    /// Time from the start of the thread to the end of the last sleep, in nanoseconds.
    working_since_nanos: AtomicU64,
    /// Bytes that the pass has read.
    pass_bytes: AtomicU64,
}

impl Pace {
    fn new(
        meter: Arc<ScrubMeter>,
        health: HealthReporter,
        size: DirectorySize,
        stop: Receiver<Infallible>,
    ) -> Self {
        Self {
            meter,
            health,
            size,
            stop,
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
}

impl ScrubControl for Pace {
    /// Sleeps after [`WORK`]. Returns false if the node stops, writes are paused, the directory
    /// exceeds its limit, or the disk has failed.
    ///
    /// While disk space is low, or the directory is too large, a pass would retain pages that are
    /// about to become free.
    fn on_read(&self, bytes: u64) -> bool {
        let position = self.pass_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.meter.bytes.add(bytes);
        self.meter.position_bytes.set(as_gauge(position));
        let worked = self.worked();
        let sleep = match worked < WORK {
            true => Duration::ZERO,
            false => worked.saturating_mul(SLEEP_PER_WORK),
        };
        if self.stop.recv_timeout(sleep) != Err(RecvTimeoutError::Timeout) {
            return false;
        }
        if !sleep.is_zero() {
            self.begin_work();
        }
        self.health.health().unavailable().is_none() && !self.size.must_free_pages()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::FaultKind,
        runtime::mailbox::Recipient,
        state::storage_health::{ShortageSource, StorageHealthPublisher},
    };
    use ledger_metrics::Metric as _;
    use ledger_test_support::store::open_store;
    use std::{fs, os::unix::fs::FileExt, path::Path, thread};

    /// An interval after which no second pass begins during a test.
    const LONG: Duration = Duration::from_secs(24 * 60 * 60);
    /// An interval after which the next pass begins immediately.
    const SHORT: Duration = Duration::from_nanos(2);

    fn health() -> HealthReporter {
        HealthReporter::new(
            StorageHealthPublisher::default(),
            Recipient::new(|_| ()),
            Recipient::new(|_| ()),
        )
    }

    /// Waits until `is_reached` holds.
    fn wait_until(is_reached: impl Fn() -> bool) {
        while !is_reached() {
            thread::yield_now();
        }
    }

    /// Flips a bit in every page of the database file but the first, which has the header.
    fn damage(directory: &Path) {
        let path = directory.join("ledger.redb");
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

    #[test]
    fn reports_damage_that_occurs_between_two_passes_as_a_failed_read() {
        let directory = tempfile::tempdir().unwrap();
        let (_chain, store) = open_store(directory.path());
        let (health, meter, reporter) = (health(), Arc::default(), FatalErrorReporter::new());
        let scrubber = store.scrubber();
        let _open = store.split();
        let started = spawn(
            scrubber,
            SHORT,
            health.clone(),
            DirectorySize::default(),
            Arc::clone(&meter),
            &reporter,
        );
        let (_guard, thread) = started.unwrap().unwrap();
        wait_until(|| meter.snapshot().passes > 1);
        assert_eq!(meter.snapshot().findings, 0);
        damage(directory.path());
        thread.join().unwrap();
        // Restores the bits, because the store is closed at the end of the test.
        damage(directory.path());
        assert_eq!(meter.snapshot().findings, 1);
        let fault = health.health().fault().unwrap();
        assert_eq!((fault.thread, fault.kind), (THREAD, FaultKind::Read));
        assert!(fault.cause.contains("checksum"), "{}", fault.cause);
    }

    #[test]
    fn ends_while_it_waits_for_the_next_pass_and_within_a_pass() {
        let directory = tempfile::tempdir().unwrap();
        let (_chain, store) = open_store(directory.path());
        let (health, reporter) = (health(), FatalErrorReporter::new());
        for (interval, passes) in [(LONG, 1), (SHORT, 2)] {
            let meter = Arc::default();
            let started = spawn(
                store.scrubber(),
                interval,
                health.clone(),
                DirectorySize::default(),
                Arc::clone(&meter),
                &reporter,
            );
            let (guard, thread) = started.unwrap().unwrap();
            wait_until(|| meter.snapshot().passes >= passes);
            drop(guard);
            thread.join().unwrap();
        }
        assert_eq!(health.health().fault(), None);
    }

    /// Asserts that each pass ends early, and none completes.
    fn assert_passes_are_interrupted(health: HealthReporter, must_free_pages: bool) {
        let size = DirectorySize::default();
        size.set_must_free_pages(must_free_pages);
        let directory = tempfile::tempdir().unwrap();
        let (_chain, store) = open_store(directory.path());
        let (meter, reporter) = (Arc::default(), FatalErrorReporter::new());
        let started = spawn(
            store.scrubber(),
            SHORT,
            health,
            size,
            Arc::clone(&meter),
            &reporter,
        );
        let (guard, thread) = started.unwrap().unwrap();
        // A pass that is not interrupted completes, so this ends without the interruption too.
        wait_until(|| meter.snapshot().interrupted + meter.snapshot().passes > 0);
        drop(guard);
        thread.join().unwrap();
        assert_eq!(meter.snapshot().passes, 0);
    }

    #[test]
    fn interrupts_passes_while_disk_space_is_low() {
        let health = health();
        health.report_disk_space(ShortageSource::Monitor, Some(&"7 bytes are left".into()));
        assert_passes_are_interrupted(health, false);
    }

    #[test]
    fn interrupts_passes_while_the_directory_exceeds_its_limit() {
        assert_passes_are_interrupted(health(), true);
    }

    #[test]
    fn does_not_start_with_an_interval_of_zero() {
        let directory = tempfile::tempdir().unwrap();
        let (_chain, store) = open_store(directory.path());
        let reporter = FatalErrorReporter::new();
        let started = spawn(
            store.scrubber(),
            Duration::ZERO,
            health(),
            DirectorySize::default(),
            Arc::default(),
            &reporter,
        );
        assert!(started.unwrap().is_none());
    }
}
