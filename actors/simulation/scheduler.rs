//! Deterministic scheduler: one thread, one step at a time, in the order that the seed chooses.
//!
//! Actors, worker threads and clients are [`Process`]es whose steps take no time. The system can
//! preempt a real thread anywhere. The points where that matters (sending a message, waiting for
//! the disk) therefore call [`preempt`], and the seed may have other processes run before the
//! caller continues. A mailbox receives messages in the order of sending, as on real threads, and
//! every interleaving that is tried could happen.

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

/// Maximum depth of nested interruptions. All levels share one stack, while real threads have a
/// stack each.
const DEPTH_MAX: usize = 4;
/// Maximum number of steps of other processes in a short interruption.
const INTERRUPTION_STEPS_MAX: usize = 6;
/// Maximum number of steps of other processes in a long interruption: enough for a request and its
/// response.
const LONG_INTERRUPTION_STEPS_MAX: usize = 40;
/// Average number of interruptions per long interruption.
const INTERRUPTIONS_PER_LONG: usize = 5;
/// Maximum number of steps of other processes while a slow disk syncs.
const SLOW_SYNC_STEPS_MAX: usize = 60;
/// Maximum number of trace lines that the report of a failing seed contains.
const TRACE_LINES_MAX: usize = 80;

/// A process that the scheduler runs in steps.
pub(super) trait Process {
    /// Returns the name that the trace shows.
    fn name(&self) -> &str;

    /// Returns whether the process has work.
    fn is_ready(&self) -> bool;

    /// Performs the next step. Returns whether the process may have further steps, now or later.
    fn step(&mut self) -> bool;
}

/// Waker of a future: waking raises the flag, and the future's process is then ready.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    /// Creates a raised flag, so that a new future is polled first without a wake-up.
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

/// A violated property of the node.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub(super) property: &'static str,
    pub(super) message: String,
}

/// Probabilities of interruptions, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InterruptionRates {
    /// Probability that other processes run at a point that calls [`preempt`].
    pub(super) interruptions: u32,
    /// Probability that other processes run during a sync.
    pub(super) slow_syncs: u32,
}

/// Trace of the steps, as text.
#[derive(Default)]
struct Trace {
    digest: DefaultHasher,
    last_lines: VecDeque<String>,
}

/// A process, and the group with which it ends.
struct Entry {
    group: usize,
    /// `None` while the process runs.
    process: Option<Box<dyn Process>>,
}

/// Scheduler of one simulation.
pub(super) struct Scheduler {
    random: RefCell<Rng>,
    processes: RefCell<BTreeMap<u64, Entry>>,
    next_id: Cell<u64>,
    /// Group to which processes are added.
    group: Cell<usize>,
    interruption_rates: InterruptionRates,
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

/// Lets the seed run other processes now, as if the system preempted this thread. Has no effect
/// outside a simulation.
pub(super) fn preempt() {
    if let Some(scheduler) = CURRENT.with_borrow(Clone::clone) {
        scheduler.maybe_interrupt();
    }
}

/// Lets the seed run other processes as [`preempt`] does, with the probability of a slow sync.
pub(super) fn preempt_during_sync() {
    if let Some(scheduler) = CURRENT.with_borrow(Clone::clone) {
        scheduler.maybe_interrupt_sync();
    }
}

/// Guard that removes the scheduler from this thread when it is dropped.
pub(super) struct SchedulerGuard;

impl Drop for SchedulerGuard {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(Option::take);
    }
}

impl Scheduler {
    pub(super) fn new(random: Rng, interruption_rates: InterruptionRates) -> Rc<Self> {
        Rc::new(Self {
            random: RefCell::new(random),
            processes: RefCell::default(),
            next_id: Cell::new(0),
            group: Cell::new(0),
            interruption_rates,
            depth: Cell::new(0),
            is_halted: Cell::new(false),
            steps: Cell::new(0),
            interruptions: Cell::new(0),
            slow_syncs: Cell::new(0),
            trace: RefCell::default(),
            violation: RefCell::default(),
        })
    }

    /// Makes this the scheduler of the thread until the guard is dropped.
    pub(super) fn enter(self: &Rc<Self>) -> SchedulerGuard {
        CURRENT.set(Some(Rc::clone(self)));
        SchedulerGuard
    }

    /// Returns a random number below `bound`, which is at least 1.
    pub(super) fn random_below(&self, bound: usize) -> usize {
        self.random.borrow_mut().usize(..bound)
    }

    /// Returns true with a probability of `thousandths` / 1,000.
    pub(super) fn chance(&self, thousandths: u32) -> bool {
        self.random.borrow_mut().u32(..1_000) < thousandths
    }

    /// Adds a process to the group of the process that runs, or of [`Self::in_group`].
    pub(super) fn add(&self, process: Box<dyn Process>) {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        let entry = Entry {
            group: self.group.get(),
            process: Some(process),
        };
        self.processes.borrow_mut().insert(id, entry);
    }

    /// Calls `f`, which adds processes to `group`.
    pub(super) fn in_group<T>(&self, group: usize, f: impl FnOnce() -> T) -> T {
        let before = self.group.replace(group);
        let result = f();
        self.group.set(before);
        result
    }

