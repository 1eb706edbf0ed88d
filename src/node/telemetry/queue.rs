//! A bounded queue of log lines, written to standard error by a thread of its own.
//!
//! A write to standard error blocks while its reader does not read: a full pipe, a stopped
//! terminal, a disk that hangs. Threads that log therefore append to a buffer, and one thread
//! writes. A line that does not fit into the buffer is lost and counted. Once standard error
//! accepts lines again, the log reports the number of lost lines. `docs/decisions/log-queue.md`
//! compares this with a library.

use std::{
    io, mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

/// Maximum size of the waiting lines, in bytes: about 8,000 lines of requests.
///
/// The queue takes twice as much memory while the writer writes the previous lines.
pub const QUEUE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A bounded queue of log lines.
///
/// No method waits for standard error except [`Self::flush`], which has a timeout.
#[derive(Debug)]
pub struct LogQueue {
    capacity_bytes: usize,
    state: Mutex<State>,
    /// Notified when a line is appended while the writer is idle.
    appended: Condvar,
    /// Notified when the writer has written a batch.
    written: Condvar,
    /// Number of lost lines. Relaxed, because it orders no other memory access.
    lost_lines: AtomicU64,
}

/// The state of a queue, behind its lock.
#[derive(Debug, Default)]
struct State {
    /// The waiting lines.
    lines: Vec<u8>,
    /// Total size of all lines that were ever appended.
    appended_bytes: u64,
    /// Total size of the lines that were written, or failed to be written.
    finished_bytes: u64,
    /// Value of `appended_bytes` after the newest report of lost lines.
    reported_bytes: u64,
    /// Whether the writer waits for a line.
    is_idle: bool,
    /// Thread of the writer, once it runs.
    writer: Option<ThreadId>,
}

impl State {
    fn append(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line);
        self.appended_bytes = self.appended_bytes.saturating_add(line.len() as u64);
    }
}

impl LogQueue {
    /// Creates an empty queue for at most this many bytes of waiting lines.
    pub fn new(capacity_bytes: usize) -> Self {
        Self {
            capacity_bytes,
            state: Mutex::new(State {
                lines: Vec::with_capacity(capacity_bytes),
                ..State::default()
            }),
            appended: Condvar::new(),
            written: Condvar::new(),
            lost_lines: AtomicU64::new(0),
        }
    }

    /// Appends a line, or counts it as lost if the queue is full.
    ///
    /// Lines of the writer itself are always appended: it logs at most one per batch, the report of
    /// lost lines.
    pub fn push(&self, line: &[u8]) {
        let mut state = self.lock();
        let size_bytes = state.lines.len().saturating_add(line.len());
        if size_bytes > self.capacity_bytes && state.writer != Some(thread::current().id()) {
            drop(state);
            self.lost_lines.fetch_add(1, Relaxed);
            return;
        }
        state.append(line);
        self.wake_writer(state);
    }

    /// Appends a line even if the queue is full: the last line of the process, which states its
    /// error.
    pub fn push_last(&self, line: &[u8]) {
        let mut state = self.lock();
        state.append(line);
        self.wake_writer(state);
    }

    /// Returns the number of lines that were lost because the queue was full or standard error
    /// could not be written.
    pub fn lost_lines(&self) -> u64 {
        self.lost_lines.load(Relaxed)
    }

    /// Returns the number of bytes that were written, and whether more wait or are being written.
    pub fn progress(&self) -> (u64, bool) {
        let state = self.lock();
        let done = state.finished_bytes;
        (done, done < state.appended_bytes)
    }

    /// Returns whether the caller runs on the thread of the writer.
    pub fn is_writer(&self) -> bool {
        self.lock().writer == Some(thread::current().id())
    }

