//! The slow-client timers of an HTTP/2 connection and of its streams.
//!
//! The speed of a client is a property of its connection: what it reads of one response, it cannot
//! read of another at the same time. So all responses of a connection share one timer, and bytes
//! that are read of one response restore the time of all.

use crate::slow_client::SlowClientTimer;
use std::{
    cell::{Cell, RefCell},
    future::Future,
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// A response of which the client reads nothing is reset after this many timeouts of a connection,
/// although the client reads other responses. A client that reads all of its responses in turns
/// reaches each of them earlier.
const STREAM_TIMEOUTS: u32 = 10;

/// The timer of a connection, which runs while any of its responses waits for the client.
#[derive(Debug)]
pub struct ConnectionTimer {
    max: Duration,
    timer: RefCell<SlowClientTimer>,
    /// Number of responses that wait.
    waiting: Cell<usize>,
}

impl ConnectionTimer {
    /// Creates the timer of a client that may read nothing of all responses for `max`.
    pub fn new(max: Duration) -> Self {
        Self {
            max,
            timer: RefCell::new(SlowClientTimer::new(max, Instant::now())),
            waiting: Cell::new(0),
        }
    }

    /// Counts one more waiting response until the guard is dropped.
    fn start_waiting(&self, now: Instant) -> WaitGuard<'_> {
        self.waiting.set(self.waiting.get() + 1);
        self.timer.borrow_mut().start_waiting(now);
        WaitGuard { connection: self }
    }
}

/// A response that waits for the client.
struct WaitGuard<'a> {
    connection: &'a ConnectionTimer,
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let waiting = self.connection.waiting.get() - 1;
        self.connection.waiting.set(waiting);
        if waiting == 0 {
            let mut timer = self.connection.timer.borrow_mut();
            timer.stop_waiting(Instant::now());
        }
    }
}

/// The timer of one response.
#[derive(Debug)]
pub struct StreamTimer {
    connection: Rc<ConnectionTimer>,
    /// Time at which the client last read a part of the response.
    read_at: Instant,
}

impl StreamTimer {
    /// Creates the timer of a response that is about to be sent.
    pub fn new(connection: Rc<ConnectionTimer>) -> Self {
        Self {
            connection,
            read_at: Instant::now(),
        }
    }

    /// Restores the time of `bytes` of the response that the client has read.
    pub fn record_read(&mut self, bytes: usize) {
        self.record_read_at(bytes, Instant::now());
    }

    fn record_read_at(&mut self, bytes: usize, now: Instant) {
        self.read_at = now;
        self.connection.timer.borrow_mut().record_read(bytes, now);
    }

    /// Waits for the client. Returns `None` if the time runs out before `future` completes.
    pub async fn wait_for<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let _waiting = self.connection.start_waiting(Instant::now());
        let mut future = pin!(future);
        loop {
            // The client may have read another response meanwhile, which restores time.
            let remaining = self.remaining(Instant::now());
            if remaining.is_zero() {
                return None;
            }
            if let Ok(output) = timeout(remaining, &mut future).await {
                return Some(output);
            }
        }
    }

    /// Returns the remaining time of a response that waits.
    fn remaining(&self, now: Instant) -> Duration {
        let connection = &self.connection;
        let stream_max = connection.max.saturating_mul(STREAM_TIMEOUTS);
        let since_read = now.saturating_duration_since(self.read_at);
        let remaining = connection.timer.borrow_mut().start_waiting(now);
        remaining.min(stream_max.saturating_sub(since_read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(30);

    /// Returns after how many seconds, up to an hour, a response times out beside another one of
    /// which the client reads `other_bytes_per_sec`. With `is_read`, the client reads a byte of the
    /// first one occasionally.
    fn timeout_secs(other_bytes_per_sec: usize, is_read: bool) -> Option<u64> {
        let connection = Rc::new(ConnectionTimer::new(MAX));
        let mut stream = StreamTimer::new(Rc::clone(&connection));
        let mut other = StreamTimer::new(Rc::clone(&connection));
        let begin = Instant::now();
        let _waiting = connection.start_waiting(begin);
        (1..=3_600).find(|&second| {
            let now = begin + Duration::from_secs(second);
            // The server wakes when the time has run out, so bytes read in this second are late.
            let is_over = stream.remaining(now).is_zero();
            other.record_read_at(other_bytes_per_sec, now);
            if is_read && second % 100 == 0 {
                stream.record_read_at(1, now);
            }
            is_over
        })
    }

    #[test]
    fn restores_time_by_reads_of_other_responses() {
        assert_eq!(timeout_secs(0, true), Some(30));
        assert_eq!(timeout_secs(2_048, true), None);
        let slow = timeout_secs(1_024, true);
        assert!(
            slow.is_some_and(|seconds| (50..70).contains(&seconds)),
            "{slow:?}"
        );
    }

    #[test]
    fn times_out_a_response_that_is_not_read_beside_one_that_is() {
        let seconds = timeout_secs(2_048, false);
        assert!(
            seconds.is_some_and(|seconds| (299..=301).contains(&seconds)),
            "{seconds:?}"
        );
    }
}
