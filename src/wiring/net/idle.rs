//! When a connection of HTTP/1.1 has been without a request for as long as it may be.

use super::watched::Activity;
use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep};

/// How many looks, one after another, that see the same silence make a connection idle for as long as it may be. The
/// silence may have begun as long as one look before the first that saw it: so it is kept for a quarter longer at most.
const LOOKS: u32 = 4;

/// Looks from time to time whether there were requests.
pub struct Idle {
    look: Look,
    /// How many requests there had been when the last look saw that the connection waits for the next one.
    waits_after: Option<u64>,
    /// How many looks saw that it still waits for the same one.
    looks: u32,
}

impl Idle {
    /// Of a connection that may be idle for so long.
    pub fn after(keep_alive: Duration) -> Self {
        Self {
            look: Look::every(keep_alive / LOOKS),
            waits_after: None,
            looks: 0,
        }
    }

    /// Lets the dispatcher read the end of a connection on which no request came for as long as it may be idle;
    /// ready when it does not end then. The first request has its own deadline, as has one that began to come.
    pub fn poll(&mut self, activity: &Activity, context: &mut Context<'_>) -> Poll<()> {
        while self.look.poll(context).is_ready() {
            let calls = activity.calls();
            let waits = calls > 0 && !activity.is_serving() && !activity.is_head_begun();
            let waits_after = waits.then_some(calls);
            let still_waits = waits && waits_after == self.waits_after;
            self.looks = if still_waits { self.looks + 1 } else { 0 };
            self.waits_after = waits_after;
            if self.looks == LOOKS {
                activity.end_idle();
                context.waker().wake_by_ref();
            } else if self.looks > LOOKS {
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

    /// Lets so much time pass; gives whether the connection was ended.
    async fn pass(idle: &mut Idle, activity: &Activity, time: Duration) -> bool {
        let cut = timeout(time, poll_fn(|context| idle.poll(activity, context))).await;
        assert!(cut.is_err(), "it was not told that it ends");
        activity.had_last()
    }

    /// After how long the connection is ended.
    async fn ends_after(idle: &mut Idle, activity: &Activity) -> Duration {
        let begun = Instant::now();
        let ended = poll_fn(|context| {
            assert!(idle.poll(activity, context).is_pending());
            if activity.had_last() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        ended.await;
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_kept_for_as_long_as_is_set_after_any_request_and_for_a_quarter_more_at_most() {
        for served_ms in [0, 300, 999, 1_001, 7_900, 40_000] {
            for first_ms in [1, 500, 990, 3_700] {
                let activity = Rc::new(Activity::default());
                let mut idle = Idle::after(KEEP_ALIVE);
                assert!(!pass(&mut idle, &activity, Duration::from_millis(first_ms)).await);
                let serving = activity.serve();
                assert!(!pass(&mut idle, &activity, Duration::from_millis(served_ms)).await);
                drop(serving);
                let kept = ends_after(&mut idle, &activity).await;
                // The clock of the timers is one of milliseconds.
                let most = KEEP_ALIVE * 5 / 4 + Duration::from_millis(5);
                assert!(
                    (KEEP_ALIVE..=most).contains(&kept),
                    "{kept:?} after {first_ms}, {served_ms}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_has_another_deadline() {
        let activity = Rc::new(Activity::default());
        assert!(!pass(&mut Idle::after(KEEP_ALIVE), &activity, 10 * KEEP_ALIVE).await);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_does_not_end_although_it_is_told_is_cut() {
        let activity = Rc::new(Activity::default());
        let mut idle = Idle::after(KEEP_ALIVE);
        drop(activity.serve());
        ends_after(&mut idle, &activity).await;
        let cut = poll_fn(|context| idle.poll(&activity, context));
        assert!(timeout(KEEP_ALIVE, cut).await.is_ok());
    }
}
