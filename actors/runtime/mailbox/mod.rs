//! The bounded mailbox in front of every actor.
//!
//! actix alone does not bound a mailbox: each sender owns a guaranteed slot, and `do_send`
//! ignores the capacity. So this module enforces the bound. A *request*, which originates outside
//! the node, is accepted only while fewer than `capacity` requests wait. The protocols between
//! actors bound their *protocol messages*, so a mailbox always accepts these and counts them
//! separately.

mod envelope;
#[cfg(test)]
mod flood;
mod hosted;
mod metrics;

pub(crate) use envelope::Envelope;
#[cfg(test)]
pub(crate) use flood::Flood;
pub use metrics::MailboxStatus;

use super::{
    actor::{Actor, ActorMessage, Handler},
    fatal::FatalErrorReporter,
    progress::Watch,
};
use crate::{NodeError, Overload};
use actix::{Addr, ArbiterHandle};
use hosted::Hosted;
use metrics::{MailboxMetrics, RequestPermit};
use std::{fmt, sync::Arc};

/// Destination of envelopes.
enum Address<A: Actor> {
    /// An actor that actix runs.
    Actix(Addr<Hosted<A>>),
    /// A sink that decides when an envelope is opened.
    #[cfg(test)]
    Sink(Arc<dyn EnvelopeSink<A>>),
}

/// A receiver of the envelopes of an actor that a test runs.
#[cfg(test)]
pub(crate) trait EnvelopeSink<A: Actor>: Send + Sync {
    /// Returns whether the actor still runs.
    fn is_open(&self) -> bool;

    /// Receives an envelope. Envelopes arrive in the order in which they were sent.
    fn deliver(&self, envelope: Envelope<A>);
}

impl<A: Actor> Clone for Address<A> {
    fn clone(&self) -> Self {
        match self {
            Self::Actix(address) => Self::Actix(address.clone()),
            #[cfg(test)]
            Self::Sink(sink) => Self::Sink(Arc::clone(sink)),
        }
    }
}

impl<A: Actor> Address<A> {
    fn is_open(&self) -> bool {
        match self {
            Self::Actix(address) => address.connected(),
            #[cfg(test)]
            Self::Sink(sink) => sink.is_open(),
        }
    }

    fn send(&self, envelope: Envelope<A>) {
        match self {
            Self::Actix(address) => address.do_send(envelope),
            #[cfg(test)]
            Self::Sink(sink) => sink.deliver(envelope),
        }
    }
}

/// A handle to the mailbox of an actor. Cheap to clone; all clones share the capacity and the
/// metrics.
pub(crate) struct Mailbox<A: Actor> {
    address: Address<A>,
    metrics: Arc<MailboxMetrics>,
}

impl<A: Actor> Clone for Mailbox<A> {
    fn clone(&self) -> Self {
        Self {
            address: self.address.clone(),
            metrics: Arc::clone(&self.metrics),
        }
    }
}

impl<A: Actor> fmt::Debug for Mailbox<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mailbox").field(&A::NAME).finish()
    }
}

/// The receiving side of a mailbox, which holds its messages until an actor runs.
pub(crate) struct Inbox<A: Actor>(hosted::Receiver<A>);

impl<A: Actor> Inbox<A> {
    /// Runs an actor on the thread of an arbiter.
    pub(super) fn run(self, arbiter: &ArbiterHandle, actor: A) {
        hosted::run(arbiter, self.0, actor);
    }
}

impl<A: Actor> Mailbox<A> {
    /// Creates a mailbox and its inbox, behind which no actor runs yet.
    ///
    /// At most `capacity` requests wait. `thread` is the name of the actor's thread. The mailbox
    /// reports a panic of a handler to `reporter`.
    pub(crate) fn open(
        thread: &'static str,
        capacity: usize,
        reporter: &FatalErrorReporter,
    ) -> (Self, Inbox<A>) {
        let (address, receiver) = hosted::open();
        let mailbox = Self::new(Address::Actix(address), thread, capacity, reporter);
        (mailbox, Inbox(receiver))
    }

    fn new(
        address: Address<A>,
        thread: &'static str,
        capacity: usize,
        reporter: &FatalErrorReporter,
    ) -> Self {
        let metrics = MailboxMetrics::new((A::NAME, thread), A::LABELS, capacity, reporter.clone());
        Self {
            address,
            metrics: Arc::new(metrics),
        }
    }

    /// Returns whether the actor still runs.
    pub(super) fn is_open(&self) -> bool {
        self.address.is_open()
    }

    /// Sends a request from outside the node. One that counts as several is accepted while there is
    /// capacity for one, so that a small capacity never excludes it for good.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the mailbox is full, and [`NodeError::Stopping`] if the
    /// actor has stopped. The request is dropped.
    pub(crate) fn try_request<M>(&self, message: M) -> Result<(), NodeError>
    where
        M: ActorMessage,
        A: Handler<M>,
    {
        if !self.is_open() {
            return Err(NodeError::Stopping);
        }
        let overload = || Overload::brief(A::CAPACITY, self.metrics.capacity());
        let permit = self.metrics.try_acquire(message.request_count());
        let permit = permit.ok_or_else(overload)?;
        self.post(message, Some(permit));
        Ok(())
    }

