//! The threads of a node that run its actors.

use super::{
    fatal::FatalErrorReporter,
    mailbox::{Inbox, Mailbox},
    thread_name::name_thread,
    timer::TimedActor,
};
use actix::{Arbiter, System};
use std::io;

/// A host that runs actors.
pub(crate) trait ActorHost {
    /// The receiving side of a mailbox, which holds its messages until the actor runs.
    type Inbox<A: TimedActor>;

    /// Opens a mailbox that admits `capacity` waiting requests, for an actor of `group`.
    fn open<A: TimedActor>(
        &self,
        group: ArbiterGroup,
        capacity: usize,
    ) -> (Mailbox<A>, Self::Inbox<A>);

    /// Runs an actor, and its timers.
    fn run<A: TimedActor>(&self, inbox: Self::Inbox<A>, actor: A);
}

/// The inbox of an actor, with its mailbox and the thread that is to run it.
pub(crate) struct HostedInbox<A: TimedActor> {
    group: ArbiterGroup,
    mailbox: Mailbox<A>,
    inbox: Inbox<A>,
}

/// The arbiters of a node. Dropping them stops their threads asynchronously; [`Arbiters::join`]
/// also waits for the threads.
#[derive(Debug)]
pub(crate) struct Arbiters {
    arbiters: Vec<(&'static str, Arbiter)>,
    reporter: FatalErrorReporter,
}

/// A group of actors that share one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArbiterGroup {
    /// The mempool.
    Mempool,
    /// The sequencer and the committer, which process a block in turn.
    Commit,
    /// All other actors, whose work is done by other threads.
    Storage,
}

/// Maximum number of threads that run actors: one per [`ArbiterGroup`].
pub(crate) const THREADS_MAX: usize = 3;

/// Names of the threads, by their number. A group without a thread of its own runs on the last
/// one.
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

    /// Starts `threads` threads, between 1 and [`THREADS_MAX`]. The arbiters report a panic of an
    /// actor to `reporter`.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    ///
    /// # Panics
    ///
    /// Panics outside an actix system.
    pub(crate) fn start(threads: usize, reporter: FatalErrorReporter) -> io::Result<Self> {
        let mut started = Self {
            arbiters: Vec::new(),
            reporter,
        };
        for name in NAMES[threads.clamp(1, THREADS_MAX) - 1] {
            let arbiter = Arbiter::try_new()?;
            // `false` means that the arbiter has ended.
            let _ = arbiter.spawn_fn(|| name_thread(name));
            started.arbiters.push((name, arbiter));
        }
        Ok(started)
    }

    /// Returns the thread of a group, with its name.
    fn arbiter(&self, group: ArbiterGroup) -> &(&'static str, Arbiter) {
        &self.arbiters[(group as usize).min(self.arbiters.len() - 1)]
    }

    /// Stops all threads and waits for them. Actors that still run are dropped.
    ///
    /// Returns the names of the threads that have panicked themselves. A panic of an actor ends
    /// only the actor, and its mailbox reports it.
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
    type Inbox<A: TimedActor> = HostedInbox<A>;

    fn open<A: TimedActor>(
        &self,
        group: ArbiterGroup,
        capacity: usize,
    ) -> (Mailbox<A>, HostedInbox<A>) {
        let (thread, _) = self.arbiter(group);
        let (mailbox, inbox) = Mailbox::open(thread, capacity, &self.reporter);
        let inbox = HostedInbox {
            group,
            mailbox: mailbox.clone(),
            inbox,
        };
        (mailbox, inbox)
    }

    fn run<A: TimedActor>(&self, inbox: HostedInbox<A>, actor: A) {
        let HostedInbox {
            group,
            mailbox,
            inbox,
        } = inbox;
        let (_, arbiter) = self.arbiter(group);
        let timers = actor.timers();
        inbox.run(&arbiter.handle(), actor);
        for timer in timers {
            arbiter.spawn(timer.run(mailbox.clone()));
        }
    }
}

impl Drop for Arbiters {
    fn drop(&mut self) {
        for (_, arbiter) in &self.arbiters {
            arbiter.stop();
        }
    }
}
