//! The reference's way of waiting, which stands beside the floor's own under the same load: a request that
//! waits looks every so often whether it is done, and only so many wait at once; the others are told at once
//! that theirs is pending, and ask again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// The requests of all HTTP threads that wait in this way.
#[derive(Debug, Clone)]
pub struct Polling {
    interval: Duration,
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    max: usize,
    taken: AtomicUsize,
}

/// A place, free again when it is dropped: also by a client that goes away.
struct Place<'a>(&'a Places);

impl Polling {
    /// At most `parked_max` requests wait at once, and look every `interval`.
    pub fn new(interval: Duration, parked_max: usize) -> Self {
        let places = Places {
            max: parked_max,
            taken: AtomicUsize::new(0),
        };
        Self {
            interval,
            places: Arc::new(places),
        }
    }

    /// Waits until `is_done`; false when too many wait already.
    pub async fn wait(&self, is_done: impl Fn() -> bool) -> bool {
        let Some(_place) = self.places.take() else {
            return false;
        };
        while !is_done() {
            actix_web::rt::time::sleep(self.interval).await;
        }
        true
    }
}

impl Places {
    fn take(&self) -> Option<Place<'_>> {
        let one_more = |taken| (taken < self.max).then_some(taken + 1);
        let taken = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.ok().map(|_| Place(self))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, future::ready, pin::Pin};

    /// Whether it waits, having been asked once.
    async fn waits(future: &mut Pin<Box<impl Future<Output = bool>>>) -> bool {
        tokio::select! {
            biased;
            _ = future => false,
            () = ready(()) => true,
        }
    }

    #[actix_web::test]
    async fn so_many_wait_at_once_and_who_leaves_makes_room() {
        let polling = Polling::new(Duration::from_millis(1), 2);
        let is_done = Cell::new(false);
        let mut first = Box::pin(polling.wait(|| is_done.get()));
        let mut second = Box::pin(polling.wait(|| is_done.get()));
        assert!(waits(&mut first).await);
        assert!(waits(&mut second).await);
        assert!(
            !polling.wait(|| true).await,
            "there is no room for a third one"
        );
        drop(first);
        is_done.set(true);
        assert!(polling.wait(|| true).await);
        assert!(second.await);
    }
}
