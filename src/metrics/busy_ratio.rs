//! Share of recent time that threads spent on work.

use crate::histogram::nanos;
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Length of a window as an exponent: 2^33 ns, 8.6 s. This is long enough for a stable figure and
/// short enough to show a change, and a shift finds the window of a time.
const WINDOW_BITS: u32 = 33;
const WINDOW_NANOS: u64 = 1 << WINDOW_BITS;

/// The work of the current and the previous window, from which [`Self::permille`] estimates the
/// share of a sliding window.
///
/// Threads may record concurrently. If a window ends meanwhile, one of them may count its work in
/// the wrong window, which is accurate enough for operators.
#[derive(Debug)]
pub struct BusyRatio {
    created_at: Instant,
    window: AtomicU64,
    current_nanos: AtomicU64,
    previous_nanos: AtomicU64,
}

impl BusyRatio {
    /// Creates a ratio without any work. The first window begins now.
    pub fn new() -> Self {
        Self {
            created_at: Instant::now(),
            window: AtomicU64::new(0),
            current_nanos: AtomicU64::new(0),
            previous_nanos: AtomicU64::new(0),
        }
    }

    /// Records work that took `duration` and ended at `ended`.
    pub fn record(&self, ended: Instant, duration: Duration) {
        let window = self.nanos_at(ended) >> WINDOW_BITS;
        let current_window = self.window.load(Relaxed);
        if window > current_window
            && self
                .window
                .compare_exchange(current_window, window, Relaxed, Relaxed)
                .is_ok()
        {
            let current = self.current_nanos.swap(0, Relaxed);
            let previous = if window == current_window + 1 {
                current
            } else {
                0
            };
            self.previous_nanos.store(previous, Relaxed);
        }
        self.current_nanos.fetch_add(nanos(duration), Relaxed);
    }

    /// Returns the share of the time of `threads` that work took in the 8.6 s before `now`, in
    /// thousandths, at most 1,000. Work counts when it ends.
    pub fn permille(&self, now: Instant, threads: usize) -> u64 {
        let now_nanos = self.nanos_at(now);
        let current = self.current_nanos.load(Relaxed);
        let (current, previous) =
            match (now_nanos >> WINDOW_BITS).saturating_sub(self.window.load(Relaxed)) {
                0 => (current, self.previous_nanos.load(Relaxed)),
                1 => (0, current),
                _ => (0, 0),
            };
        let share_of_previous =
            (WINDOW_NANOS - now_nanos % WINDOW_NANOS) as f64 / WINDOW_NANOS as f64;
        let worked = current as f64 + previous as f64 * share_of_previous;
        let time = now_nanos.clamp(1, WINDOW_NANOS) as f64 * threads.max(1) as f64;
        ((worked / time * 1_000.0).round() as u64).min(1_000)
    }

    /// Returns the nanoseconds from the creation to `time`.
    fn nanos_at(&self, time: Instant) -> u64 {
        nanos(time.saturating_duration_since(self.created_at))
    }
}

impl Default for BusyRatio {
    /// Creates a ratio without any work, as [`Self::new`] does.
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time that is this number of windows after the creation.
    fn at(busy: &BusyRatio, count: f64) -> Instant {
        busy.created_at + windows(count)
    }

    /// Returns the duration of this number of windows.
    fn windows(count: f64) -> Duration {
        Duration::from_nanos((count * WINDOW_NANOS as f64) as u64)
    }

    #[test]
    fn slides_over_the_last_window() {
        let busy = BusyRatio::new();
        busy.record(at(&busy, 0.25), windows(0.125));
        assert_eq!(
            busy.permille(at(&busy, 0.5), 1),
            250,
            "only half a window has passed"
        );
        busy.record(at(&busy, 0.75), windows(0.375));
        assert_eq!(busy.permille(at(&busy, 1.0), 1), 500);
        assert_eq!(
            busy.permille(at(&busy, 1.5), 1),
            250,
            "half of the work is older than a window"
        );
        busy.record(at(&busy, 1.5), windows(0.25));
        assert_eq!(busy.permille(at(&busy, 1.5), 1), 500);
        assert_eq!(busy.permille(at(&busy, 2.5), 1), 125);
        assert_eq!(busy.permille(at(&busy, 3.5), 1), 0);
    }

    #[test]
    fn divides_by_the_number_of_threads() {
        let busy = BusyRatio::new();
        busy.record(at(&busy, 1.0), windows(0.5));
        assert_eq!(busy.permille(at(&busy, 1.0), 1), 500);
        assert_eq!(busy.permille(at(&busy, 1.0), 2), 250);
    }

    #[test]
    fn ignores_work_before_windows_without_any() {
        let busy = BusyRatio::new();
        busy.record(at(&busy, 1.5), windows(0.25));
        busy.record(at(&busy, 5.0), windows(0.125));
        assert_eq!(busy.permille(at(&busy, 5.0), 1), 125);
    }

    #[test]
    fn never_exceeds_the_time_of_the_window() {
        let busy = BusyRatio::new();
        busy.record(at(&busy, 9.0), windows(5.0));
        assert_eq!(busy.permille(at(&busy, 9.0), 1), 1_000);
        assert_eq!(busy.permille(at(&busy, 10.5), 1), 1_000);
        assert_eq!(busy.permille(at(&busy, 11.0), 1), 0);
    }
}
