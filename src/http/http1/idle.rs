//! The idle deadline of an HTTP/1.1 connection between two requests.

use super::state::ConnectionState;
use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep};

/// Number of successive checks that must find the connection idle. The idle time may begin up to
/// one interval before the first of them, so a connection is closed up to a quarter later.
const CHECKS: u32 = 4;

/// A periodic check for requests, which costs less than a timer that is reset for each request.
pub struct IdleDeadline {
    interval: CheckInterval,
    /// Number of requests before the idle time, if the last check found the connection idle.
    idle_after: Option<u64>,
    /// Number of later checks that found it idle after the same request.
    checks: u32,
}

impl IdleDeadline {
    /// Creates the deadline of a connection that may be idle for `keep_alive`.
    pub fn after(keep_alive: Duration) -> Self {
        Self {
            interval: CheckInterval::new(keep_alive / CHECKS),
            idle_after: None,
            checks: 0,
        }
    }

    /// Waits until the connection has been idle for too long. Completes once.
    ///
    /// The time before the first request and the head of a request have deadlines of their own.
    pub fn poll(&mut self, state: &ConnectionState, context: &mut Context<'_>) -> Poll<()> {
        while self.interval.poll(context).is_ready() {
            let requests = state.requests();
            let is_idle = requests > 0 && !state.is_serving() && !state.has_partial_head();
            let idle_after = is_idle.then_some(requests);
            let is_still_idle = is_idle && idle_after == self.idle_after;
            self.checks = if is_still_idle { self.checks + 1 } else { 0 };
            self.idle_after = idle_after;
            if self.checks == CHECKS {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

/// An interval that is polled much more often than it elapses: with each poll of its connection's
/// dispatcher.
struct CheckInterval {
    period: Duration,
    /// A copy of the timer's deadline. Reading the timer itself would be a cache miss on a
    /// connection that has waited for long.
    deadline: Instant,
    timer: Pin<Box<Sleep>>,
    /// The waker that is registered with the timer.
    waker: Option<Waker>,
}

impl CheckInterval {
    fn new(period: Duration) -> Self {
        Self {
            period,
            deadline: Instant::now() + period,
            timer: Box::pin(sleep(period)),
            waker: None,
        }
    }

    /// Completes once per period.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_registered = |waker: &Waker| waker.will_wake(context.waker());
        if self.waker.as_ref().is_some_and(is_registered) && Instant::now() < self.deadline {
            return Poll::Pending;
        }
        self.waker = Some(context.waker().clone());
        let elapsed = self.timer.as_mut().poll(context);
        if elapsed.is_ready() {
            self.deadline = Instant::now() + self.period;
            self.timer.as_mut().reset(self.deadline);
            self.waker = None;
        }
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, rc::Rc};
    use tokio::time::timeout;

    const KEEP_ALIVE: Duration = Duration::from_secs(4);

    /// Returns whether the connection has been idle for too long within `time`.
    async fn elapses_within(
        deadline: &mut IdleDeadline,
        state: &ConnectionState,
        time: Duration,
    ) -> bool {
        timeout(time, elapsed(deadline, state)).await.is_ok()
    }

    async fn elapsed(deadline: &mut IdleDeadline, state: &ConnectionState) {
        poll_fn(|context| deadline.poll(state, context)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn allows_the_idle_time_and_up_to_a_quarter_more() {
        for served_ms in [0, 300, 999, 1_001, 7_900, 40_000] {
            for first_ms in [1, 500, 990, 3_700] {
                let state = Rc::new(ConnectionState::default());
                let mut deadline = IdleDeadline::after(KEEP_ALIVE);
                let first = Duration::from_millis(first_ms);
                assert!(!elapses_within(&mut deadline, &state, first).await);
                let request = state.begin_request();
                let served = Duration::from_millis(served_ms);
                assert!(!elapses_within(&mut deadline, &state, served).await);
                drop(request);
                let begin = Instant::now();
                elapsed(&mut deadline, &state).await;
                let idle = begin.elapsed();
                // tokio's timers count milliseconds.
                let max = KEEP_ALIVE * 5 / 4 + Duration::from_millis(5);
                assert!(
                    (KEEP_ALIVE..=max).contains(&idle),
                    "{idle:?} after {first_ms}, {served_ms}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn leaves_the_first_request_to_its_own_deadline() {
        let state = Rc::new(ConnectionState::default());
        let mut deadline = IdleDeadline::after(KEEP_ALIVE);
        assert!(!elapses_within(&mut deadline, &state, 10 * KEEP_ALIVE).await);
    }
}
