//! Timers of actors.
//!
//! actix runs the timers of an actor only when its mailbox is empty. A timer in this module is a
//! task of its own that sends a message. The message is queued like any other, so the messages
//! before it are the only delay of a timer under load.

use super::{
    actor::{Actor, ActorMessage, Handler},
    mailbox::Mailbox,
};
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// An actor with timers, if any.
pub(crate) trait TimedActor: Actor {
    /// Returns the timers that run from the start of the actor to its end.
    fn timers(&self) -> Vec<Timer<Self>> {
        Vec::new()
    }
}

/// Sends the message of a timer to a mailbox.
type SendMessage<A> = Box<dyn Fn(&Mailbox<A>, TimerTurn) + Send>;

/// A message that an actor receives at intervals.
pub(crate) struct Timer<A: Actor> {
    interval: Duration,
    send: SendMessage<A>,
}

/// A token that the message of a timer holds until it is handled, so that at most one message per
/// timer waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimerTurn(Arc<()>);

impl<A: Actor> fmt::Debug for Timer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("actor", &A::NAME)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

impl<A: Actor> Timer<A> {
    /// Creates a timer that sends `message` at every multiple of `interval` after its start.
    pub(crate) fn every<M>(interval: Duration, message: fn(TimerTurn) -> M) -> Self
    where
        M: ActorMessage,
        A: Handler<M>,
    {
        Self {
            interval,
            send: Box::new(move |mailbox, turn| mailbox.send(message(turn))),
        }
    }

    /// Returns the task of the timer, whose first interval starts now. The task sends the message
    /// to `mailbox` at each interval until the actor stops. It omits the message while the
    /// previous one still waits.
    pub(crate) fn run(self, mailbox: Mailbox<A>) -> impl Future<Output = ()> + Send {
        let first = Instant::now() + self.interval;
        async move {
            let turn = TimerTurn::default();
            let mut ticks = interval_at(first, self.interval);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while mailbox.is_open() {
                ticks.tick().await;
                if Arc::strong_count(&turn.0) == 1 {
                    (self.send)(&mailbox, turn.clone());
                }
            }
        }
    }
}

/// Maximum delay of a timer of the tokio runtime, which rounds deadlines up to milliseconds.
#[cfg(test)]
pub(crate) const RESOLUTION: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{
        fatal::FatalErrorReporter,
        mailbox::{Envelope, EnvelopeSink, Flood},
    };
    use std::sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    };

    const INTERVAL: Duration = Duration::from_secs(1);

    /// An actor that counts the messages of its timer.
    #[derive(Default)]
    struct Ticking(Arc<AtomicU32>);

    struct Tick(TimerTurn);

    impl ActorMessage for Tick {
        const LABEL: &'static str = "tick";
    }

    impl Actor for Ticking {
        const NAME: &'static str = "ticking";
        const CAPACITY: &'static str = "actors.ticking.mailbox_capacity";
        const LABELS: &'static [&'static str] = &[Tick::LABEL];
    }

    impl TimedActor for Ticking {
        fn timers(&self) -> Vec<Timer<Self>> {
            vec![Timer::every(INTERVAL, Tick)]
        }
    }

    impl Handler<Tick> for Ticking {
        fn handle(&mut self, Tick(turn): Tick) {
            self.0.fetch_add(1, SeqCst);
            drop(turn);
        }
    }

    fn start() -> (Mailbox<Ticking>, Arc<AtomicU32>) {
        let ticks = Arc::default();
        let actor = Ticking(Arc::clone(&ticks));
        let mailbox = Mailbox::start_here("test", 1, actor, &FatalErrorReporter::new());
        (mailbox, ticks)
    }

    #[actix::test]
    async fn sends_a_message_at_each_interval_to_actors_whose_mailboxes_are_never_empty() {
        let (actors, ticks): (Vec<_>, Vec<_>) = (0..2).map(|_| start()).unzip();
        tokio::time::pause();
        let floods: Vec<_> = actors.iter().map(Mailbox::flood).collect();
        for expected in 1..=3 {
            tokio::time::advance(INTERVAL + RESOLUTION).await;
            while ticks.iter().any(|ticks| ticks.load(SeqCst) < expected) {
                assert!(floods.iter().all(Flood::is_running), "{ticks:?}");
                tokio::task::yield_now().await;
            }
        }
        assert!(
            ticks.iter().all(|ticks| ticks.load(SeqCst) == 3),
            "{ticks:?}"
        );
    }

    /// A sink that holds the envelopes of an actor that handles none.
    #[derive(Default)]
    struct EnvelopeStore(Mutex<Vec<Envelope<Ticking>>>);

    impl EnvelopeSink<Ticking> for EnvelopeStore {
        fn is_open(&self) -> bool {
            true
        }

        fn deliver(&self, envelope: Envelope<Ticking>) {
            self.0.lock().unwrap().push(envelope);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn omits_a_message_while_the_previous_one_waits() {
        let waiting = Arc::new(EnvelopeStore::default());
        let sink: Arc<dyn EnvelopeSink<Ticking>> = waiting.clone();
        let mailbox = Mailbox::with_sink(sink, 1, &FatalErrorReporter::new());
        tokio::spawn(Timer::every(INTERVAL, Tick).run(mailbox));
        for _ in 0..2 {
            // The runtime is idle, so the clock advances to the next tick of the timer.
            tokio::time::sleep(INTERVAL * 5 / 2).await;
            assert_eq!(waiting.0.lock().unwrap().drain(..).count(), 1);
        }
    }
}
