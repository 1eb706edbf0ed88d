//! Messages of tests to any actor: a function that the actor calls, and a mailbox that is never
//! empty.

use super::{Actor, Envelope, Mailbox};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Number of messages of a flood. The bound makes a test fail, instead of hang, if an actor
/// handles all of them first.
const MESSAGES: u32 = 100_000;

/// A sequence of messages that follow each other in a mailbox without a gap.
pub(crate) struct Flood(Arc<AtomicU32>);

impl Flood {
    /// Returns whether the flood has kept the mailbox non-empty since its start.
    pub(crate) fn is_running(&self) -> bool {
        self.0.load(SeqCst) > 0
    }
}

impl<A: Actor> Mailbox<A> {
    /// Sends a message whose handling sends the next one.
    pub(crate) fn flood(&self) -> Flood {
        let remaining = Arc::new(AtomicU32::new(MESSAGES));
        self.send_next(&remaining);
        Flood(remaining)
    }

    fn send_next(&self, remaining: &Arc<AtomicU32>) {
        if remaining.fetch_sub(1, SeqCst) == 1 {
            return;
        }
        let (mailbox, remaining) = (self.clone(), Arc::clone(remaining));
        self.send_call(move |_| mailbox.send_next(&remaining));
    }

    /// Sends a message that calls `handler`. It counts as a message with the actor's first label.
    pub(crate) fn send_call(&self, handler: impl FnOnce(&mut A) + Send + 'static) {
        self.metrics.count_protocol();
        self.address.send(Envelope::calling(handler, &self.metrics));
    }
}
