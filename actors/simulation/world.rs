//! One simulation: a node on a disk, its clients, the time, and the faults that a seed chooses.

use super::{
    audit,
    clients::Clients,
    figures::Figures,
    fixture::START_SECS,
    node::{NodeUnderTest, StartUp},
    options::Options,
    oracle::{Oracle, Watched},
    properties,
    scheduler::{Running, Scheduler, Violation},
};
use crate::{
    Clock, ClockReading, FailureKind, FatalError, StorageUnavailable,
    protocol::mempool::PendingStatus,
};
use fastrand::Rng;
use ledger_test_support::{Disk, Fault, Image};
use std::{
    cell::Cell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

/// Maximum number of steps until the node is idle. More steps indicate an endless loop.
const STEPS_TO_QUIET_MAX: usize = 20_000;

/// Lead of a wrong clock, in microseconds: a year, which exceeds `sequencer.clock_jump_max_secs`.
const CLOCK_FAULT_USECS: u64 = 365 * 86_400 * 1_000_000;

/// Result of one simulation.
pub(super) struct Outcome {
    pub(super) figures: Figures,
    pub(super) violation: Option<Violation>,
    pub(super) last_lines: Vec<String>,
    pub(super) trace_digest: u64,
}

/// State of one simulation.
pub(super) struct World {
    pub(super) options: Options,
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) oracle: Rc<Oracle>,
    pub(super) clients: Clients,
    clock_usecs: Arc<AtomicU64>,
    elapsed_usecs: Arc<AtomicU64>,
    /// Whether the wall clock is a year ahead.
    has_clock_fault: bool,
    pub(super) node: Option<NodeUnderTest>,
    /// File that the last graceful stop saved. It exists until the start of the next node is
    /// complete.
    pub(super) saved: Option<Vec<u8>>,
    pub(super) random: Rng,
    /// Whether the disk of the present node has a fault, injected or pending.
    is_fault_injected: bool,
    _running: Running,
}

/// Creates the clock of a node from the readings of the simulation.
fn clock(wall_usecs: &Arc<AtomicU64>, elapsed_usecs: &Arc<AtomicU64>) -> Clock {
    let (wall_usecs, elapsed_usecs) = (Arc::clone(wall_usecs), Arc::clone(elapsed_usecs));
    Clock::from_readings(move || ClockReading {
        wall_usecs: wall_usecs.load(SeqCst),
        elapsed_usecs: elapsed_usecs.load(SeqCst),
    })
}

