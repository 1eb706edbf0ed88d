//! Runs actors and workers as processes of a [`Scheduler`]: the real ones, wired as in a node, with actix's
//! own contexts and timers.

use super::scheduler::{Flag, Process, Scheduler, preempt};
use crate::{
    arbiters::{ActorHost, ArbiterGroup},
    committer::HeadCell,
    failure::FatalErrorReporter,
    mailbox::{Address, Envelope, EnvelopeSink, Mailbox},
    worker::WorkerThread,
};
use actix::{Actor, Addr, AsyncContext, Context, Handler};
use ledger_store::StoreReader;
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

/// Where actors are started in a simulation.
pub(super) struct SimulatedHost {
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) failure: FatalErrorReporter,
}

impl ActorHost for SimulatedHost {
    fn run<A>(&self, _: ArbiterGroup, name: &'static str, capacity: usize, actor: A) -> Mailbox<A>
    where
        A: Actor<Context = Context<A>> + Handler<Envelope<A>> + Send,
    {
        let inbox = Arc::new(Inbox {
            mails: Mutex::default(),
            is_open: AtomicBool::new(true),
        });
        let context = Context::new();
        let seat = SimulatedActor {
            name,
            inbox: Arc::clone(&inbox),
            address: context.address(),
            running: Box::pin(context.into_future(actor)),
            flag: Flag::raised(),
        };
        self.scheduler.add(Box::new(seat));
        Mailbox::new((name, name), capacity, Address::Sink(inbox), &self.failure)
    }
}

/// What was sent to an actor and not handled.
struct Inbox<A: Actor> {
    mails: Mutex<VecDeque<Envelope<A>>>,
    is_open: AtomicBool,
}

impl<A: Actor> Inbox<A> {
    fn mails(&self) -> MutexGuard<'_, VecDeque<Envelope<A>>> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Actor> EnvelopeSink<A> for Inbox<A> {
    fn is_open(&self) -> bool {
        self.is_open.load(SeqCst)
    }

    fn deliver(&self, mail: Envelope<A>) {
        preempt();
        if self.is_open() {
            self.mails().push_back(mail);
        }
        preempt();
    }
}

/// An actor in its context.
struct SimulatedActor<A: Actor<Context = Context<A>>> {
    name: &'static str,
    inbox: Arc<Inbox<A>>,
    address: Addr<A>,
    running: Pin<Box<dyn Future<Output = ()>>>,
    /// Up when a timer has run out, and at the start.
    flag: Arc<Flag>,
}

impl<A: Actor<Context = Context<A>> + Handler<Envelope<A>>> Process for SimulatedActor<A> {
    fn name(&self) -> &str {
        self.name
    }

    fn is_ready(&self) -> bool {
        self.flag.is_up() || !self.inbox.mails().is_empty()
    }

    /// Handles one message, or what a timer brings.
    fn step(&mut self) -> bool {
        if !self.flag.is_up() {
            let mail = self.inbox.mails().pop_front();
            if let Some(mail) = mail {
                self.address.do_send(mail);
            }
        }
        self.flag.lower();
        let waker = Arc::clone(&self.flag).into();
        let context = &mut task::Context::from_waker(&waker);
        self.running.as_mut().poll(context).is_pending()
    }
}

impl<A: Actor<Context = Context<A>>> Drop for SimulatedActor<A> {
    fn drop(&mut self) {
        self.inbox.is_open.store(false, SeqCst);
        let mails = std::mem::take(&mut *self.inbox.mails());
        drop(mails);
    }
}

impl<J> Process for WorkerThread<J> {
    fn name(&self) -> &str {
        WorkerThread::name(self)
    }

    fn is_ready(&self) -> bool {
        self.has_work()
    }

    fn step(&mut self) -> bool {
        WorkerThread::step(self).is_continue()
    }
}

/// A worker that reads the store: it would wait until the store shows what the Head does. Within a step of the writer
/// nobody can wait for that, so it has its turn when it need not.
pub(super) struct ReadingWorker<J> {
    pub(super) worker: WorkerThread<J>,
    pub(super) head: HeadCell,
    pub(super) reader: StoreReader,
}

impl<J> Process for ReadingWorker<J> {
    fn name(&self) -> &str {
        self.worker.name()
    }

    fn is_ready(&self) -> bool {
        let height = self.head.load().ledger_info().block_height;
        self.worker.has_work() && !self.reader.would_wait(height)
    }

    fn step(&mut self) -> bool {
        self.worker.step().is_continue()
    }
}

/// A future that runs until its end, or until nobody wants it any more.
pub(super) struct Task {
    name: String,
    running: Pin<Box<dyn Future<Output = ()>>>,
    is_wanted: Rc<Cell<bool>>,
    flag: Arc<Flag>,
}

impl Task {
    pub(super) fn new(
        name: String,
        is_wanted: Rc<Cell<bool>>,
        running: impl Future<Output = ()> + 'static,
    ) -> Box<Self> {
        Box::new(Self {
            name,
            running: Box::pin(running),
            is_wanted,
            flag: Flag::raised(),
        })
    }
}

impl Process for Task {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_ready(&self) -> bool {
        self.flag.is_up() || !self.is_wanted.get()
    }

    fn step(&mut self) -> bool {
        if !self.is_wanted.get() {
            return false;
        }
        self.flag.lower();
        let waker = Arc::clone(&self.flag).into();
        self.running
            .as_mut()
            .poll(&mut task::Context::from_waker(&waker))
            .is_pending()
    }
}
