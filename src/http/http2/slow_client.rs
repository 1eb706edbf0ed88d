//! The patience with the client of a connection, which the answers that are sent over it share: how fast the
//! line is, is a matter of the connection, and what one answer gets the others do not.

use crate::slow_client::SlowClientTimer;
use std::{
    cell::{Cell, RefCell},
    future::Future,
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// An answer of which nothing is taken is given up after so many times what a connection may take, although
/// others of its connection are taken: its client lets nothing of it come. A client that takes all of its answers
/// by turns gets to each of them in less.
const STREAM_TIMEOUTS: u32 = 10;

/// The patience with a connection, while any of its answers waits for the client.
#[derive(Debug)]
pub struct ConnectionTimer {
    max: Duration,
    patience: RefCell<SlowClientTimer>,
    /// How many answers wait.
    waiting: Cell<usize>,
}

impl ConnectionTimer {
    /// With a client that may keep all answers waiting for `max` at once.
    pub fn new(max: Duration) -> Self {
        Self {
            max,
            patience: RefCell::new(SlowClientTimer::new(max, Instant::now())),
            waiting: Cell::new(0),
        }
    }

    fn wait(&self, now: Instant) -> Waiting<'_> {
        self.waiting.set(self.waiting.get() + 1);
        self.patience.borrow_mut().wait(now);
        Waiting(self)
    }
}

/// One answer waits until this is dropped.
struct Waiting<'a>(&'a ConnectionTimer);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waiting = self.0.waiting.get() - 1;
        self.0.waiting.set(waiting);
        if waiting == 0 {
            self.0.patience.borrow_mut().rest(Instant::now());
        }
    }
}

/// The patience with one answer.
#[derive(Debug)]
pub struct StreamTimer {
    connection: Rc<ConnectionTimer>,
    /// When something of it was taken.
    taken: Instant,
}

impl StreamTimer {
    /// Of an answer that begins to be sent.
    pub fn new(connection: Rc<ConnectionTimer>) -> Self {
        Self {
            connection,
            taken: Instant::now(),
        }
    }

    /// The client has taken so many bytes of the answer.
    pub fn took(&mut self, bytes: usize) {
        self.took_at(bytes, Instant::now());
    }

    fn took_at(&mut self, bytes: usize, now: Instant) {
        self.taken = now;
        self.connection.patience.borrow_mut().took(bytes, now);
    }

    /// Waits for the client; `None` where the patience is over first.
    pub async fn bear<T>(&self, awaited: impl Future<Output = T>) -> Option<T> {
        let _waiting = self.connection.wait(Instant::now());
        let mut awaited = pin!(awaited);
        loop {
            // Another answer may have given some back meanwhile.
            let left = self.left(Instant::now());
            if left.is_zero() {
                return None;
            }
            if let Ok(came) = timeout(left, &mut awaited).await {
                return Some(came);
            }
        }
    }

    /// How long the client is waited for, while it is.
    fn left(&self, now: Instant) -> Duration {
        let connection = &self.connection;
        let of_stream = connection.max.saturating_mul(STREAM_TIMEOUTS);
        let of_stream = of_stream.saturating_sub(now.saturating_duration_since(self.taken));
        connection.patience.borrow_mut().wait(now).min(of_stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(30);

    /// An answer that waits beside another one, of which so many bytes are taken each second: after how many
    /// seconds it is given up, at most an hour.
    fn given_up_after(bytes_per_sec_of_other: usize, is_taken_too: bool) -> Option<u64> {
        let connection = Rc::new(ConnectionTimer::new(MAX));
        let mut waits = StreamTimer::new(Rc::clone(&connection));
        let mut other = StreamTimer::new(Rc::clone(&connection));
        let begin = Instant::now();
        let _waiting = connection.wait(begin);
        (1..=3_600).find(|&second| {
            let now = begin + Duration::from_secs(second);
            // Whoever waits looks when the time is over, and what comes then is late.
            let is_over = waits.left(now).is_zero();
            other.took_at(bytes_per_sec_of_other, now);
            if is_taken_too && second % 100 == 0 {
                waits.took_at(1, now);
            }
            is_over
        })
    }

    #[test]
    fn what_another_answer_of_the_connection_gets_counts() {
        assert_eq!(given_up_after(0, true), Some(30));
        assert_eq!(given_up_after(2_048, true), None);
        let slow = given_up_after(1_024, true);
        assert!(
            slow.is_some_and(|seconds| (50..70).contains(&seconds)),
            "{slow:?}"
        );
    }

    #[test]
    fn an_answer_of_which_nothing_is_taken_is_given_up_later() {
        let seconds = given_up_after(2_048, false);
        assert!(
            seconds.is_some_and(|seconds| (299..=301).contains(&seconds)),
            "{seconds:?}"
        );
    }
}
