//! The bounded mailbox in front of every actor.
//!
//! actix alone does not bound a mailbox: each sender owns a guaranteed slot, and `do_send` never
//! looks at the capacity. So the bound is kept here: a *request*, which originates outside the
//! node, is admitted only while fewer than `capacity` requests wait. *Protocol* messages between
//! actors are bounded by their protocol, so they are always admitted and counted apart.

mod kinds;
mod metrics;

pub(crate) use kinds::Counted;
use kinds::Kind;
pub use metrics::MailboxStatus;
use metrics::{MailboxMetrics, RequestPermit};

use crate::{NodeError, failure::FatalErrorReporter};
use actix::{Actor, Addr, Context, Handler, Message};
use std::{fmt, sync::Arc, time::Instant};

/// Hands a message to its actor's handler.
type Opener<A> = Box<dyn FnOnce(&mut A, &mut <A as Actor>::Context) + Send>;

/// A message on its way to an actor, with what is measured of it.
pub(crate) struct Envelope<A: Actor> {
    open: Opener<A>,
    kind: Kind,
    sent: Instant,
    metrics: Arc<MailboxMetrics>,
    permit: Option<RequestPermit>,
}

impl<A: Actor> Message for Envelope<A> {
    type Result = ();
}

impl<A: Actor> Envelope<A> {
    /// Has `actor` handle the message, and counts it. Should the handler panic, that is told: actix
    /// itself only drops the actor.
    pub(crate) fn deliver(self, actor: &mut A, context: &mut A::Context) {
        drop(self.permit);
        let begun = Instant::now();
        let metrics = &self.metrics;
        let _panic_guard = metrics.panic_guard();
        (self.open)(actor, context);
        metrics.record_handled(self.kind, self.sent, begun);
    }
}

/// Lets an actor be reached through a [`Mailbox`]: every message that it handles also comes as mail.
macro_rules! receives_envelopes {
    ($actor:ty) => {
        impl actix::Handler<$crate::mailbox::Envelope<$actor>> for $actor {
            type Result = ();

            fn handle(
                &mut self,
                envelope: $crate::mailbox::Envelope<$actor>,
                context: &mut Self::Context,
            ) {
                envelope.deliver(self, context);
            }
        }
    };
}
pub(crate) use receives_envelopes;

/// Where mail goes.
pub(crate) enum Address<A: Actor> {
    /// To an actor on an arbiter.
    Arbiter(Addr<A>),
    /// To whoever decides when it is opened.
    #[cfg(test)]
    Sink(Arc<dyn EnvelopeSink<A>>),
}

/// Takes mail for an actor that no arbiter runs.
#[cfg(test)]
pub(crate) trait EnvelopeSink<A: Actor>: Send + Sync {
    /// Whether the actor still takes mail.
    fn is_open(&self) -> bool;

    /// Takes mail in, in the order in which it is sent.
    fn deliver(&self, envelope: Envelope<A>);
}

impl<A: Actor> Clone for Address<A> {
    fn clone(&self) -> Self {
        match self {
            Self::Arbiter(address) => Self::Arbiter(address.clone()),
            #[cfg(test)]
            Self::Sink(sink) => Self::Sink(Arc::clone(sink)),
        }
    }
}

impl<A: Actor<Context = Context<A>> + Handler<Envelope<A>>> Address<A> {
    fn is_open(&self) -> bool {
        match self {
            Self::Arbiter(address) => address.connected(),
            #[cfg(test)]
            Self::Sink(sink) => sink.is_open(),
        }
    }

    fn send(&self, envelope: Envelope<A>) {
        match self {
            Self::Arbiter(address) => address.do_send(envelope),
            #[cfg(test)]
            Self::Sink(sink) => sink.deliver(envelope),
        }
    }
}

impl<A: Actor> From<Addr<A>> for Address<A> {
    fn from(address: Addr<A>) -> Self {
        Self::Arbiter(address)
    }
}

/// The way to an actor. Cheap to clone; all clones share the bound and the counts.
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
        f.debug_tuple("Mailbox")
            .field(&self.metrics.actor())
            .finish()
    }
}

impl<A: Actor<Context = Context<A>> + Handler<Envelope<A>>> Mailbox<A> {
    /// A mailbox in front of `address` that admits `capacity` waiting requests, with the names of the actor and of
    /// the thread that it shares with others. A handler's panic is told to `failure`.
    pub(crate) fn new(
        names: (&'static str, &'static str),
        capacity: usize,
        address: impl Into<Address<A>>,
        failure: &FatalErrorReporter,
    ) -> Self {
        let metrics = Arc::new(MailboxMetrics::new(names, capacity, failure.clone()));
        let address = address.into();
        Self { address, metrics }
    }

    /// The actor's name.
    pub(crate) fn actor(&self) -> &'static str {
        self.metrics.actor()
    }

    /// Sends a request from outside the node.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the mailbox is full, and [`NodeError::Stopping`] if the
    /// actor has stopped. The request is dropped.
    pub(crate) fn try_request<M>(&self, message: M) -> Result<(), NodeError>
    where
        M: Counted,
        A: Handler<M, Result = ()>,
    {
        if !self.address.is_open() {
            return Err(NodeError::Stopping);
        }
        let permit = self.metrics.try_acquire().ok_or(NodeError::Overloaded {
            actor: self.actor(),
        })?;
        self.post(message, Some(permit));
        Ok(())
    }

    /// Sends a message of the node's own protocols. One to an actor that is gone is dropped: the
    /// node is stopping.
    pub(crate) fn send<M>(&self, message: M)
    where
        M: Counted,
        A: Handler<M, Result = ()>,
    {
        self.metrics.count_protocol();
        self.post(message, None);
    }

    fn post<M>(&self, message: M, permit: Option<RequestPermit>)
    where
        M: Counted,
        A: Handler<M, Result = ()>,
    {
        self.address.send(Envelope {
            open: Box::new(move |actor: &mut A, context: &mut Context<A>| {
                <A as Handler<M>>::handle(actor, message, context);
            }),
            kind: M::KIND,
            sent: Instant::now(),
            metrics: Arc::clone(&self.metrics),
            permit,
        });
    }

    /// The mailbox narrowed to one kind of protocol message, for another actor to hold.
    pub(crate) fn recipient<M>(&self) -> Recipient<M>
    where
        M: Counted,
        A: Handler<M, Result = ()>,
    {
        let mailbox = self.clone();
        Recipient::new(move |message| mailbox.send(message))
    }

    /// The numbers.
    pub(crate) fn status(&self) -> MailboxStatus {
        self.metrics.status()
    }

    /// Changes how many requests may wait, for the next request on. Those that wait already stay.
    pub(crate) fn set_capacity(&self, capacity: usize) -> MailboxStatus {
        self.metrics.set_capacity(capacity);
        self.status()
    }
}

/// The way to whoever handles protocol messages of type `M`.
pub(crate) struct Recipient<M>(Arc<dyn Fn(M) + Send + Sync>);

impl<M> Clone for Recipient<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Port(..)")
    }
}

impl<M> Recipient<M> {
    /// A port whose messages go to `send`.
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
