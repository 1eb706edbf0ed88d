//! Waits for many transactions: several requests with many hashes each, over transactions of
//! several accounts that cannot be committed yet.
//!
//! Each request has an equal part of the transactions of every account, and each transaction is
//! awaited by several requests. The first transaction of each account is missing. The generator
//! submits them one account after the other: one block then ends the waits for all transactions of
//! the account, over all connections.

use crate::{
    frames::{Frame, FrameReader},
    requests::{Requests, Transfer},
    submit,
};
use ledger_client::{
    http::{Connection, Endpoint},
    load::ProcessUsage,
};
use ledger_crypto::HashValue;
use serde::Serialize;
use std::{
    cell::Cell,
    error::Error,
    io,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    runtime,
    sync::Notify,
    task::{JoinHandle, spawn_local},
    time::{sleep, timeout},
};

/// Maximum time until the last outcome of a release.
const OUTCOMES_TIMEOUT: Duration = Duration::from_secs(120);
/// Time for which the node waits, the longest one that it allows.
const TIMEOUT_MS: u64 = 600_000;
/// Time between two reads of a balance.
const READ_INTERVAL: Duration = Duration::from_millis(1);
/// Time in which balances are read while nothing is released.
const QUIET: Duration = Duration::from_secs(2);
/// Free space of a receive buffer, in bytes.
const RECEIVE_BYTES: usize = 64 * 1024;
/// Fields of a request before its body.
const BCS: &str = "application/x-bcs";

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Number of pending transactions.
    pub transfers: usize,
    /// Number of requests.
    pub requests: usize,
    /// Number of hashes of each request.
    pub hashes: usize,
    /// Number of accounts. Each sends an equal part of the transactions.
    pub accounts: usize,
}

/// The account of some transactions: the missing one, and those that wait for it.
#[derive(Debug)]
pub struct Held {
    pub missing: Transfer,
    pub following: Vec<Transfer>,
}

impl Size {
    /// Checks that the transactions can be divided among accounts and requests.
    ///
    /// # Errors
    ///
    /// Returns the rule in words that the size breaks.
    pub fn check(self) -> Result<(), String> {
        let parts = self.parts().filter(|parts| *parts > 0);
        let parts = parts.ok_or("--transfers must be a multiple of --hashes")?;
        let is_even = self.requests.is_multiple_of(parts)
            && self.transfers.is_multiple_of(self.accounts * parts);
        is_even.then_some(()).ok_or_else(|| {
            "--requests must be a multiple of --transfers / --hashes, and --transfers of \
             --accounts times that number"
                .to_owned()
        })
    }

    /// Returns the number of requests that together have each hash once.
    fn parts(self) -> Option<usize> {
        let is_whole = self.transfers.is_multiple_of(self.hashes);
        is_whole.then(|| self.transfers / self.hashes)
    }

    /// Returns the hashes of the request with this number.
    fn hashes_of(self, request: usize, held: &[Held]) -> Vec<HashValue> {
        let parts = self.parts().unwrap_or(1);
        let following = held.iter().map(|held| &held.following);
        let of_part = following.flat_map(|all| all.iter().skip(request % parts).step_by(parts));
        of_part.map(|transfer| transfer.hash).collect()
    }
}

/// The report of a run.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Number of hashes of all requests.
    waits: usize,
    requests: usize,
    transfers: usize,
    /// Resident memory of the node with the pending transactions, and with the waits too.
    resident_bytes_before: u64,
    resident_bytes_waiting: u64,
    resident_bytes_per_wait: f64,
    /// Reads of a balance while all transactions wait.
    quiet: Reads,
    releases: Vec<Release>,
    /// Number of outcomes of successful transactions, and of all others.
    committed: usize,
    faulty: usize,
    /// Number of complete responses.
    summaries: usize,
    resident_bytes_after: u64,
}

/// The end of the waits for the transactions of one account. Times begin when its missing
/// transaction is sent.
#[derive(Debug, Serialize)]
struct Release {
    outcomes: usize,
    first_ms: f64,
    last_ms: f64,
    /// Reads of a balance until the last outcome.
    reads: Reads,
}

