//! Runs actors, their timers and worker threads as processes of a [`Scheduler`].
//!
//! They are the real ones, with the wiring of a node, in the contexts of actix.

use super::scheduler::{Flag, Process, Scheduler, preempt};
use crate::{
    runtime::{
        actor::Actor,
        arbiters::{ActorHost, ArbiterGroup},
        fatal::FatalErrorReporter,
        mailbox::{Envelope, EnvelopeSink, Mailbox, PolledActor},
        timer::TimedActor,
        worker::WorkerThread,
    },
    state::head::HeadReader,
};
use ledger_store::{StoreApplier, StoreReader};
use std::{
    cell::Cell,
    collections::VecDeque,
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task,
};

/// Host that adds actors to the scheduler of a simulation.
pub(super) struct SimulatedHost {
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) failure: FatalErrorReporter,
}

/// The inbox of a simulated actor, with its mailbox.
pub(super) struct SimulatedInbox<A: Actor> {
    inbox: Arc<Inbox<A>>,
    mailbox: Mailbox<A>,
}

impl ActorHost for SimulatedHost {
    type Inbox<A: TimedActor> = SimulatedInbox<A>;

    fn open<A: TimedActor>(
        &self,
        _: ArbiterGroup,
        capacity: usize,
    ) -> (Mailbox<A>, SimulatedInbox<A>) {
        let inbox = Arc::new(Inbox {
            envelopes: Mutex::default(),
            is_open: AtomicBool::new(true),
        });
        let sink = Arc::clone(&inbox);
        let mailbox = Mailbox::with_sink(sink, capacity, &self.failure);
        let inbox = SimulatedInbox {
            inbox,
            mailbox: mailbox.clone(),
        };
        (mailbox, inbox)
    }

    fn run<A: TimedActor>(&self, inbox: SimulatedInbox<A>, actor: A) {
        let SimulatedInbox { inbox, mailbox } = inbox;
        let timers = actor.timers();
        self.scheduler.add(Box::new(SimulatedActor {
            inbox,
            actor: PolledActor::new(actor),
            flag: Flag::raised(),
        }));
        for timer in timers {
            let name = format!("{} timer", A::NAME);
            let is_active = Rc::new(Cell::new(true));
            self.scheduler
                .add(Task::new(name, is_active, timer.run(mailbox.clone())));
        }
    }
}

/// Envelopes that were sent to an actor and not yet handled.
struct Inbox<A: Actor> {
    envelopes: Mutex<VecDeque<Envelope<A>>>,
    is_open: AtomicBool,
}

impl<A: Actor> Inbox<A> {
    fn envelopes(&self) -> MutexGuard<'_, VecDeque<Envelope<A>>> {
        self.envelopes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Actor> EnvelopeSink<A> for Inbox<A> {
    fn is_open(&self) -> bool {
        self.is_open.load(SeqCst)
    }

    fn deliver(&self, envelope: Envelope<A>) {
        preempt();
        if self.is_open() {
            self.envelopes().push_back(envelope);
        }
        preempt();
    }
}

/// An actor that runs when the scheduler performs a step of it.
struct SimulatedActor<A: Actor> {
    inbox: Arc<Inbox<A>>,
    actor: PolledActor<A>,
    /// Raised at the start, and when the actor continues after it has yielded to other tasks.
    flag: Arc<Flag>,
}

impl<A: Actor> Process for SimulatedActor<A> {
    fn name(&self) -> &str {
        A::NAME
    }

    fn is_ready(&self) -> bool {
        self.flag.is_up() || !self.inbox.envelopes().is_empty()
    }

    /// Handles one message, or continues the actor after it has yielded.
    fn step(&mut self) -> bool {
        if !self.flag.is_up() {
            let envelope = self.inbox.envelopes().pop_front();
            if let Some(envelope) = envelope {
                self.actor.send(envelope);
            }
        }
        self.flag.lower();
        let waker = Arc::clone(&self.flag).into();
        let context = &mut task::Context::from_waker(&waker);
        self.actor.poll(context).is_pending()
    }
}

impl<A: Actor> Drop for SimulatedActor<A> {
    fn drop(&mut self) {
        self.inbox.is_open.store(false, SeqCst);
        let envelopes = std::mem::take(&mut *self.inbox.envelopes());
        drop(envelopes);
    }
}

/// A worker thread that commits to the database.
///
/// In one thread it would block forever if it interrupted a commit of another worker, so it is ready
/// only when no commit is in progress.
pub(super) struct CommittingWorker<J> {
    pub(super) worker: WorkerThread<J>,
    pub(super) applier: StoreApplier,
}

impl<J> Process for CommittingWorker<J> {
    fn name(&self) -> &str {
        self.worker.name()
    }

    fn is_ready(&self) -> bool {
        self.worker.has_work() && !self.applier.is_busy()
    }

    fn step(&mut self) -> bool {
        self.worker.step().is_continue()
    }
}

/// A worker thread that reads the store.
///
/// The worker blocks until snapshots include the newest block of the head. In one thread it would
/// block forever if it interrupted a step of the writer, so it is ready only when it would not
/// block.
pub(super) struct ReaderWorker<J> {
    pub(super) worker: WorkerThread<J>,
    pub(super) head: HeadReader,
    pub(super) reader: StoreReader,
}

impl<J> Process for ReaderWorker<J> {
    fn name(&self) -> &str {
        self.worker.name()
    }

    fn is_ready(&self) -> bool {
        let would_wait = || {
            let height = self.head.ledger_info().block_height;
            self.reader.would_wait(height)
        };
        self.worker.has_work() && !would_wait()
    }

    fn step(&mut self) -> bool {
        self.worker.step().is_continue()
    }
}

/// A future that runs until it completes or is canceled.
pub(super) struct Task {
    name: String,
    future: Pin<Box<dyn Future<Output = ()>>>,
    /// False after the future is canceled.
    is_active: Rc<Cell<bool>>,
    flag: Arc<Flag>,
}

impl Task {
    pub(super) fn new(
        name: String,
        is_active: Rc<Cell<bool>>,
        future: impl Future<Output = ()> + 'static,
    ) -> Box<Self> {
        Box::new(Self {
            name,
            future: Box::pin(future),
            is_active,
            flag: Flag::raised(),
        })
    }
}

impl Process for Task {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_ready(&self) -> bool {
        self.flag.is_up() || !self.is_active.get()
    }

    fn step(&mut self) -> bool {
        if !self.is_active.get() {
            return false;
        }
        self.flag.lower();
        let waker = Arc::clone(&self.flag).into();
        self.future
            .as_mut()
            .poll(&mut task::Context::from_waker(&waker))
            .is_pending()
    }
}
