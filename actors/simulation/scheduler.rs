//! Who runs next: one thread, one step at a time, chosen by the seed.
//!
//! Actors, workers and clients are [`Process`]es whose steps take no time. A real thread can be stopped
//! anywhere by the system while others run, so the places where that matters (sending a message, waiting
//! for the disk) call [`preempt`]: the seed may then have other processes run before it goes on. Messages
//! so are in a mailbox in the order in which they were sent, as on real threads, and every interleaving
//! that is tried could happen.

use fastrand::Rng;
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    fmt::Arguments,
    hash::{DefaultHasher, Hasher},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Wake,
};

/// How deep processes interrupt each other: each level is a stack of its own on a real machine.
const DEPTH_MAX: usize = 4;
/// How many steps others do at one interruption, as a rule.
const INTERRUPTION_STEPS_MAX: usize = 6;
/// How many they do when a thread waits long for its turn: enough for a question and its answer.
const LONG_INTERRUPTION_STEPS_MAX: usize = 40;
/// Of so many interruptions one is long.
const SHORT_PER_LONG: usize = 5;
/// How many they do while a slow disk syncs.
const SLOW_SYNC_STEPS_MAX: usize = 60;
/// How many of the last lines of a trace are told of a failing seed.
const TRACE_KEPT: usize = 80;

/// What is run in steps.
pub(super) trait Process {
    /// As it stands in the trace.
    fn name(&self) -> &str;

    /// Whether it has something to do.
    fn is_ready(&self) -> bool;

    /// Does the next thing; gives whether there may be more, ever.
    fn step(&mut self) -> bool;
}

/// Marks what a future waits for as come.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    /// One that is up: what is new is looked at once.
    pub(super) fn raised() -> Arc<Self> {
        Arc::new(Self(AtomicBool::new(true)))
    }

    pub(super) fn is_up(&self) -> bool {
        self.0.load(SeqCst)
    }

    pub(super) fn lower(&self) {
        self.0.store(false, SeqCst);
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// A promise of the node that was broken.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub(super) property: &'static str,
    pub(super) what: String,
}

/// How often others run in between, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    pub(super) interruptions: u32,
    pub(super) slow_syncs: u32,
}

/// The steps so far, as text.
#[derive(Default)]
struct Trace {
    digest: DefaultHasher,
    last: VecDeque<String>,
}

/// The scheduler of one simulation.
pub(super) struct Scheduler {
    random: RefCell<Rng>,
    /// `None` while it runs.
    processes: RefCell<BTreeMap<u64, Option<Box<dyn Process>>>>,
    next_id: Cell<u64>,
    pace: Pace,
    depth: Cell<usize>,
    is_halted: Cell<bool>,
    steps: Cell<u64>,
    interruptions: Cell<u64>,
    slow_syncs: Cell<u64>,
    trace: RefCell<Trace>,
    violation: RefCell<Option<Violation>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Scheduler>>> = const { RefCell::new(None) };
}

/// The seed may have others run now, as if this thread was interrupted. Nothing happens outside of a
/// simulation.
pub(super) fn preempt() {
    if let Some(scheduler) = CURRENT.with_borrow(Clone::clone) {
        scheduler.interrupt();
    }
}

/// As [`preempt`], while the disk syncs.
pub(super) fn preempt_in_sync() {
    if let Some(scheduler) = CURRENT.with_borrow(Clone::clone) {
        scheduler.wait_for_sync();
    }
}

/// Ends the simulation of this thread when dropped.
pub(super) struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(Option::take);
    }
}

impl Scheduler {
    pub(super) fn new(random: Rng, pace: Pace) -> Rc<Self> {
        Rc::new(Self {
            random: RefCell::new(random),
            processes: RefCell::default(),
            next_id: Cell::new(0),
            pace,
            depth: Cell::new(0),
            is_halted: Cell::new(false),
            steps: Cell::new(0),
            interruptions: Cell::new(0),
            slow_syncs: Cell::new(0),
            trace: RefCell::default(),
            violation: RefCell::default(),
        })
    }

    /// Makes it the one of this thread.
    pub(super) fn enter(self: &Rc<Self>) -> Running {
        CURRENT.set(Some(Rc::clone(self)));
        Running
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&self, bound: usize) -> usize {
        self.random.borrow_mut().usize(..bound)
    }

