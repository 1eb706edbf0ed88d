//! Who runs actors: threads of their own in a node.

use super::{fatal::FatalErrorReporter, mailbox::Mailbox, timer::TimedActor};
use actix::{Arbiter, System};
use std::io;

/// Runs actors.
pub(crate) trait ActorHost {
    /// Starts an actor behind a mailbox that admits `capacity` waiting requests.
    fn run<A: TimedActor>(&self, group: ArbiterGroup, capacity: usize, actor: A) -> Mailbox<A>;
}

/// The arbiters of a node. Dropping them ends them soon; [`Arbiters::join`] also waits for that.
#[derive(Debug)]
pub(crate) struct Arbiters {
    arbiters: Vec<(&'static str, Arbiter)>,
    failure: FatalErrorReporter,
}

/// Actors that stay together, by what they do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArbiterGroup {
    /// The mempool.
    Mempool,
    /// Sequencer and committer: the way of a block.
    Commit,
    /// Storage and pruner, which only hand over.
    Storage,
}

/// The most threads that actors run on: one for each [`ArbiterGroup`].
pub(crate) const THREADS_MAX: usize = 3;

/// The threads' names, by how many there are. A site that has none of its own is on the last.
const NAMES: [&[&str]; THREADS_MAX] = [
    &["actors"],
    &["mempool", "commit"],
    &["mempool", "commit", "storage"],
];

impl Arbiters {
    /// Returns whether the calling thread runs within an actix system, which [`Self::start`] needs.
    pub(crate) fn can_start() -> bool {
        System::try_current().is_some()
    }

    /// Starts up to [`THREADS_MAX`] threads. Panics outside an actix system. A panic of an actor is told
    /// to `failure`.
    pub(crate) fn start(threads: usize, failure: FatalErrorReporter) -> io::Result<Self> {
        let mut started = Self {
            arbiters: Vec::new(),
            failure,
        };
        for name in NAMES[threads.clamp(1, THREADS_MAX) - 1] {
            started.arbiters.push((name, Arbiter::try_new()?));
        }
        Ok(started)
    }

    /// Ends all threads and waits for them; actors that still run are dropped. Gives the names of
    /// threads that had panicked themselves; the panic of an actor ends only the actor, and its mailbox
    /// tells of it.
    pub(crate) fn join(mut self) -> Vec<&'static str> {
        let mut panicked = Vec::new();
        for (name, arbiter) in std::mem::take(&mut self.arbiters) {
            arbiter.stop();
            if arbiter.join().is_err() {
                panicked.push(name);
            }
        }
        panicked
    }
}

impl ActorHost for Arbiters {
    fn run<A: TimedActor>(&self, group: ArbiterGroup, capacity: usize, actor: A) -> Mailbox<A> {
        let (thread, arbiter) = &self.arbiters[(group as usize).min(self.arbiters.len() - 1)];
        let arbiter = arbiter.handle();
        let timers = actor.timers();
        let mailbox = Mailbox::start(&arbiter, thread, capacity, actor, &self.failure);
        for timer in timers {
            arbiter.spawn(timer.run(mailbox.clone()));
        }
        mailbox
    }
}

impl Drop for Arbiters {
    fn drop(&mut self) {
        for (_, arbiter) in &self.arbiters {
            arbiter.stop();
        }
    }
}
