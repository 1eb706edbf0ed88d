//! The log: a file to which one thread appends groups of transactions.
//!
//! HTTP threads append checked transactions to a buffer. The log thread writes the buffer and syncs
//! the file once for all transactions that arrived since the last sync.

use crate::{parked::Bell, recent::Recent};
use ledger_crypto::HashValue;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    mem,
    path::Path,
    process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Minimum interval between two syncs if no request waits.
///
/// A sync takes as much processor time as several signature checks. A group of fewer than
/// [`GROUP_MIN`] transactions is synced immediately.
const GROUP_INTERVAL: Duration = Duration::from_millis(2);
/// Number of transactions from which a group waits for [`GROUP_INTERVAL`].
///
/// With fewer, syncs take little of the processor time.
const GROUP_MIN: u64 = 8;

/// A handle to the log and its thread.
#[derive(Debug)]
pub struct Log {
    queue: Mutex<Queue>,
    work: Condvar,
    /// Number of durable transactions.
    durable: AtomicU64,
    bells: Mutex<Vec<Arc<Bell>>>,
    /// Number of appended transactions before which nothing is written.
    hold: u64,
}

/// The unwritten transactions and the positions of recent ones.
#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Number of transactions appended since the start.
    appended: u64,
    recent: Recent,
    /// Highest number for which a request has waited.
    awaited: u64,
    /// Whether the log thread waits for work.
    asleep: bool,
}

/// The status of a transaction in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Unknown,
    /// The transaction has this number. The log syncs it immediately.
    Appended(u64),
    Durable(u64),
}

impl Log {
    /// Opens the log and starts its thread, which ends with the process.
    ///
    /// The first group has at least `hold` transactions.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the file cannot be opened or the thread cannot
    /// be started.
    pub fn open(path: &Path, hold: u64) -> io::Result<Arc<Self>> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let log = Arc::new(Self {
            queue: Mutex::default(),
            work: Condvar::new(),
            durable: AtomicU64::new(0),
            bells: Mutex::default(),
            hold,
        });
        let writer = Writer {
            log: Arc::clone(&log),
            file,
            last_sync: Instant::now(),
        };
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(|| writer.run())?;
        Ok(log)
    }

    /// Adds a bell that rings after each sync for which a request waits.
    pub fn ring(&self, bell: Arc<Bell>) {
        self.bells
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bell);
    }

    /// Appends transactions to the buffer. A later sync makes them durable.
    pub fn append<'a>(&self, transactions: impl Iterator<Item = (HashValue, &'a [u8])>) {
        let mut queue = self.lock();
        for (hash, bytes) in transactions {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            queue.bytes.extend_from_slice(&length.to_le_bytes());
            queue.bytes.extend_from_slice(bytes);
            queue.appended += 1;
            let number = queue.appended;
            queue.recent.insert(hash, number);
        }
        self.wake(queue);
    }

    /// Returns the status of a transaction. If it is not durable, the log syncs it immediately.
    pub fn standing(&self, hash: &HashValue) -> Standing {
        let mut queue = self.lock();
        match queue.recent.number(hash) {
            None => Standing::Unknown,
            Some(number) if number <= self.durable() => Standing::Durable(number),
            Some(number) => {
                queue.awaited = queue.awaited.max(number);
                self.wake(queue);
                Standing::Appended(number)
            }
        }
    }

    /// Returns the numbers of transactions, or `None` for unknown ones. The log syncs them
    /// immediately.
    pub fn numbers(&self, hashes: &[HashValue]) -> Vec<Option<u64>> {
        let mut queue = self.lock();
        let numbers: Vec<_> = hashes
            .iter()
            .map(|hash| queue.recent.number(hash))
            .collect();
        let last = numbers.iter().flatten().max().copied();
        if let Some(last) = last.filter(|last| *last > self.durable()) {
            queue.awaited = queue.awaited.max(last);
            self.wake(queue);
        }
        numbers
    }

    /// Returns the number of durable transactions. All numbers up to this one are durable.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the log thread if it sleeps. A notification is a system call even if no thread waits.
    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        if mem::take(&mut queue.asleep) {
            drop(queue);
            self.work.notify_one();
        }
    }
}

/// The state of the log thread.
struct Writer {
    log: Arc<Log>,
    file: File,
    last_sync: Instant,
}

impl Writer {
    fn run(mut self) {
        let mut group = Vec::new();
        loop {
            let appended = self.next_group(&mut group);
            if let Err(error) = self
                .file
                .write_all(&group)
                .and_then(|()| self.file.sync_data())
            {
                // Accepted transactions are lost, so figures of this run would be worthless.
                let _ = writeln!(io::stderr(), "cannot write the log: {error}");
                process::exit(1);
            }
            group.clear();
            self.last_sync = Instant::now();
            self.publish(appended);
        }
    }