    /// Performs the next step of a random ready process.
    ///
    /// Returns false if no process is ready or the scheduler is halted.
    pub(super) fn step(&self) -> bool {
        let ready: Vec<u64> = {
            let processes = self.processes.borrow();
            let is_ready = |entry: &Entry| entry.process.as_ref().is_some_and(|it| it.is_ready());
            let ready = processes.iter().filter(|(_, entry)| is_ready(entry));
            ready.map(|(&id, _)| id).collect()
        };
        if ready.is_empty() || self.is_halted() {
            return false;
        }
        let id = ready[self.random_below(ready.len())];
        let taken = self
            .processes
            .borrow_mut()
            .get_mut(&id)
            .and_then(|entry| Some((entry.group, entry.process.take()?)));
        let Some((group, mut process)) = taken else {
            return false;
        };
        self.steps.set(self.steps.get() + 1);
        let depth = self.depth.get();
        self.trace(format_args!(
            "{:width$}{group} {}",
            "",
            process.name(),
            width = 2 * depth
        ));
        let may_continue = self.in_group(group, || process.step());
        let mut processes = self.processes.borrow_mut();
        if may_continue {
            let process = Some(process);
            processes.insert(id, Entry { group, process });
        } else {
            processes.remove(&id);
            drop(processes);
            drop(process);
        }
        true
    }

    /// Performs 1 to `steps_max` steps within the step of another process.
    fn run_nested(&self, steps_max: usize) {
        self.depth.set(self.depth.get() + 1);
        for _ in 0..=self.random_below(steps_max) {
            if !self.step() {
                break;
            }
        }
        self.depth.set(self.depth.get() - 1);
    }

    fn may_interrupt(&self) -> bool {
        !self.is_halted() && self.depth.get() < DEPTH_MAX
    }

    fn maybe_interrupt(&self) {
        if self.may_interrupt() && self.chance(self.interruption_rates.interruptions) {
            self.interruptions.set(self.interruptions.get() + 1);
            self.run_nested(match self.random_below(INTERRUPTIONS_PER_LONG) {
                0 => LONG_INTERRUPTION_STEPS_MAX,
                _ => INTERRUPTION_STEPS_MAX,
            });
        }
    }

    fn maybe_interrupt_sync(&self) {
        if self.may_interrupt() && self.chance(self.interruption_rates.slow_syncs) {
            self.slow_syncs.set(self.slow_syncs.get() + 1);
            self.run_nested(SLOW_SYNC_STEPS_MAX);
        }
    }

    /// Drops all processes, as the end of the program does.
    pub(super) fn clear(&self) {
        let processes = std::mem::take(&mut *self.processes.borrow_mut());
        drop(processes);
    }

    /// Drops the processes of a group, none of which runs.
    pub(super) fn clear_group(&self, group: usize) {
        let is_ended = |_: &u64, entry: &mut Entry| entry.group == group;
        let ended: Vec<_> = self
            .processes
            .borrow_mut()
            .extract_if(.., is_ended)
            .collect();
        drop(ended);
    }

    /// Stops all processes, including interrupted ones, until [`Self::resume`].
    pub(super) fn halt(&self) {
        self.is_halted.set(true);
    }

    /// Lets processes run again, unless a property is violated.
    pub(super) fn resume(&self) {
        self.is_halted.set(self.violation.borrow().is_some());
    }

    pub(super) fn is_halted(&self) -> bool {
        self.is_halted.get()
    }

    /// Returns the number of steps so far, which serves as the time of events.
    pub(super) fn now_steps(&self) -> u64 {
        self.steps.get()
    }

    /// Returns the number of interruptions and the number of slow syncs.
    pub(super) fn interruptions(&self) -> (u64, u64) {
        (self.interruptions.get(), self.slow_syncs.get())
    }

    /// Appends a line to the trace.
    pub(super) fn trace(&self, line: Arguments<'_>) {
        let line = line.to_string();
        let mut trace = self.trace.borrow_mut();
        trace.digest.write(line.as_bytes());
        trace.digest.write_u8(b'\n');
        if trace.last_lines.len() == TRACE_LINES_MAX {
            trace.last_lines.pop_front();
        }
        trace.last_lines.push_back(line);
    }

    /// Returns a hash of the whole trace.
    pub(super) fn trace_digest(&self) -> u64 {
        self.trace.borrow().digest.finish()
    }

    /// Returns the last lines of the trace.
    pub(super) fn last_lines(&self) -> Vec<String> {
        self.trace.borrow().last_lines.iter().cloned().collect()
    }

    /// Records the violation of a property and halts the simulation. Only the first violation is
    /// reported.
    pub(super) fn record_violation(&self, property: &'static str, message: String) {
        self.trace(format_args!("violated: {property}: {message}"));
        self.violation
            .borrow_mut()
            .get_or_insert(Violation { property, message });
        self.halt();
    }

    pub(super) fn violation(&self) -> Option<Violation> {
        self.violation.borrow().clone()
    }
}
