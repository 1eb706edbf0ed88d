//! The time in which the funding task empties its queue, for `Retry-After`.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Maximum of [`BatchTimes::retry_after_secs`]. A transaction of the faucet expires as long after
/// it is signed.
const RETRY_AFTER_SECS_MAX: u64 = 30;

/// Times of the batches of the funding task. The task takes requests from its queue when a batch
/// ends, so a full queue has capacity again at that time.
#[derive(Debug, Default)]
pub struct BatchTimes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Begin of the batch that is paid now.
    begun: Option<Instant>,
    /// Duration of the batch before it.
    last: Duration,
}

impl BatchTimes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures the duration of the payment of a batch.
    pub async fn measure(&self, payment: impl Future<Output = ()>) {
        let begun = Instant::now();
        self.state().begun = Some(begun);
        payment.await;
        *self.state() = State {
            begun: None,
            last: begun.elapsed(),
        };
    }

    /// Returns the estimated time until the queue has capacity, in seconds, from 1 to 30.
    ///
    /// A batch takes as long as the last one. One that has already taken longer, as while a sync is
    /// slow, is expected to take as long again.
    pub fn retry_after_secs(&self) -> u64 {
        let state = self.state();
        let elapsed = state.begun.map(|begun| begun.elapsed()).unwrap_or_default();
        let rest = state.last.checked_sub(elapsed).unwrap_or(elapsed);
        (rest.as_secs() + 1).min(RETRY_AFTER_SECS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep};

    #[tokio::test(start_paused = true)]
    async fn asks_for_a_retry_when_the_batch_is_expected_to_end() {
        let times = BatchTimes::default();
        assert_eq!(times.retry_after_secs(), 1);
        times.measure(sleep(Duration::from_millis(8_500))).await;
        assert_eq!(times.retry_after_secs(), 9);
        let during = async {
            let mut expected = Vec::new();
            for elapsed_secs in [0, 6, 2, 4, 100] {
                advance(Duration::from_secs(elapsed_secs)).await;
                expected.push(times.retry_after_secs());
            }
            assert_eq!(expected, [9, 3, 1, 13, RETRY_AFTER_SECS_MAX]);
        };
        times.measure(during).await;
        assert_eq!(times.retry_after_secs(), RETRY_AFTER_SECS_MAX);
    }
}