    /// Sets the number of durable transactions and rings the bells if a request waits for one of
    /// them.
    ///
    /// This includes requests that began to wait during the sync.
    fn publish(&self, appended: u64) {
        let before = self.log.durable.swap(appended, Ordering::AcqRel);
        // A request that reads the status after the swap sees the new number. One that read it
        // before has set `awaited`.
        if self.log.lock().awaited > before {
            let bells = self
                .log
                .bells
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            bells.iter().for_each(|bell| bell.ring());
        }
    }

    /// Waits for transactions, moves them to `group`, and returns the number of appended ones.
    fn next_group(&self, group: &mut Vec<u8>) -> u64 {
        let mut queue = self.log.lock();
        loop {
            let pause = self.pause(&queue);
            if pause == Some(Duration::ZERO) {
                mem::swap(group, &mut queue.bytes);
                return queue.appended;
            }
            queue.asleep = true;
            queue = match pause {
                None => self
                    .log
                    .work
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(pause) => {
                    let woken = self.log.work.wait_timeout(queue, pause);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            queue.asleep = false;
        }
    }

    /// Returns how long to wait for more transactions, or `None` if there is nothing to write.
    fn pause(&self, queue: &Queue) -> Option<Duration> {
        if queue.bytes.is_empty() || queue.appended < self.log.hold {
            return None;
        }
        let durable = self.log.durable();
        if queue.awaited > durable || queue.appended - durable < GROUP_MIN {
            return Some(Duration::ZERO);
        }
        Some(GROUP_INTERVAL.saturating_sub(self.last_sync.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u8) -> HashValue {
        HashValue::sha3_of(&[&[number]])
    }

    #[test]
    fn writes_transactions_to_the_file_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let log = Log::open(&path, 0).unwrap();
        let bodies: [&[u8]; 3] = [b"first", b"second", b""];
        for (number, body) in (0..).zip(bodies) {
            log.append([(hash(number), body)].into_iter());
        }
        while log.standing(&hash(2)) != Standing::Durable(3) {
            thread::yield_now();
        }
        let expected = b"\x05\0\0\0first\x06\0\0\0second\0\0\0\0";
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        assert_eq!(
            (log.durable(), log.standing(&hash(9))),
            (3, Standing::Unknown)
        );
    }

    /// Returns the state of a log thread that the test runs itself.
    fn idle(last_sync: Instant, hold: u64) -> Writer {
        let log = Log {
            queue: Mutex::default(),
            work: Condvar::new(),
            durable: AtomicU64::new(0),
            bells: Mutex::default(),
            hold,
        };
        Writer {
            log: Arc::new(log),
            file: tempfile::tempfile().unwrap(),
            last_sync,
        }
    }

    #[actix_web::test]
    async fn rings_for_a_request_that_begins_to_wait_during_the_sync() {
        let writer = idle(Instant::now(), 0);
        let bell = Arc::new(Bell::default());
        writer.log.ring(Arc::clone(&bell));
        writer.log.append([(hash(1), &b"x"[..])].into_iter());
        let appended = writer.next_group(&mut Vec::new());
        assert_eq!(writer.log.standing(&hash(1)), Standing::Appended(1));
        writer.publish(appended);
        assert!(bell.has_rung().await);
        // No request waits for the next transaction.
        writer.log.append([(hash(2), &b"x"[..])].into_iter());
        writer.publish(writer.next_group(&mut Vec::new()));
        assert!(!bell.has_rung().await);
    }

    #[test]
    fn delays_a_sync_only_if_no_request_waits() {
        // In the future, so that the duration of the test does not affect the result.
        let writer = idle(Instant::now() + Duration::from_secs(3_600), 0);
        let log = Arc::clone(&writer.log);
        let pause = || writer.pause(&log.lock());
        assert_eq!(pause(), None, "nothing to write");
        let many = u8::try_from(GROUP_MIN).unwrap();
        log.append((1..many).map(|number| (hash(number), &b"x"[..])));
        assert_eq!(pause(), Some(Duration::ZERO), "few are written immediately");
        log.append([(hash(many), &b"x"[..])].into_iter());
        assert_eq!(pause(), Some(GROUP_INTERVAL), "many are delayed");
        assert_eq!(log.standing(&hash(1)), Standing::Appended(1));
        assert_eq!(pause(), Some(Duration::ZERO), "a request waits");
    }

    #[test]
    fn writes_held_transactions_when_all_have_been_appended() {
        let writer = idle(Instant::now(), 2);
        let log = Arc::clone(&writer.log);
        let pause = || writer.pause(&log.lock());
        log.append([(hash(1), &b"x"[..])].into_iter());
        assert_eq!(log.standing(&hash(1)), Standing::Appended(1));
        assert_eq!(pause(), None, "although a request waits");
        log.append([(hash(2), &b"x"[..])].into_iter());
        assert_eq!(pause(), Some(Duration::ZERO));
    }
}