    /// Sends a protocol message. It is dropped if the actor has stopped, because the node is
    /// stopping then.
    pub(crate) fn send<M>(&self, message: M)
    where
        M: ActorMessage,
        A: Handler<M>,
    {
        self.metrics.count_protocol();
        self.post(message, None);
    }

    fn post<M>(&self, message: M, permit: Option<RequestPermit>)
    where
        M: ActorMessage,
        A: Handler<M>,
    {
        self.address
            .send(Envelope::new(message, &self.metrics, permit));
    }

    /// Returns a handle that sends only protocol messages of type `M`, for another actor.
    pub(crate) fn recipient<M>(&self) -> Recipient<M>
    where
        M: ActorMessage,
        A: Handler<M>,
    {
        let mailbox = self.clone();
        Recipient::new(move |message| mailbox.send(message))
    }
}

/// The operations on a mailbox that do not depend on the type of its actor.
pub(crate) trait MailboxControl {
    /// Returns the name of the actor.
    fn actor(&self) -> &'static str;

    /// Returns the metrics of the mailbox.
    fn status(&self) -> MailboxStatus;

    /// Returns a watch of the actor's progress, until the actor ends.
    fn watch(&self) -> Watch;

    /// Changes the maximum number of waiting requests and returns the metrics. The change applies
    /// to later requests; requests that already wait stay in the mailbox.
    fn set_capacity(&self, capacity: usize) -> MailboxStatus;
}

impl<A: Actor> MailboxControl for Mailbox<A> {
    fn actor(&self) -> &'static str {
        A::NAME
    }

    fn status(&self) -> MailboxStatus {
        self.metrics.status()
    }

    fn watch(&self) -> Watch {
        let mailbox = self.clone();
        Watch::new(A::NAME, move || {
            // Messages to an actor that has ended are dropped, so they do not wait.
            mailbox.is_open().then(|| mailbox.metrics.sample())
        })
    }

    fn set_capacity(&self, capacity: usize) -> MailboxStatus {
        self.metrics.set_capacity(capacity);
        self.status()
    }
}

#[cfg(test)]
impl<A: Actor> Mailbox<A> {
    /// Creates a mailbox whose envelopes a test receives.
    pub(crate) fn with_sink(
        sink: Arc<dyn EnvelopeSink<A>>,
        capacity: usize,
        reporter: &FatalErrorReporter,
    ) -> Self {
        Self::new(Address::Sink(sink), A::NAME, capacity, reporter)
    }
}

#[cfg(test)]
impl<A: super::timer::TimedActor> Mailbox<A> {
    /// Starts an actor on the calling thread.
    pub(crate) fn start_here(
        thread: &'static str,
        capacity: usize,
        actor: A,
        reporter: &FatalErrorReporter,
    ) -> Self {
        let (mailbox, inbox) = Self::open(thread, capacity, reporter);
        inbox.run_here(&mailbox, actor);
        mailbox
    }
}

#[cfg(test)]
impl<A: super::timer::TimedActor> Inbox<A> {
    /// Runs the actor of `mailbox` on the calling thread.
    pub(crate) fn run_here(self, mailbox: &Mailbox<A>, actor: A) {
        let timers = actor.timers();
        hosted::run_here(self.0, actor);
        for timer in timers {
            actix::spawn(timer.run(mailbox.clone()));
        }
    }
}

/// An actor as a future that a test polls.
#[cfg(test)]
pub(crate) struct PolledActor<A: Actor> {
    address: Addr<Hosted<A>>,
    running: std::pin::Pin<Box<dyn Future<Output = ()>>>,
}

#[cfg(test)]
impl<A: Actor> PolledActor<A> {
    /// Creates the future, which has not started the actor yet.
    pub(crate) fn new(actor: A) -> Self {
        let (address, running) = hosted::into_future(actor);
        Self {
            address,
            running: Box::pin(running),
        }
    }

    /// Adds an envelope, which the next poll opens.
    pub(crate) fn send(&self, envelope: Envelope<A>) {
        self.address.do_send(envelope);
    }

    /// Handles the envelopes that were added. Ready if the actor has ended.
    pub(crate) fn poll(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        self.running.as_mut().poll(context)
    }
}

/// A handle that sends protocol messages of type `M` to their receiver.
pub(crate) struct Recipient<M>(Arc<dyn Fn(M) + Send + Sync>);

impl<M> Clone for Recipient<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recipient(..)")
    }
}

impl<M> Recipient<M> {
    /// Creates a handle that passes its messages to `send`.
    pub(crate) fn new(send: impl Fn(M) + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends a message.
    pub(crate) fn send(&self, message: M) {
        (self.0)(message);
    }
}

#[cfg(test)]
mod tests;