    /// Whether it comes to that, in so many of a thousand cases.
    pub(super) fn chance(&self, thousandths: u32) -> bool {
        self.random.borrow_mut().u32(..1_000) < thousandths
    }

    /// Adds a process, which runs when it is its turn.
    pub(super) fn add(&self, process: Box<dyn Process>) {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        self.processes.borrow_mut().insert(id, Some(process));
    }

    /// Has the seed choose a process and do its next step; false when none has anything to do.
    pub(super) fn step(&self) -> bool {
        let ready: Vec<u64> = {
            let processes = self.processes.borrow();
            let ready = processes
                .iter()
                .filter(|(_, process)| process.as_ref().is_some_and(|process| process.is_ready()));
            ready.map(|(&id, _)| id).collect()
        };
        if ready.is_empty() || self.is_halted() {
            return false;
        }
        let id = ready[self.below(ready.len())];
        let process = self
            .processes
            .borrow_mut()
            .get_mut(&id)
            .and_then(Option::take);
        let Some(mut process) = process else {
            return false;
        };
        self.steps.set(self.steps.get() + 1);
        let depth = self.depth.get();
        self.note(format_args!(
            "{:width$}{}",
            "",
            process.name(),
            width = 2 * depth
        ));
        let goes_on = process.step();
        let mut processes = self.processes.borrow_mut();
        if goes_on {
            processes.insert(id, Some(process));
        } else {
            processes.remove(&id);
            drop(processes);
            drop(process);
        }
        true
    }

    fn nested(&self, steps_max: usize) {
        self.depth.set(self.depth.get() + 1);
        for _ in 0..=self.below(steps_max) {
            if !self.step() {
                break;
            }
        }
        self.depth.set(self.depth.get() - 1);
    }

    fn may_interrupt(&self) -> bool {
        !self.is_halted() && self.depth.get() < DEPTH_MAX
    }

    fn interrupt(&self) {
        if self.may_interrupt() && self.chance(self.pace.interruptions) {
            self.interruptions.set(self.interruptions.get() + 1);
            self.nested(match self.below(SHORT_PER_LONG) {
                0 => LONG_INTERRUPTION_STEPS_MAX,
                _ => INTERRUPTION_STEPS_MAX,
            });
        }
    }

    fn wait_for_sync(&self) {
        if self.may_interrupt() && self.chance(self.pace.slow_syncs) {
            self.slow_syncs.set(self.slow_syncs.get() + 1);
            self.nested(SLOW_SYNC_STEPS_MAX);
        }
    }

    /// Drops all processes, as the end of the program does.
    pub(super) fn clear(&self) {
        let processes = std::mem::take(&mut *self.processes.borrow_mut());
        drop(processes);
    }

    /// No process runs any more, also not within others, until [`Self::resume`].
    pub(super) fn halt(&self) {
        self.is_halted.set(true);
    }

    pub(super) fn resume(&self) {
        self.is_halted.set(self.violation.borrow().is_some());
    }

    pub(super) fn is_halted(&self) -> bool {
        self.is_halted.get()
    }

    /// How many steps there were; orders what happens.
    pub(super) fn now(&self) -> u64 {
        self.steps.get()
    }

    /// How often a process was interrupted, and how often the disk was slow.
    pub(super) fn interruptions(&self) -> (u64, u64) {
        (self.interruptions.get(), self.slow_syncs.get())
    }

    /// Writes a line of the trace.
    pub(super) fn note(&self, line: Arguments<'_>) {
        let line = line.to_string();
        let mut trace = self.trace.borrow_mut();
        trace.digest.write(line.as_bytes());
        trace.digest.write_u8(b'\n');
        if trace.last.len() == TRACE_KEPT {
            trace.last.pop_front();
        }
        trace.last.push_back(line);
    }

    /// A number that stands for the whole trace.
    pub(super) fn trace_digest(&self) -> u64 {
        self.trace.borrow().digest.finish()
    }

    /// The last lines of the trace.
    pub(super) fn last_lines(&self) -> Vec<String> {
        self.trace.borrow().last.iter().cloned().collect()
    }

    /// Tells of a broken promise, the first of which ends the simulation.
    pub(super) fn violate(&self, property: &'static str, what: String) {
        self.note(format_args!("broken: {property}: {what}"));
        self.violation
            .borrow_mut()
            .get_or_insert(Violation { property, what });
        self.halt();
    }

    pub(super) fn violation(&self) -> Option<Violation> {
        self.violation.borrow().clone()
    }
}
