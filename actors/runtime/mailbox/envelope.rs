//! A message together with its measurements.

use super::metrics::{MailboxMetrics, RequestPermit};
use crate::runtime::actor::{Actor, ActorMessage, Handler, label_index};
use std::{sync::Arc, time::Instant};

/// A message in a mailbox, and the data that the mailbox records about it.
pub(crate) struct Envelope<A: Actor> {
    /// Calls the handler of the message.
    open: Box<dyn FnOnce(&mut A) + Send>,
    /// Index of the message's label among those of the actor.
    label_index: usize,
    sent: Instant,
    metrics: Arc<MailboxMetrics>,
    /// Held by a request while it waits.
    permit: Option<RequestPermit>,
}

impl<A: Actor> Envelope<A> {
    /// Wraps a message. A request passes its `permit`.
    pub(super) fn new<M: ActorMessage>(
        message: M,
        metrics: &Arc<MailboxMetrics>,
        permit: Option<RequestPermit>,
    ) -> Self
    where
        A: Handler<M>,
    {
        Self {
            open: Box::new(move |actor: &mut A| actor.handle(message)),
            label_index: const { label_index::<A, M>() },
            sent: Instant::now(),
            metrics: Arc::clone(metrics),
            permit,
        }
    }

    /// Creates an envelope that calls `open`. It counts as a message with the actor's first
    /// label.
    #[cfg(test)]
    pub(super) fn calling(
        open: impl FnOnce(&mut A) + Send + 'static,
        metrics: &Arc<MailboxMetrics>,
    ) -> Self {
        Self {
            open: Box::new(open),
            label_index: 0,
            sent: Instant::now(),
            metrics: Arc::clone(metrics),
            permit: None,
        }
    }

    /// Calls the handler of the message and records it. A panic of the handler ends the process;
    /// without the report, actix would only drop the actor.
    pub(crate) fn deliver(self, actor: &mut A) {
        drop(self.permit);
        let begun = Instant::now();
        let metrics = &self.metrics;
        let _panic_guard = metrics.panic_guard();
        metrics.record_begun(self.label_index, self.sent);
        (self.open)(actor);
        metrics.record_handled(self.label_index, self.sent, begun);
    }
}
