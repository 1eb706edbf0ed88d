//! One simulation: a node on a disk, its clients, time, and all that goes wrong, as a seed chooses.

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
    Clock, ClockReading, StorageFault, StorageUnavailable, protocol::mempool::PendingStatus,
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

/// More steps without a pause mean that something goes in circles.
const STEPS_TO_QUIET_MAX: usize = 20_000;

/// How far ahead a wrong clock is: a year, more than `sequencer.clock_jump_max_secs`.
const CLOCK_FAULT_USECS: u64 = 365 * 86_400 * 1_000_000;

/// What one simulation came to.
pub(super) struct Outcome {
    pub(super) figures: Figures,
    pub(super) violation: Option<Violation>,
    pub(super) last_lines: Vec<String>,
    pub(super) trace_digest: u64,
}

/// A simulation.
pub(super) struct World {
    pub(super) options: Options,
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) oracle: Rc<Oracle>,
    pub(super) clients: Clients,
    clock_usecs: Arc<AtomicU64>,
    elapsed_usecs: Arc<AtomicU64>,
    has_clock_fault: bool,
    pub(super) node: Option<NodeUnderTest>,
    /// The file of the last graceful stop. It stays until the start of the next node is complete.
    pub(super) saved: Option<Vec<u8>>,
    pub(super) random: Rng,
    is_fault_injected: bool,
    _running: Running,
}

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

    /// Returns the ledger's time, Unix seconds.
    pub(super) fn now_secs(&self) -> u64 {
        self.oracle.now_secs()
    }

    /// Starts a node on what is left of the disk. A start may fail where the disk does; then it is tried
    /// again.
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
                        storage_health: node.storage_health.clone(),
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

    /// The next thing that happens.
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

    /// Goes on until nothing can happen but by time or a client; then everything that was asked has an
    /// answer, but those who wait for what is not there.
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

    /// Clients of a node at rest submit whether there is room or not, one after the other.
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

    /// The disk comes to have little room, and submissions that were checked before come to the pool.
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

    /// The disk comes to have little room, or has some again.
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
                let shortage = is_missing.then(|| "7 bytes are left".into());
                node.handle.report_disk_space(shortage.as_ref());
            }
        });
    }

    /// Time passes, on both clocks.
    async fn pass(&self, millis: u64) {
        self.scheduler.note(format_args!("{millis} ms pass"));
        self.move_clock(|wall_usecs| wall_usecs + millis * 1_000, millis * 1_000);
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    /// Moves the wall clock, while so much time passes.
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

    /// Sets the clock, a little or to a wrong year. A chain without blocks has nothing to know a wrong year by.
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

    /// Sets the clock a year ahead, or back.
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

    /// The disk will fail soon.
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

    /// What the node failed by; only the disk may be the reason, and nothing else may break by that.
    pub(super) fn failure(&self) -> Option<StorageFault> {
        let node = self.node.as_ref()?;
        if let Some(error) = node.failure.get() {
            let verdict = Err(error.to_string());
            self.oracle.hold(properties::NO_FAILURE, verdict);
        }
        let fault = node.storage_health.fault()?;
        if node.disk.failures() == 0 {
            let verdict = Err(fault.to_string());
            self.oracle.hold(properties::NO_FAILURE, verdict);
        }
        Some(fault)
    }

    /// A node that failed is ended, sooner or later.
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

    /// Everything comes to its end: all waits run out, the node stops, and the chain is executed again.
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
