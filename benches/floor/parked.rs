//! Requests of one HTTP thread that wait for a sync, ordered by transaction number.
//!
//! The log thread wakes each HTTP thread once per sync, for all of its requests.

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, rc::Rc, sync::Arc};
use tokio::sync::{Notify, oneshot};

/// A notification of one HTTP thread. A ring without a waiting task is stored.
#[derive(Debug, Default)]
pub struct Bell(Notify);

impl Bell {
    /// Wakes the task of the thread.
    pub fn ring(&self) {
        self.0.notify_one();
    }

    /// Returns whether the bell has rung since the last wake-up.
    #[cfg(test)]
    pub async fn has_rung(&self) -> bool {
        tokio::select! {
            biased;
            () = self.0.notified() => true,
            () = std::future::ready(()) => false,
        }
    }
}

/// A waiting request. Requests are ordered by the number of their transaction.
struct Request {
    number: u64,
    answer: oneshot::Sender<()>,
}

/// The waiting requests of one thread. Clones share them.
#[derive(Clone, Default)]
pub struct Parked {
    waiting: Rc<RefCell<BinaryHeap<Reverse<Request>>>>,
    bell: Arc<Bell>,
}

impl Parked {
    /// Returns the bell that completes the requests.
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Waits until `durable` returns at least `number`.
    ///
    /// The caller must not await between reading a smaller number and this call. The ring of a sync
    /// in between is then stored.
    pub async fn wait(&self, number: u64, durable: impl Fn() -> u64 + 'static) {
        let (answer, answered) = oneshot::channel();
        let request = Request { number, answer };
        let was_empty = {
            let mut waiting = self.waiting.borrow_mut();
            waiting.push(Reverse(request));
            waiting.len() == 1
        };
        if was_empty {
            actix_web::rt::spawn(self.clone().serve(durable));
        }
        // An error means that the thread ends.
        let _ = answered.await;
    }

    /// Completes requests until none are left.
    async fn serve(self, durable: impl Fn() -> u64) {
        loop {
            self.bell.0.notified().await;
            let durable = durable();
            let mut waiting = self.waiting.borrow_mut();
            while waiting
                .peek()
                .is_some_and(|first| first.0.number <= durable)
            {
                if let Some(Reverse(request)) = waiting.pop() {
                    // An error means that the client has closed its connection.
                    let _ = request.answer.send(());
                }
            }
            if waiting.is_empty() {
                return;
            }
        }
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Request {}

impl PartialOrd for Request {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Request {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}