/// Durations of reads of a balance.
#[derive(Debug, Default, Serialize)]
struct Reads {
    count: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Reads {
    fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        let at = |share: f64| {
            let index = (durations.len() as f64 * share) as usize;
            let found = durations.get(index.min(durations.len().saturating_sub(1)));
            found.map_or(0.0, |duration| millis(*duration))
        };
        Self {
            count: durations.len(),
            p50_ms: at(0.5),
            p99_ms: at(0.99),
            max_ms: at(1.0),
        }
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The outcomes that the connections have received.
#[derive(Debug, Default)]
struct Received {
    outcomes: Cell<usize>,
    committed: Cell<usize>,
    summaries: Cell<usize>,
    /// Time of the first outcome since it was last taken.
    first: Cell<Option<Instant>>,
    /// Notified after each read of a connection.
    changed: Notify,
}

impl Received {
    fn count(&self, frame: Frame) {
        let add = |cell: &Cell<usize>| cell.set(cell.get() + 1);
        match frame {
            Frame::Summary => add(&self.summaries),
            Frame::Committed { success } => {
                add(&self.outcomes);
                if success {
                    add(&self.committed);
                }
                if self.first.get().is_none() {
                    self.first.set(Some(Instant::now()));
                }
            }
            Frame::Other => add(&self.outcomes),
        }
    }

    /// Waits until this number of outcomes has arrived, and returns the time of the last one.
    async fn until(&self, outcomes: usize) -> Result<Instant, String> {
        let arrived = async {
            while self.outcomes.get() < outcomes {
                self.changed.notified().await;
            }
            Instant::now()
        };
        timeout(OUTCOMES_TIMEOUT, arrived).await.map_err(|_| {
            let received = self.outcomes.get();
            format!("{received} outcomes arrived, and {outcomes} were expected")
        })
    }
}

/// The connections of the requests.
#[derive(Debug)]
pub struct ManyWaits {
    size: Size,
    received: Rc<Received>,
    readers: Vec<JoinHandle<io::Result<()>>>,
    report: Report,
    pid: Option<u32>,
}

impl ManyWaits {
    /// Sends each request on a connection of its own, and waits until the node waits for all
    /// hashes.
    ///
    /// # Errors
    ///
    /// Returns an error if the node rejects a request or does not accept a connection.
    pub async fn park(
        requests: &Requests,
        size: Size,
        held: &[Held],
        pid: Option<u32>,
    ) -> Result<Self, Box<dyn Error>> {
        let resident_bytes_before = resident_bytes(pid);
        let received = Rc::<Received>::default();
        let mut readers = Vec::with_capacity(size.requests);
        for number in 0..size.requests {
            let body = bcs::to_bytes(&size.hashes_of(number, held))?;
            let path = format!("/v1/transactions/wait?timeout_ms={TIMEOUT_MS}");
            let request = requests.post(&path, BCS, BCS, &body);
            let mut stream = TcpStream::connect(requests.address()).await?;
            stream.write_all(&request).await?;
            let frames = FrameReader::after_head(&mut stream).await?;
            readers.push(spawn_local(read(stream, frames, Rc::clone(&received))));
        }
        let report = Report {
            waits: size.requests * size.hashes,
            requests: size.requests,
            transfers: size.transfers,
            resident_bytes_before,
            ..Report::default()
        };
        Ok(Self {
            size,
            received,
            readers,
            report,
            pid,
        })
    }

    /// Submits the missing transactions one after the other, each after the outcomes of the
    /// previous one, while balances are read.
    ///
    /// # Errors
    ///
    /// Returns an error if the node rejects a submission, or if an outcome does not arrive in time.
    pub async fn release(
        mut self,
        requests: &Requests,
        held: Vec<Held>,
    ) -> Result<Report, Box<dyn Error>> {
        self.measure_memory();
        let balances = Balances::start(requests)?;
        sleep(QUIET).await;
        self.report.quiet = Reads::of(balances.take());
        let mut node = Connection::new(Endpoint::plain(requests.address().to_owned()));
        let of_account = self.report.waits / self.size.accounts;
        for (number, held) in (1..).zip(held) {
            self.received.first.set(None);
            balances.take();
            let begin = Instant::now();
            submit(&mut node, &held.missing.submission).await?;
            let last = self.received.until(number * of_account).await?;
            let first = self
                .received
                .first
                .get()
                .ok_or("no transaction was committed")?;
            self.report.releases.push(Release {
                outcomes: of_account,
                first_ms: millis(first - begin),
                last_ms: millis(last - begin),
                reads: Reads::of(balances.take()),
            });
        }
        for reader in self.readers {
            timeout(OUTCOMES_TIMEOUT, reader).await???;
        }
        let received = self.received;
        self.report.committed = received.committed.get();
        self.report.faulty = received.outcomes.get() - received.committed.get();
        self.report.summaries = received.summaries.get();
        self.report.resident_bytes_after = resident_bytes(self.pid);
        Ok(self.report)
    }

    fn measure_memory(&mut self) {
        let report = &mut self.report;
        report.resident_bytes_waiting = resident_bytes(self.pid);
        let grown = report.resident_bytes_waiting as f64 - report.resident_bytes_before as f64;
        report.resident_bytes_per_wait = grown / report.waits as f64;
    }
}

/// Returns the resident memory of a process, or 0 without one.
fn resident_bytes(pid: Option<u32>) -> u64 {
    let usage = pid.and_then(ProcessUsage::of);
    usage.map_or(0, |usage| usage.resident_bytes)
}

/// Reads the frames of a response until its end.
async fn read(
    mut stream: TcpStream,
    mut frames: FrameReader,
    received: Rc<Received>,
) -> io::Result<()> {
    loop {
        while let Some(frame) = frames.next()? {
            received.count(frame);
        }
        received.changed.notify_one();
        if frames.is_complete() {
            return Ok(());
        }
        frames.reserve(RECEIVE_BYTES);
        if stream.read_buf(frames.buffer()).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads of a balance, one after the other, on a thread of their own: this one is busy with
/// outcomes while they are measured.
struct Balances {
    durations: Arc<Mutex<Vec<Duration>>>,
}

impl Balances {
    fn start(requests: &Requests) -> io::Result<Self> {
        let durations = Arc::<Mutex<Vec<_>>>::default();
        let recorded = Arc::downgrade(&durations);
        let request = requests.balance();
        let mut node = Connection::new(Endpoint::plain(requests.address().to_owned()));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        thread::spawn(move || {
            runtime.block_on(async {
                // Ends with the run, whose submissions fail with the node.
                while let Some(recorded) = recorded.upgrade() {
                    let begin = Instant::now();
                    if node.exchange(&request).await.is_err() {
                        return;
                    }
                    let took = begin.elapsed();
                    let durations = recorded.lock();
                    durations.unwrap_or_else(PoisonError::into_inner).push(took);
                    drop(recorded);
                    sleep(READ_INTERVAL).await;
                }
            });
        });
        Ok(Self { durations })
    }

    /// Returns the durations since the last call.
    fn take(&self) -> Vec<Duration> {
        let durations = self.durations.lock();
        std::mem::take(&mut *durations.unwrap_or_else(PoisonError::into_inner))
    }
}