    /// Waits until all lines that were appended before the call and the newest report of lost lines
    /// are written. Returns whether they are.
    pub fn flush(&self, timeout: Duration) -> bool {
        let begun = Instant::now();
        let mut state = self.lock();
        let target_bytes = state.appended_bytes;
        while state.finished_bytes < target_bytes.max(state.reported_bytes) {
            let Some(remaining) = timeout.checked_sub(begun.elapsed()) else {
                return false;
            };
            let waited = self.written.wait_timeout(state, remaining);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// Writes lines until the process ends.
    ///
    /// `write` writes some of the bytes and returns their number. `report` logs the number of lines
    /// that were lost since its last call.
    pub fn run_writer(
        &self,
        mut write: impl FnMut(&[u8]) -> io::Result<usize>,
        mut report: impl FnMut(u64),
    ) -> ! {
        let mut batch = Vec::with_capacity(self.capacity_bytes);
        let mut reported_lines = 0;
        loop {
            self.next_batch(&mut batch);
            let mut is_reported = false;
            match write_batch(&batch, &mut write) {
                Ok(()) => {
                    let lost_lines = self.lost_lines();
                    if lost_lines > reported_lines {
                        // The report follows the lines that filled the queue, as the lost lines
                        // would.
                        report(lost_lines.saturating_sub(reported_lines));
                        reported_lines = lost_lines;
                        is_reported = true;
                    }
                }
                // No report: it could be lost as well, and would then be reported without end.
                Err(lost_lines) => {
                    self.lost_lines.fetch_add(lost_lines, Relaxed);
                }
            }
            let mut state = self.lock();
            if is_reported {
                state.reported_bytes = state.appended_bytes;
            }
            state.finished_bytes = state.finished_bytes.saturating_add(batch.len() as u64);
            drop(state);
            self.written.notify_all();
        }
    }

    /// Waits for lines and moves all of them to `batch`.
    fn next_batch(&self, batch: &mut Vec<u8>) {
        batch.clear();
        let mut state = self.lock();
        state.writer = Some(thread::current().id());
        while state.lines.is_empty() {
            state.is_idle = true;
            state = self
                .appended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.is_idle = false;
        mem::swap(&mut state.lines, batch);
    }

    fn wake_writer(&self, mut state: MutexGuard<'_, State>) {
        let is_idle = mem::take(&mut state.is_idle);
        drop(state);
        if is_idle {
            self.appended.notify_one();
        }
    }

    /// Ignores poisoning, because a panic must not silence the log. The state is consistent between
    /// any two statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes all lines of a batch.
///
/// # Errors
///
/// Returns the number of lines that were not written completely.
fn write_batch(
    mut rest: &[u8],
    write: &mut impl FnMut(&[u8]) -> io::Result<usize>,
) -> Result<(), u64> {
    let lines = |rest: &[u8]| rest.iter().filter(|&&byte| byte == b'\n').count() as u64;
    while !rest.is_empty() {
        match write(rest) {
            Ok(0) => return Err(lines(rest)),
            Ok(written_bytes) => rest = rest.get(written_bytes..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(lines(rest)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, mpsc};

    const LINE: &[u8] = b"0123456\n";
    /// Time limit of a test.
    const FLUSH_TIMEOUT: Duration = Duration::from_secs(120);

    /// Returns a queue of two lines, the sender of permits for one write each, and the written
    /// bytes.
    fn queue() -> (
        Arc<LogQueue>,
        mpsc::Sender<io::Result<()>>,
        mpsc::Receiver<Vec<u8>>,
    ) {
        let queue = Arc::new(LogQueue::new(2 * LINE.len()));
        let (permit, permits) = mpsc::channel::<io::Result<()>>();
        let (sink, written) = mpsc::channel();
        let writer = Arc::clone(&queue);
        // The thread ends with the process, as in the node.
        thread::spawn(move || {
            let reported = Arc::clone(&writer);
            writer.run_writer(
                |bytes| {
                    // The test has ended.
                    let Ok(outcome) = permits.recv() else {
                        loop {
                            thread::park();
                        }
                    };
                    outcome?;
                    let _ = sink.send(bytes.to_vec());
                    Ok(bytes.len())
                },
                |lines| reported.push(format!("lost {lines}\n").as_bytes()),
            )
        });
        (queue, permit, written)
    }

    /// Pushes a line and waits until the writer has received it and waits for a permit.
    fn occupy_writer(queue: &LogQueue) {
        queue.push(LINE);
        while !queue.lock().lines.is_empty() {
            thread::yield_now();
        }
    }

    #[test]
    fn reports_lines_beyond_its_capacity_after_the_lines_before_them() {
        let (queue, permit, written) = queue();
        occupy_writer(&queue);
        for _ in 0..5 {
            queue.push(LINE);
        }
        assert_eq!(queue.lost_lines(), 3, "two lines fit");
        permit.send(Ok(())).unwrap();
        permit.send(Ok(())).unwrap();
        assert_eq!(written.recv().unwrap(), LINE);
        assert_eq!(written.recv().unwrap(), [LINE, LINE, b"lost 3\n"].concat());
        assert!(queue.flush(FLUSH_TIMEOUT));
        queue.push(LINE);
        permit.send(Ok(())).unwrap();
        assert!(queue.flush(FLUSH_TIMEOUT));
        assert_eq!(queue.lost_lines(), 3, "there is room again");
    }

    #[test]
    fn flushes_until_the_last_line_or_the_timeout() {
        let (queue, permit, written) = queue();
        assert!(queue.flush(Duration::ZERO), "there is nothing to write");
        occupy_writer(&queue);
        assert!(
            !queue.flush(Duration::from_millis(1)),
            "no write is permitted"
        );
        permit.send(Ok(())).unwrap();
        assert!(queue.flush(FLUSH_TIMEOUT));
        assert_eq!(written.try_recv().unwrap(), LINE);
    }

    #[test]
    fn appends_the_last_line_even_if_it_is_full() {
        let (queue, permit, written) = queue();
        occupy_writer(&queue);
        for _ in 0..3 {
            queue.push(LINE);
        }
        queue.push_last(b"fatal\n");
        for _ in 0..3 {
            permit.send(Ok(())).unwrap();
        }
        assert!(queue.flush(FLUSH_TIMEOUT));
        let text: Vec<u8> = written.try_iter().flatten().collect();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("fatal\n"), "{text}");
    }

    #[test]
    fn reports_lines_that_cannot_be_written_after_the_next_line() {
        let (queue, permit, written) = queue();
        permit.send(Err(io::ErrorKind::StorageFull.into())).unwrap();
        queue.push(&[LINE, LINE].concat());
        assert!(queue.flush(FLUSH_TIMEOUT));
        assert_eq!(queue.lost_lines(), 2);
        permit.send(Ok(())).unwrap();
        permit.send(Ok(())).unwrap();
        queue.push(LINE);
        assert_eq!(written.recv().unwrap(), LINE);
        assert_eq!(written.recv().unwrap(), b"lost 2\n");
    }

    #[test]
    fn writes_the_rest_of_a_line_after_a_short_or_interrupted_write() {
        let mut written = Vec::new();
        let mut is_interrupted = false;
        let outcome = write_batch(LINE, &mut |bytes| {
            is_interrupted = !is_interrupted;
            if is_interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            written.push(bytes[0]);
            Ok(1)
        });
        assert_eq!(outcome, Ok(()));
        assert_eq!(written, LINE);
        assert_eq!(write_batch(&[LINE, LINE].concat(), &mut |_| Ok(0)), Err(2));
    }
}
