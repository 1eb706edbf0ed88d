//! Requests of one HTTP thread that wait for a sync, in the order of what they wait for. The log's thread
//! wakes each HTTP thread once for all of them.

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, rc::Rc, sync::Arc};
use tokio::sync::{Notify, oneshot};

/// Wakes an HTTP thread; it remembers to have rung while nobody listened.
#[derive(Debug, Default)]
pub struct Bell(Notify);

impl Bell {
    /// Rings.
    pub fn ring(&self) {
        self.0.notify_one();
    }

    /// Whether it has rung since it was heard last.
    #[cfg(test)]
    pub async fn has_rung(&self) -> bool {
        tokio::select! {
            biased;
            () = self.0.notified() => true,
            () = std::future::ready(()) => false,
        }
    }
}

/// A request, by the number that it waits for.
struct Request {
    number: u64,
    answer: oneshot::Sender<()>,
}

/// The requests of one thread.
#[derive(Clone, Default)]
pub struct Parked {
    waiting: Rc<RefCell<BinaryHeap<Reverse<Request>>>>,
    bell: Arc<Bell>,
}

impl Parked {
    /// What wakes the requests.
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Waits until `durable` says at least `number`. To be called without a pause after `durable` said
    /// less: the bell of a sync that comes in between is heard later.
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
        // An error would mean that the thread ends.
        let _ = answered.await;
    }

    /// Answers requests until there are none.
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
                    // Whoever went away does not hear it.
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
