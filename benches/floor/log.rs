//! The file: whoever has checked transactions appends them to a buffer, and one thread writes the buffer
//! and syncs it, for all that came meanwhile.

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

/// While nobody waits for it, a sync comes so long after the one before: each costs as much as checking
/// several signatures. A group of fewer than [`GROUP_MIN`] is synced at once.
const GROUP_INTERVAL: Duration = Duration::from_millis(2);
/// See [`GROUP_INTERVAL`]: with so few the disk is not what the processor is spent on.
const GROUP_MIN: u64 = 8;

/// The log.
#[derive(Debug)]
pub struct Log {
    queue: Mutex<Queue>,
    work: Condvar,
    /// How many transactions are on the disk.
    durable: AtomicU64,
    bells: Mutex<Vec<Arc<Bell>>>,
    /// Nothing is written before so many transactions were appended.
    hold: u64,
}

/// What is not written yet, and what was of late.
#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// How many transactions were ever appended.
    appended: u64,
    recent: Recent,
    /// The highest number that someone has waited for.
    awaited: u64,
    /// Whether the thread sleeps.
    asleep: bool,
}

/// Where a transaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Unknown,
    /// It has this number, and the log is synced at once.
    Appended(u64),
    Durable(u64),
}

impl Log {
    /// Opens the log and starts its thread, which ends with the process. Its first group has `hold`
    /// transactions at least.
    ///
    /// # Errors
    /// When the file cannot be opened or the thread not be started.
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

    /// Rings `bell` after each sync that someone asked for.
    pub fn ring(&self, bell: Arc<Bell>) {
        self.bells
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bell);
    }

    /// Appends transactions; they are durable some time later.
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

    /// Where a transaction stands; if it is not durable, that is hurried.
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

    /// How many transactions are durable; all with numbers up to this one.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waking a thread is a system call even where it does not sleep.
    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        if mem::take(&mut queue.asleep) {
            drop(queue);
            self.work.notify_one();
        }
    }
}

/// The thread's own.
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
                // What was answered with 202 cannot be kept: nothing that follows would count.
                let _ = writeln!(io::stderr(), "cannot write the log: {error}");
                process::exit(1);
            }
            group.clear();
            self.last_sync = Instant::now();
            self.publish(appended);
        }
    }

    /// Says that so many are durable, to all who wait for one that was not: also to those who came while
    /// it was synced.
    fn publish(&self, appended: u64) {
        let before = self.log.durable.swap(appended, Ordering::AcqRel);
        // Who looks after this sees what is durable; who has looked before has left its number.
        if self.log.lock().awaited > before {
            let bells = self
                .log
                .bells
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            bells.iter().for_each(|bell| bell.ring());
        }
    }

    /// Waits for transactions and puts them into `group`; says how many were ever appended.
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

    /// How long to gather; `None` while there is nothing to write.
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
    fn what_is_durable_is_in_the_file_in_its_order() {
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

    /// A log whose thread the test is.
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
    async fn who_comes_to_wait_while_it_is_synced_hears_the_bell() {
        let writer = idle(Instant::now(), 0);
        let bell = Arc::new(Bell::default());
        writer.log.ring(Arc::clone(&bell));
        writer.log.append([(hash(1), &b"x"[..])].into_iter());
        let appended = writer.next_group(&mut Vec::new());
        assert_eq!(writer.log.standing(&hash(1)), Standing::Appended(1));
        writer.publish(appended);
        assert!(bell.has_rung().await);
        // Nobody waits for the next one.
        writer.log.append([(hash(2), &b"x"[..])].into_iter());
        writer.publish(writer.next_group(&mut Vec::new()));
        assert!(!bell.has_rung().await);
    }

    #[test]
    fn a_group_is_gathered_only_while_nobody_waits_for_it() {
        // In the future, so that the time that the test takes does not matter.
        let writer = idle(Instant::now() + Duration::from_secs(3_600), 0);
        let log = Arc::clone(&writer.log);
        let pause = || writer.pause(&log.lock());
        assert_eq!(pause(), None, "nothing to write");
        let many = u8::try_from(GROUP_MIN).unwrap();
        log.append((1..many).map(|number| (hash(number), &b"x"[..])));
        assert_eq!(pause(), Some(Duration::ZERO), "few are written at once");
        log.append([(hash(many), &b"x"[..])].into_iter());
        assert_eq!(pause(), Some(GROUP_INTERVAL), "many are gathered");
        assert_eq!(log.standing(&hash(1)), Standing::Appended(1));
        assert_eq!(pause(), Some(Duration::ZERO), "someone waits");
    }
    #[test]
    fn what_is_held_back_is_written_when_all_of_it_has_come() {
        let writer = idle(Instant::now(), 2);
        let log = Arc::clone(&writer.log);
        let pause = || writer.pause(&log.lock());
        log.append([(hash(1), &b"x"[..])].into_iter());
        assert_eq!(log.standing(&hash(1)), Standing::Appended(1));
        assert_eq!(pause(), None, "although someone waits");
        log.append([(hash(2), &b"x"[..])].into_iter());
        assert_eq!(pause(), Some(Duration::ZERO));
    }
}
