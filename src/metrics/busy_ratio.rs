//! What share of the time somebody was at work lately.

use crate::nanos;
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// A window has 2^33 ns, 8.6 s: long enough for an even figure, short enough to see a change, and found by a
/// shift.
const WINDOW_BITS: u32 = 33;
const WINDOW_NANOS: u64 = 1 << WINDOW_BITS;

/// The work of this window and of the one before.
///
/// Several may record at once: at the turn of a window what one of them adds may then be counted to the wrong
/// one, which a figure for people bears.
#[derive(Debug)]
pub struct BusyRatio {
    since: Instant,
    window: AtomicU64,
    current_nanos: AtomicU64,
    previous_nanos: AtomicU64,
}

impl BusyRatio {
    /// Nothing was done yet.
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
            window: AtomicU64::new(0),
            current_nanos: AtomicU64::new(0),
            previous_nanos: AtomicU64::new(0),
        }
    }

    /// Work that took so long has ended.
    pub fn record(&self, ended: Instant, took: Duration) {
        let window = self.nanos_at(ended) >> WINDOW_BITS;
        let seen = self.window.load(Relaxed);
        if window > seen
            && self
                .window
                .compare_exchange(seen, window, Relaxed, Relaxed)
                .is_ok()
        {
            let current = self.current_nanos.swap(0, Relaxed);
            let previous = if window == seen + 1 { current } else { 0 };
            self.previous_nanos.store(previous, Relaxed);
        }
        self.current_nanos.fetch_add(nanos(took), Relaxed);
    }

    /// The share of `threads` that was taken in the last 8.6 s, in thousandths. Work is counted when it ends.
    pub fn permille(&self, now: Instant, threads: usize) -> u64 {
        let now_nanos = self.nanos_at(now);
        let current = self.current_nanos.load(Relaxed);
        let (current, previous) =
            match (now_nanos >> WINDOW_BITS).saturating_sub(self.window.load(Relaxed)) {
                0 => (current, self.previous_nanos.load(Relaxed)),
                1 => (0, current),
                _ => (0, 0),
            };
        let left_of_previous =
            (WINDOW_NANOS - now_nanos % WINDOW_NANOS) as f64 / WINDOW_NANOS as f64;
        let worked = current as f64 + previous as f64 * left_of_previous;
        let time = now_nanos.clamp(1, WINDOW_NANOS) as f64 * threads.max(1) as f64;
        ((worked / time * 1_000.0).round() as u64).min(1_000)
    }

    fn nanos_at(&self, moment: Instant) -> u64 {
        nanos(moment.saturating_duration_since(self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment, in windows after the beginning.
    fn at(busy: &BusyRatio, windows: f64) -> Instant {
        busy.since + Duration::from_nanos((windows * WINDOW_NANOS as f64) as u64)
    }

    fn windows(count: f64) -> Duration {
        Duration::from_nanos((count * WINDOW_NANOS as f64) as u64)
    }

    #[test]
    fn the_share_is_of_the_last_window_wherever_that_begins() {
        let busy = BusyRatio::new();
        busy.record(at(&busy, 0.25), windows(0.125));
        assert_eq!(
            busy.permille(at(&busy, 0.5), 1),
            250,
            "of the time there was"
        );
        busy.record(at(&busy, 0.75), windows(0.375));
        assert_eq!(busy.permille(at(&busy, 1.0), 1), 500);
        assert_eq!(
            busy.permille(at(&busy, 1.5), 1),
            250,
            "half of it has passed"
        );
        busy.record(at(&busy, 1.5), windows(0.25));
        assert_eq!(busy.permille(at(&busy, 1.5), 1), 500);
        assert_eq!(busy.permille(at(&busy, 1.5), 2), 250, "of two threads");
        assert_eq!(busy.permille(at(&busy, 2.5), 1), 125);
        assert_eq!(busy.permille(at(&busy, 3.5), 1), 0);
        busy.record(at(&busy, 5.0), windows(0.125));
        assert_eq!(
            busy.permille(at(&busy, 5.0), 1),
            125,
            "windows without work were between"
        );
        busy.record(at(&busy, 9.0), windows(5.0));
        assert_eq!(
            busy.permille(at(&busy, 9.0), 1),
            1_000,
            "never more than all"
        );
        assert_eq!(busy.permille(at(&busy, 10.5), 1), 1_000);
        assert_eq!(busy.permille(at(&busy, 11.0), 1), 0);
    }
}
