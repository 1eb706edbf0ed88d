//! The adapter that runs an actor in actix.

use super::envelope::Envelope;
use crate::runtime::actor::Actor;
use actix::{
    Addr, ArbiterHandle, AsyncContext as _, Context, WrapFuture as _,
    dev::channel::{AddressReceiver, channel},
};
use tokio::task::yield_now;

/// Number of messages after which an actor yields to the other tasks of its thread: timers, and
/// the actors that share the thread. actix itself handles messages until the mailbox is empty.
///
/// The number is chosen, not measured. Handlers take microseconds, so a turn usually ends within
/// a millisecond, and 64 messages share the cost of one yield.
const MESSAGES_PER_TURN: u32 = 64;

/// An actor in an actix context. Its only actix message is the envelope.
pub(super) struct Hosted<A> {
    actor: A,
    /// Number of messages handled since the last yield.
    handled: u32,
}

impl<A> Hosted<A> {
    fn new(actor: A) -> Self {
        Self { actor, handled: 0 }
    }
}

impl<A: Actor> actix::Message for Envelope<A> {
    type Result = ();
}

impl<A: Actor> actix::Actor for Hosted<A> {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Self::Context) {
        self.actor.started();
    }
}

impl<A: Actor> actix::Handler<Envelope<A>> for Hosted<A> {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<A>, context: &mut Self::Context) {
        envelope.deliver(&mut self.actor);
        self.handled += 1;
        if self.handled == MESSAGES_PER_TURN {
            self.handled = 0;
            context.wait(yield_now().into_actor(self));
        }
    }
}

/// Capacity of actix's channel. [`Addr::do_send`] ignores it, and the mailbox has a bound of its
/// own.
const CHANNEL_CAPACITY: usize = 0;

/// The receiving side of an actor's channel.
pub(super) type Receiver<A> = AddressReceiver<Hosted<A>>;

/// Creates the channel of an actor that does not run yet.
pub(super) fn open<A: Actor>() -> (Addr<Hosted<A>>, Receiver<A>) {
    let (sender, receiver) = channel(CHANNEL_CAPACITY);
    (Addr::new(sender), receiver)
}

/// Runs an actor on the thread of an arbiter.
pub(super) fn run<A: Actor>(arbiter: &ArbiterHandle, receiver: Receiver<A>, actor: A) {
    // `false` means that the arbiter has ended. The actor is dropped, and its channel closed.
    let _ =
        arbiter.spawn_fn(move || drop(Context::with_receiver(receiver).run(Hosted::new(actor))));
}

/// Runs an actor on the calling thread.
#[cfg(test)]
pub(super) fn run_here<A: Actor>(receiver: Receiver<A>, actor: A) {
    Context::with_receiver(receiver).run(Hosted::new(actor));
}

/// Returns an actor as a future that handles its messages, and its address.
#[cfg(test)]
pub(super) fn into_future<A: Actor>(actor: A) -> (Addr<Hosted<A>>, impl Future<Output = ()>) {
    let context = Context::new();
    let address = context.address();
    (address, context.into_future(Hosted::new(actor)))
}
