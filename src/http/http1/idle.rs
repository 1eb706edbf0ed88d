//! The idle deadline of an HTTP/1.1 connection between two requests.

use super::read_ahead::ConnectionState;
use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep};

/// Number of successive checks that must see the same silence before a connection has been idle for
/// too long. The silence may begin up to one interval before the first of them, so a connection is
/// kept for up to a quarter longer.
const CHECKS: u32 = 4;

/// Periodic check for requests, which costs less than a timer that is reset for each request.
pub struct Idle {
    look: Look,
    /// Number of requests served when the last check found the connection waiting for the next one.
    waits_after: Option<u64>,
    /// Number of checks since then that found it waiting for the same one.
    checks: u32,
}

impl Idle {
    /// Creates the deadline of a connection that may be idle for `keep_alive`.
    pub fn after(keep_alive: Duration) -> Self {
        Self {
            look: Look::every(keep_alive / CHECKS),
            waits_after: None,
            checks: 0,
        }
    }

    /// Ready once, when the connection has been idle for too long.
    ///
    /// The time before the first request and the head of a request have deadlines of their own.
    pub fn poll(&mut self, activity: &ConnectionState, context: &mut Context<'_>) -> Poll<()> {
        while self.look.poll(context).is_ready() {
            let calls = activity.calls();
            let waits = calls > 0 && !activity.is_serving() && !activity.is_head_begun();
            let waits_after = waits.then_some(calls);
            let still_waits = waits && waits_after == self.waits_after;
            self.checks = if still_waits { self.checks + 1 } else { 0 };
            self.waits_after = waits_after;
            if self.checks == CHECKS {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

/// A timer that rings again and again, and costs next to nothing when it is asked in between, as often as its connection's
/// dispatcher looks.
struct Look {
    every: Duration,
    /// When it rings next: the timer itself is in no cache when a connection has waited for long.
    rings_at: Instant,
    timer: Pin<Box<Sleep>>,
    /// Whom it wakes.
    waker: Option<Waker>,
}

impl Look {
    fn every(every: Duration) -> Self {
        Self {
            every,
            rings_at: Instant::now() + every,
            timer: Box::pin(sleep(every)),
            waker: None,
        }
    }

    /// Ready once for each ring.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let wakes_this = |waker: &Waker| waker.will_wake(context.waker());
        if self.waker.as_ref().is_some_and(wakes_this) && Instant::now() < self.rings_at {
            return Poll::Pending;
        }
        self.waker = Some(context.waker().clone());
        let rings = self.timer.as_mut().poll(context);
        if rings.is_ready() {
            self.rings_at = Instant::now() + self.every;
            self.timer.as_mut().reset(self.rings_at);
            self.waker = None;
        }
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, rc::Rc};
    use tokio::time::timeout;

    const KEEP_ALIVE: Duration = Duration::from_secs(4);

    /// Polls for `time`; returns whether the connection was idle for too long.
    async fn is_ended_within(idle: &mut Idle, activity: &ConnectionState, time: Duration) -> bool {
        timeout(time, ended(idle, activity)).await.is_ok()
    }

    async fn ended(idle: &mut Idle, activity: &ConnectionState) {
        poll_fn(|context| idle.poll(activity, context)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_a_connection_for_the_idle_time_and_up_to_a_quarter_longer() {
        for served_ms in [0, 300, 999, 1_001, 7_900, 40_000] {
            for first_ms in [1, 500, 990, 3_700] {
                let activity = Rc::new(ConnectionState::default());
                let mut idle = Idle::after(KEEP_ALIVE);
                assert!(
                    !is_ended_within(&mut idle, &activity, Duration::from_millis(first_ms)).await
                );
                let serving = activity.serve();
                assert!(
                    !is_ended_within(&mut idle, &activity, Duration::from_millis(served_ms)).await
                );
                drop(serving);
                let begun = Instant::now();
                ended(&mut idle, &activity).await;
                let kept = begun.elapsed();
                // tokio's timers count milliseconds.
                let most = KEEP_ALIVE * 5 / 4 + Duration::from_millis(5);
                assert!(
                    (KEEP_ALIVE..=most).contains(&kept),
                    "{kept:?} after {first_ms}, {served_ms}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn leaves_the_first_request_to_its_own_deadline() {
        let activity = Rc::new(ConnectionState::default());
        assert!(!is_ended_within(&mut Idle::after(KEEP_ALIVE), &activity, 10 * KEEP_ALIVE).await);
    }
}