/// Runs the simulation of a seed.
pub(super) async fn simulate(seed: u64) -> Outcome {
    let mut world = World::new(seed);
    let image = world.oracle.fixture.image.clone();
    world.start(image);
    for _ in 0..world.options.actions {
        if world.scheduler.is_halted() {
            break;
        }
        world.act().await;
    }
    if !world.scheduler.is_halted() {
        world.finish().await;
    }
    world.outcome()
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let options = Options::choose(&mut random);
        let scheduler = Scheduler::new(random.fork(), options.pace);
        let clock_usecs = Arc::new(AtomicU64::new(START_SECS * 1_000_000));
        let oracle = Oracle::new(Rc::clone(&scheduler), &options);
        scheduler.note(format_args!("{options:?}"));
        Self {
            clients: Clients::new(Rc::clone(&oracle), random.fork()),
            clock_usecs,
            elapsed_usecs: Arc::default(),
            has_clock_fault: false,
            node: None,
            saved: None,
            is_fault_injected: false,
            _running: scheduler.enter(),
            options,
            scheduler,
            oracle,
            random,
        }
    }

    /// Returns the ledger's time, in Unix seconds.
    pub(super) fn now_secs(&self) -> u64 {
        self.oracle.now_secs()
    }

    /// Starts a node on the content of `image`.
    ///
    /// A disk fault may make the start fail. The start is then repeated without a fault, on the
    /// disk's content after a power failure.
    pub(super) fn start(&mut self, image: Image) {
        let mut image = image;
        let mut may_fail = self.random.u32(..1_000) < self.options.faults;
        loop {
            let disk = Disk::new(image.clone());
            if may_fail {
                disk.inject(Fault::Gone {
                    after: self.random.usize(..12),
                });
            }
            self.is_fault_injected = may_fail;
            self.oracle.watch(None);
            let start_up = StartUp {
                fixture: self.oracle.fixture,
                config: &self.options.node,
                clock: clock(&self.clock_usecs, &self.elapsed_usecs),
                disk: disk.clone(),
                saved: self.saved.as_deref(),
                has_quick_index: self.options.has_quick_index,
            };
            let oracle = Rc::clone(&self.oracle);
            match start_up.start(&self.scheduler, |reader| audit::audit(&oracle, reader)) {
                Ok(node) => {
                    self.oracle.count("starts");
                    self.oracle.watch(Some(Watched {
                        head: node.head.clone(),
                        disk,
                        failure: node.failure.clone(),
                        clock: node.clock.clone(),
                        had_clock_fault: self.has_clock_fault,
                        has_clock_fault: Cell::new(self.has_clock_fault),
                    }));
                    self.node = Some(node);
                    return;
                }
                Err(error) if may_fail => {
                    self.scheduler
                        .note(format_args!("the start failed: {error}"));
                    self.oracle.count("starts that failed");
                    self.scheduler.clear();
                    image = disk.torn(&mut |bound| self.random.usize(..bound));
                    may_fail = false;
                }
                Err(error) => {
                    let found = Err(format!("the store does not open: {error}"));
                    return self.oracle.hold(properties::COMMITTED_STAYS, found);
                }
            }
        }
    }

    /// Completes the start of the node, which removes the saved mempool.
    fn complete_start(&mut self) {
        if self.saved.take().is_some() {
            self.scheduler.note(format_args!(
                "the start is complete: the saved mempool is removed"
            ));
        }
    }

    /// Performs the next action of the simulation, which the seed chooses.
    async fn act(&mut self) {
        if self.saved.is_some() && self.random.u8(..4) == 0 {
            self.complete_start();
        }
        if self.oracle.room.is_missing() && self.random.u8(..8) == 0 {
            self.set_no_room(false);
        }
        if self.has_clock_fault && self.random.u8(..16) == 0 {
            self.set_clock_fault(false);
        }
        match self.random.u8(..100) {
            0..=54 => self.begin(),
            55..=74 => {
                for _ in 0..self.random.usize(..20) {
                    self.scheduler.step();
                }
            }
            75..=81 => self.settle(),
            82 => self.insist(),
            83 => self.pause(),
            84..=90 => {
                let millis = self.random.u64(1..600);
                self.pass(millis).await;
            }
            91 => {
                let millis = self.random.u64(1_000..6_000);
                self.pass(millis).await;
            }
            92 => self.set_clock(),
            93 | 94 => self.clients.abandon_one(),
            95 => self
                .with_node(|world, node| world.clients.begin_feed(&world.scheduler, &node.handle)),
            96 | 97 => self.break_disk(),
            98 => self.restart().await,
            _ => self.crash(),
        }
        self.oracle.sync();
        self.look_for_failure().await;
    }

    fn with_node(&self, f: impl FnOnce(&Self, &NodeUnderTest)) {
        if let Some(node) = &self.node {
            f(self, node);
        }
    }

    pub(super) fn begin(&self) {
        if self.clients.open().len() < self.options.clients {
            let now_secs = self.now_secs();
            self.with_node(|world, node| {
                world
                    .clients
                    .begin(&world.scheduler, &node.handle, now_secs);
            });
        }
    }

    /// Runs steps until the node is idle, and checks that every request has a response.
    ///
    /// The exceptions are waits for pending transactions before their deadline.
    pub(super) fn settle(&self) {
        let mut steps = 0;
        while self.scheduler.step() {
            steps += 1;
            if steps > STEPS_TO_QUIET_MAX {
                let verdict = Err("the node does not come to rest".to_owned());
                return self.oracle.hold(properties::EVERY_QUESTION_ENDS, verdict);
            }
        }
        self.oracle.sync();
        if self.scheduler.is_halted() {
            return;
        }
        self.oracle.is_quiet();
        let now = Instant::now();
        for question in self.clients.open() {
            let late = |why: &str| Err(format!("{}: {why}", question.what));
            let verdict = match &question.wait {
                None => late("there is no answer"),
                Some(wait) if wait.deadline.get().is_none_or(|deadline| now >= deadline) => {
                    late("its time is over")
                }
                Some(wait) if self.oracle.model().is_committed(&wait.hash) => {
                    late("it is committed")
                }
                Some(wait) => match self.ask_pool(wait.hash) {
                    Some(PendingStatus::Pending(_)) | None => Ok(()),
                    Some(other) => late(&format!("the pool has it no longer: {other:?}")),
                },
            };
            self.oracle.hold(properties::EVERY_QUESTION_ENDS, verdict);
        }
    }

    /// Submits one to seven transactions to an idle node, one after the other, whether or not the
    /// pool has capacity.
    fn insist(&mut self) {
        self.settle();
        for _ in 0..self.random.usize(1..8) {
            let now_secs = self.now_secs();
            self.with_node(|world, node| {
                world
                    .clients
                    .begin_insisting(&world.scheduler, &node.handle, now_secs);
            });
            self.settle();
        }
    }

    /// Makes disk space low, and sometimes submits transactions that were checked before.
    fn pause(&mut self) {
        self.set_no_room(true);
        if self.random.bool() {
            self.settle();
            let now_secs = self.now_secs();
            for _ in 0..self.random.usize(1..4) {
                self.with_node(|world, node| {
                    world.clients.begin_late(&world.scheduler, node, now_secs);
                });
            }
        }
    }

    /// Sets whether disk space is low.
    fn set_no_room(&self, is_missing: bool) {
        self.with_node(|world, node| {
            let room = &world.oracle.room;
            if is_missing != room.is_missing() {
                world.scheduler.note(format_args!("no room: {is_missing}"));
                world.oracle.count(if is_missing {
                    "pauses without room"
                } else {
                    "pauses that ended"
                });
                room.set_missing(is_missing, world.scheduler.now());
                node.handle
                    .set_no_room(is_missing.then(|| "7 bytes are left".into()));
            }
        });
    }

    /// Advances both clocks by `millis` milliseconds.
    async fn pass(&self, millis: u64) {
        self.scheduler.note(format_args!("{millis} ms pass"));
        self.move_clock(|wall_usecs| wall_usecs + millis * 1_000, millis * 1_000);
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    /// Sets the wall clock to the result of `moved`, and advances elapsed time by `passed_usecs`
    /// microseconds.
    fn move_clock(&self, moved: impl FnOnce(u64) -> u64, passed_usecs: u64) {
        self.oracle.clock_moved();
        let wall_usecs = moved(self.clock_usecs.load(SeqCst));
        self.clock_usecs.store(wall_usecs, SeqCst);
        self.elapsed_usecs.fetch_add(passed_usecs, SeqCst);
        let fault_usecs = if self.has_clock_fault {
            CLOCK_FAULT_USECS
        } else {
            0
        };
        self.oracle
            .true_time_moved(passed_usecs, wall_usecs.saturating_sub(fault_usecs));
        self.oracle.clock_moved();
    }

    /// Moves the wall clock by some seconds, or sets it a year ahead.
    ///
    /// A chain without blocks gets no wrong year, because the node could not recognize it without a
    /// newest block.
    fn set_clock(&mut self) {
        if !self.has_clock_fault && self.oracle.model().height() > 0 && self.random.u8(..2) == 0 {
            return self.set_clock_fault(true);
        }
        self.oracle.count("clock steps");
        let usecs = self.random.u64(1..8_000_000);
        if self.random.bool() {
            self.move_clock(|wall_usecs| wall_usecs - usecs, 0);
        } else {
            self.move_clock(|wall_usecs| wall_usecs + 10 * usecs, 0);
        }
        let wall_usecs = self.clock_usecs.load(SeqCst);
        self.scheduler.note(format_args!(
            "the clock shows {wall_usecs}, it is {}",
            self.now_secs()
        ));
    }

    /// Sets the wall clock a year ahead, or back to the right year.
    fn set_clock_fault(&mut self, is_wrong: bool) {
        if self.has_clock_fault == is_wrong {
            return;
        }
        self.scheduler
            .note(format_args!("the clock is wrong: {is_wrong}"));
        self.has_clock_fault = is_wrong;
        if is_wrong {
            self.oracle.count("clock faults");
            self.move_clock(|wall_usecs| wall_usecs + CLOCK_FAULT_USECS, 0);
        } else {
            self.oracle.sync();
            self.oracle.clock_is_right();
            self.move_clock(|wall_usecs| wall_usecs - CLOCK_FAULT_USECS, 0);
        }
    }

    /// Injects a fault into the disk, at most one per node.
    fn break_disk(&mut self) {
        let is_time = self.options.faults > 0 && self.random.u32(..100) < self.options.faults;
        let Some(node) = self
            .node
            .as_ref()
            .filter(|_| is_time && !self.is_fault_injected)
        else {
            return;
        };
        let after = self.random.usize(..25);
        let (what, fault) = match self.random.u8(..6) {
            0 => (
                "faults: disk full",
                Fault::Full {
                    more_bytes: 4_096 * after,
                },
            ),
            1 => ("faults: failing write", Fault::Write { after }),
            2 => (
                "faults: failing sync",
                Fault::Sync {
                    after: after / 4,
                    keeps: self.random.u64(..),
                },
            ),
            3 => ("faults: one failing read", Fault::Read { after }),
            4 => ("faults: failing reads", Fault::Reads { after }),
            _ => ("faults: disk gone", Fault::Gone { after }),
        };
        node.disk.inject(fault);
        self.is_fault_injected = true;
        self.scheduler.note(format_args!("{fault:?}"));
        self.oracle.count(what);
    }

    /// Returns the fatal error of the node, if there is one.
    ///
    /// The property [`properties::NO_FAILURE`] permits it only after a disk fault, and never
    /// permits [`FailureKind::Broken`].
    pub(super) fn failure(&self) -> Option<FatalError> {
        let node = self.node.as_ref()?;
        let failure = node.failure.get()?;
        if failure.kind == FailureKind::Broken || node.disk.failures() == 0 {
            let verdict = Err(failure.to_string());
            self.oracle.hold(properties::NO_FAILURE, verdict);
        }
        Some(failure)
    }

    /// Ends a failed node with a probability of one third, by a graceful stop or a crash.
    async fn look_for_failure(&mut self) {
        if self.failure().is_none() || self.random.u8(..3) > 0 || self.scheduler.is_halted() {
            return;
        }
        self.oracle.count("nodes ended by a failed disk");
        if self.random.bool() {
            self.restart().await;
        } else {
            self.crash();
        }
    }

    /// Ends the simulation: all waits time out, the node stops and starts again, and the chain is
    /// executed again.
    async fn finish(&mut self) {
        if self.failure().is_some() || self.node.is_none() || self.is_fault_injected {
            self.options.faults = 0;
            self.crash();
        }
        self.set_no_room(false);
        self.set_clock_fault(false);
        self.settle();
        let longest = self.options.node.wait.timeout_ms + 2_000;
        self.pass(longest).await;
        self.settle();
        for question in self.clients.open() {
            let verdict = Err(format!("{} is open at the end", question.what));
            self.oracle.hold(properties::EVERY_QUESTION_ENDS, verdict);
        }
        if self.scheduler.is_halted() {
            return;
        }
        let unavailable = self
            .node
            .as_ref()
            .and_then(|node| node.handle.storage_unavailable());
        if let Some(cause @ StorageUnavailable::ClockUnbelieved(_)) = unavailable {
            self.oracle
                .hold(properties::BLOCK_TIME, Err(cause.to_string()));
        }
        if let Some(image) = self.stop(true).await {
            self.start(image);
        }
        self.oracle.watch(None);
        let verdict = audit::replay(self.oracle.fixture, &self.oracle.model());
        self.oracle.hold(properties::REPLAY, verdict);
    }

    fn outcome(self) -> Outcome {
        let (interruptions, slow_syncs) = self.scheduler.interruptions();
        let mut figures = std::mem::take(&mut *self.oracle.figures());
        figures.add("steps", self.scheduler.now());
        figures.add("interruptions", interruptions);
        figures.add("faults: slow sync", slow_syncs);
        self.scheduler.halt();
        self.scheduler.clear();
        Outcome {
            figures,
            violation: self.scheduler.violation(),
            last_lines: self.scheduler.last_lines(),
            trace_digest: self.scheduler.trace_digest(),
        }
    }
}
