//! How fast a client must take what is sent to it.
//!
//! Who waits for a client has so much patience. Waiting uses it up; each byte that is taken gives some
//! back, as much as it may take at the slowest speed that is borne, and so does each moment without waiting.
//! A client that reads nothing is cut after the whole of it, and so is, later, one that reads a byte now and
//! then.

use std::time::{Duration, Instant};

/// The slowest speed at which a client may read for long, in bytes a second: that of a bad modem.
const BYTES_PER_SEC_MIN: u32 = 2 * 1024;

/// The patience with one client.
#[derive(Debug)]
pub struct SlowClientTimer {
    max: Duration,
    left: Duration,
    /// When it was last counted.
    counted: Instant,
    /// Whether the client is waited for since.
    is_waiting: bool,
}

impl SlowClientTimer {
    /// With a client that may keep us waiting for `max` at once.
    pub fn new(max: Duration, now: Instant) -> Self {
        Self {
            max,
            left: max,
            counted: now,
            is_waiting: false,
        }
    }

    /// From now on the client is waited for: how long at most.
    pub fn wait(&mut self, now: Instant) -> Duration {
        self.count(now);
        self.is_waiting = true;
        self.left
    }

    /// The client that was waited for has taken so many bytes.
    pub fn took(&mut self, bytes: usize, now: Instant) {
        self.count(now);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let gained = Duration::from_secs(1) * bytes / BYTES_PER_SEC_MIN;
        self.left = self.left.saturating_add(gained).min(self.max);
    }

    /// From now on the client is not waited for.
    pub fn rest(&mut self, now: Instant) {
        self.count(now);
        self.is_waiting = false;
    }

    fn count(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.counted);
        self.counted = now;
        self.left = if self.is_waiting {
            self.left.saturating_sub(passed)
        } else {
            self.left.saturating_add(passed).min(self.max)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(30);

    /// A client that takes so many bytes each second, until it is cut or `seconds` are over: whether it was cut.
    fn is_cut(bytes_per_sec: usize, seconds: u64) -> bool {
        let begin = Instant::now();
        let mut patience = SlowClientTimer::new(MAX, begin);
        patience.wait(begin);
        (1..=seconds).any(|second| {
            let now = begin + Duration::from_secs(second);
            // Who waits has a clock that wakes it when the patience is over: what comes later comes too late.
            let is_over = patience.wait(now).is_zero();
            patience.took(bytes_per_sec, now);
            is_over
        })
    }

    #[test]
    fn who_reads_too_slowly_is_cut_and_who_reads_fast_enough_is_not() {
        assert!(is_cut(0, 30));
        assert!(!is_cut(0, 29));
        assert!(is_cut(1, 31));
        assert!(is_cut(1_500, 3_600));
        assert!(!is_cut(2_048, 36_000));
    }

    #[test]
    fn patience_comes_back_while_nobody_waits_and_never_beyond_its_whole() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut patience = SlowClientTimer::new(MAX, begin);
        patience.wait(begin);
        patience.rest(at(20));
        assert_eq!(patience.wait(at(25)), Duration::from_secs(15));
        patience.rest(at(26));
        assert_eq!(patience.wait(at(1_000)), MAX);
        patience.took(usize::MAX, at(1_001));
        assert_eq!(patience.wait(at(1_001)), MAX);
    }
}
