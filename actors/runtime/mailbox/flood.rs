//! A mailbox that is never empty, for tests of timers.

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
        let next = move |_: &mut A| mailbox.send_next(&remaining);
        self.metrics.count_protocol();
        self.address.send(Envelope::calling(next, &self.metrics));
    }
}
