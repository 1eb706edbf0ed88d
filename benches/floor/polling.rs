//! Waits that poll, as on the Aptos full node, for comparison with the floor's own waits.
//!
//! A waiting request checks at intervals whether it is done. The number of waiting requests is
//! limited. A further request receives the pending form immediately, and its client repeats it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// The polling requests of all HTTP threads. Clones share their limit.
#[derive(Debug, Clone)]
pub struct Polling {
    interval: Duration,
    limit: Arc<PollLimit>,
}

/// A limit on the number of waiting requests.
#[derive(Debug)]
struct PollLimit {
    max: usize,
    taken: AtomicUsize,
}

/// A permit of one waiting request. Dropping it releases the permit, also if the client
/// disconnects.
struct PollPermit<'a>(&'a PollLimit);

impl Polling {
    /// Creates a limit of `parked_max` waiting requests, each of which polls every `interval`.
    pub fn new(interval: Duration, parked_max: usize) -> Self {
        let limit = PollLimit {
            max: parked_max,
            taken: AtomicUsize::new(0),
        };
        Self {
            interval,
            limit: Arc::new(limit),
        }
    }

    /// Waits until `is_done` returns true. Returns false if the limit is reached.
    pub async fn wait(&self, is_done: impl Fn() -> bool) -> bool {
        let Some(_permit) = self.limit.take() else {
            return false;
        };
        while !is_done() {
            actix_web::rt::time::sleep(self.interval).await;
        }
        true
    }
}

impl PollLimit {
    fn take(&self) -> Option<PollPermit<'_>> {
        let one_more = |taken| (taken < self.max).then_some(taken + 1);
        let taken = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.ok().map(|_| PollPermit(self))
    }
}

impl Drop for PollPermit<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, future::ready, pin::Pin};

    /// Polls the future once and returns whether it is pending.
    async fn waits(future: &mut Pin<Box<impl Future<Output = bool>>>) -> bool {
        tokio::select! {
            biased;
            _ = future => false,
            () = ready(()) => true,
        }
    }

    #[actix_web::test]
    async fn limits_waiting_requests_and_releases_the_permit_of_a_dropped_one() {
        let polling = Polling::new(Duration::from_millis(1), 2);
        let is_done = Cell::new(false);
        let mut first = Box::pin(polling.wait(|| is_done.get()));
        let mut second = Box::pin(polling.wait(|| is_done.get()));
        assert!(waits(&mut first).await);
        assert!(waits(&mut second).await);
        assert!(!polling.wait(|| true).await, "the limit is two");
        drop(first);
        is_done.set(true);
        assert!(polling.wait(|| true).await);
        assert!(second.await);
    }
}
