//! The choice of the requests that a busy thread records in its traffic.

use fastrand::Rng;
use std::time::{Duration, Instant};

/// Number of requests of a second that a busy thread records, up to twice as many. The record of
/// one takes some microseconds, mostly for the clock of the thread's processor time, so all of them
/// take about a thousandth of a core. With a few hundred in the last seconds, the share of a client
/// that causes half of the work is exact to about three percent.
const SAMPLES_PER_SECOND: u32 = 64;

/// Maximum number of requests that one recorded request stands for.
const ONE_IN_MAX: u32 = 1 << 12;

/// Time after which the frequency of samples is determined again.
const SAMPLING_PERIOD: Duration = Duration::from_secs(1);

/// The choice of the requests of a thread that are recorded.
#[derive(Debug)]
pub(super) struct Sampling {
    began_at: Instant,
    /// Number of requests since then.
    requests: u32,
    /// Number of requests that a recorded one stands for, a power of two.
    one_in: u32,
    /// Clients do not know the numbers, so they cannot send the requests that are not recorded.
    random: Rng,
}

impl Sampling {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began_at: now,
            requests: 0,
            one_in: 1,
            random: Rng::new(),
        }
    }

    /// Returns the number of requests that a request stands for, or `None` if it is not recorded.
    pub(super) fn sample(&mut self, now: Instant) -> Option<u32> {
        if now.saturating_duration_since(self.began_at) >= SAMPLING_PERIOD {
            let one_in = (self.requests / SAMPLES_PER_SECOND).clamp(1, ONE_IN_MAX);
            // The power of two that records more.
            self.one_in = 1 << one_in.ilog2();
            (self.began_at, self.requests) = (now, 0);
        }
        self.requests = self.requests.saturating_add(1);
        (self.one_in == 1 || self.random.u32(..self.one_in) == 0).then_some(self.one_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the recorded weights of `per_second` requests in each of some seconds.
    fn weights(per_second: u32, seconds: u32) -> Vec<Vec<u32>> {
        let start = Instant::now();
        let mut sampling = Sampling::new(start);
        let second = |second: u32| {
            let began_at = start + SECOND * second;
            let times = (0..per_second).map(|number| began_at + SECOND / per_second * number);
            times.filter_map(|now| sampling.sample(now)).collect()
        };
        (0..seconds).map(second).collect()
    }

    #[test]
    fn records_every_request_of_a_quiet_thread() {
        for weights in weights(SAMPLES_PER_SECOND, 5) {
            assert_eq!(weights, vec![1; SAMPLES_PER_SECOND as usize]);
        }
    }

    #[test]
    fn records_a_bounded_sample_of_a_busy_thread_that_stands_for_all() {
        let per_second = 100 * SAMPLES_PER_SECOND;
        let seconds = weights(per_second, 33);
        let mut sum = 0;
        // The first second, before the frequency is known, has all.
        for weights in &seconds[1..] {
            let samples = weights.len() as u32;
            let bounds = SAMPLES_PER_SECOND / 2..=4 * SAMPLES_PER_SECOND;
            assert!(bounds.contains(&samples), "{samples} samples");
            sum += weights.iter().sum::<u32>();
        }
        let ratio = f64::from(sum) / f64::from(32 * per_second);
        assert!((0.85..1.15).contains(&ratio), "{ratio} of the requests");
    }
}
