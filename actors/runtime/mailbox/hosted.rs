//! Actors as actix runs them.

use super::envelope::Envelope;
use crate::runtime::actor::{Actor, Timer};
use actix::{Addr, ArbiterHandle, AsyncContext as _, Context};

/// An actor in the context of actix, which has one message and one handler for it.
pub(super) struct Hosted<A>(A);

impl<A: Actor> actix::Message for Envelope<A> {
    type Result = ();
}

impl<A: Actor> actix::Actor for Hosted<A> {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        for Timer { interval, run } in self.0.timers() {
            context.run_interval(interval, move |hosted, _| run(&mut hosted.0));
        }
        self.0.started();
    }
}

impl<A: Actor> actix::Handler<Envelope<A>> for Hosted<A> {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<A>, _: &mut Self::Context) {
        envelope.deliver(&mut self.0);
    }
}

/// Starts an actor on the thread of an arbiter.
pub(super) fn start<A: Actor>(arbiter: &ArbiterHandle, actor: A) -> Addr<Hosted<A>> {
    actix::Actor::start_in_arbiter(arbiter, move |_| Hosted(actor))
}

/// Starts an actor on the calling thread.
#[cfg(test)]
pub(super) fn start_here<A: Actor>(actor: A) -> Addr<Hosted<A>> {
    actix::Actor::start(Hosted(actor))
}

/// Returns an actor as a future that handles its messages and timers, and its address.
#[cfg(test)]
pub(super) fn into_future<A: Actor>(actor: A) -> (Addr<Hosted<A>>, impl Future<Output = ()>) {
    let context = Context::new();
    let address = context.address();
    (address, context.into_future(Hosted(actor)))
}
