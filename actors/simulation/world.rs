//! One simulation: a node on a disk, its clients, the time, and the faults that a seed chooses.

use super::{
    audit,
    clients::Clients,
    counters::Counters,
    fixture::START_SECS,
    node::{NodeUnderTest, StartUp},
    options::Options,
    oracle::{ObservedNode, Oracle},
    properties,
    scheduler::{Scheduler, SchedulerGuard, Violation},
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

/// Maximum number of steps until the node is idle. More steps indicate an endless loop.
const STEPS_TO_IDLE_MAX: usize = 20_000;

/// Lead of a wrong clock, in microseconds: a year, which exceeds `sequencer.clock_jump_max_secs`.
const CLOCK_FAULT_USECS: u64 = 365 * 86_400 * 1_000_000;

/// Result of one simulation.
pub(super) struct Outcome {
    pub(super) counters: Counters,
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
    _guard: SchedulerGuard,
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
        world.perform_action().await;
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
        let scheduler = Scheduler::new(random.fork(), options.interruption_rates);
        let clock_usecs = Arc::new(AtomicU64::new(START_SECS * 1_000_000));
        let oracle = Oracle::new(Rc::clone(&scheduler), &options);
        scheduler.trace(format_args!("{options:?}"));
        Self {
            clients: Clients::new(Rc::clone(&oracle), random.fork()),
            clock_usecs,
            elapsed_usecs: Arc::default(),
            has_clock_fault: false,
            node: None,
            saved: None,
            is_fault_injected: false,
            _guard: scheduler.enter(),
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
        let mut may_fail = self.random.u32(..1_000) < self.options.fault_rate;
        loop {
            let disk = Disk::new(image.clone());
            if may_fail {
                disk.inject(Fault::Gone {
                    after: self.random.usize(..12),
                });
            }
            self.is_fault_injected = may_fail;
            self.oracle.observe(None);
            let start_up = StartUp {
                fixture: self.oracle.fixture,
                config: &self.options.node,
                clock: clock(&self.clock_usecs, &self.elapsed_usecs),
                disk: disk.clone(),
                saved: self.saved.as_deref(),
                has_eager_compaction: self.options.has_eager_compaction,
            };
            let oracle = Rc::clone(&self.oracle);
            match start_up.start(&self.scheduler, |reader| audit::audit(&oracle, reader)) {
                Ok(node) => {
                    self.oracle.count("starts");
                    self.oracle.observe(Some(ObservedNode {
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
                        .trace(format_args!("the start failed: {error}"));
                    self.oracle.count("starts that failed");
                    self.scheduler.clear();
                    image = disk.torn(&mut |bound| self.random.usize(..bound));
                    may_fail = false;
                }
                Err(error) => {
                    let verdict = Err(format!("the store does not open: {error}"));
                    return self
                        .oracle
                        .report(properties::COMMITTED_IS_PERMANENT, verdict);
                }
            }
        }
    }

    /// Completes the start of the node, which removes the saved mempool.
    fn complete_start(&mut self) {
        if self.saved.take().is_some() {
            self.scheduler.trace(format_args!(
                "the start is complete: the saved mempool is removed"
            ));
        }
    }

    /// Performs the next action of the simulation, which the seed chooses.
    async fn perform_action(&mut self) {
        if self.saved.is_some() && self.random.u8(..4) == 0 {
            self.complete_start();
        }
        if self.oracle.disk_space.is_low() && self.random.u8(..8) == 0 {
            self.set_low_disk_space(false);
        }
        if self.has_clock_fault && self.random.u8(..16) == 0 {
            self.set_clock_fault(false);
        }
        match self.random.u8(..100) {
            0..=54 => self.begin_request(),
            55..=74 => {
                for _ in 0..self.random.usize(..20) {
                    self.scheduler.step();
                }
            }
            75..=81 => self.run_until_idle(),
            82 => self.submit_beyond_capacity(),
            83 => self.run_low_on_disk_space(),
            84..=90 => {
                let millis = self.random.u64(1..600);
                self.advance_time(millis).await;
            }
            91 => {
                let millis = self.random.u64(1_000..6_000);
                self.advance_time(millis).await;
            }
            92 => self.step_clock(),
            93 | 94 => self.clients.cancel_one(),
            95 => self.with_node(|world, node| {
                world
                    .clients
                    .begin_block_subscription(&world.scheduler, &node.handle);
            }),
            96 | 97 => self.inject_disk_fault(),
            98 => self.restart().await,
            _ => self.crash(),
        }
        self.oracle.add_visible_blocks();
        self.end_failed_node().await;
    }

    fn with_node(&self, f: impl FnOnce(&Self, &NodeUnderTest)) {
        if let Some(node) = &self.node {
            f(self, node);
        }
    }

    pub(super) fn begin_request(&self) {
        if self.clients.open().len() < self.options.concurrent_requests_max {
            let now_secs = self.now_secs();
            self.with_node(|world, node| {
                world
                    .clients
                    .begin_random(&world.scheduler, &node.handle, now_secs);
            });
        }
    }

    /// Runs steps until the node is idle, and checks that every request has a response.
    ///
    /// The exceptions are waits for pending transactions before their deadline.
    pub(super) fn run_until_idle(&self) {
        let mut steps = 0;
        while self.scheduler.step() {
            steps += 1;
            if steps > STEPS_TO_IDLE_MAX {
                let verdict = Err("the node does not become idle".to_owned());
                return self.oracle.report(properties::EVERY_REQUEST_ENDS, verdict);
            }
        }
        self.oracle.add_visible_blocks();
        if self.scheduler.is_halted() {
            return;
        }
        self.oracle.record_idle();
        let now = Instant::now();
        for request in self.clients.open() {
            let overdue = |reason: &str| Err(format!("{}: {reason}", request.description));
            let verdict = match &request.wait {
                None => overdue("there is no response"),
                Some(wait) if wait.deadline.get().is_none_or(|deadline| now >= deadline) => {
                    overdue("its deadline has passed")
                }
                Some(wait) if self.oracle.model().is_committed(&wait.hash) => {
                    overdue("it is committed")
                }
                Some(wait) => match self.pool_status(wait.hash) {
                    Some(PendingStatus::Pending(_)) | None => Ok(()),
                    Some(other) => overdue(&format!("it is not pending: {other:?}")),
                },
            };
            self.oracle.report(properties::EVERY_REQUEST_ENDS, verdict);
        }
    }

    /// Submits one to seven transactions to an idle node, one after the other, whether or not the
    /// pool has capacity.
    fn submit_beyond_capacity(&mut self) {
        self.run_until_idle();
        for _ in 0..self.random.usize(1..8) {
            let now_secs = self.now_secs();
            self.with_node(|world, node| {
                world.clients.begin_submit_beyond_capacity(
                    &world.scheduler,
                    &node.handle,
                    now_secs,
                );
            });
            self.run_until_idle();
        }
    }

    /// Makes disk space low, and sometimes submits transactions that were checked before.
    fn run_low_on_disk_space(&mut self) {
        self.set_low_disk_space(true);
        if self.random.bool() {
            self.run_until_idle();
            let now_secs = self.now_secs();
            for _ in 0..self.random.usize(1..4) {
                self.with_node(|world, node| {
                    world
                        .clients
                        .begin_late_submit(&world.scheduler, node, now_secs);
                });
            }
        }
    }

    /// Sets whether disk space is low.
    fn set_low_disk_space(&self, is_low: bool) {
        self.with_node(|world, node| {
            let disk_space = &world.oracle.disk_space;
            if is_low != disk_space.is_low() {
                world
                    .scheduler
                    .trace(format_args!("low disk space: {is_low}"));
                world.oracle.count(if is_low {
                    "periods of low disk space"
                } else {
                    "periods of low disk space that ended"
                });
                disk_space.set_low(is_low, world.scheduler.now_steps());
                let shortage = is_low.then(|| "7 bytes are left".into());
                node.handle.report_disk_space(shortage.as_ref());
            }
        });
    }

    /// Advances both clocks by `millis` milliseconds.
    async fn advance_time(&self, millis: u64) {
        self.scheduler.trace(format_args!("{millis} ms pass"));
        self.move_clock(|wall_usecs| wall_usecs + millis * 1_000, millis * 1_000);
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    /// Sets the wall clock to the result of `move_wall`, and advances elapsed time by
    /// `passed_usecs` microseconds.
    fn move_clock(&self, move_wall: impl FnOnce(u64) -> u64, passed_usecs: u64) {
        self.oracle.record_clock();
        let wall_usecs = move_wall(self.clock_usecs.load(SeqCst));
        self.clock_usecs.store(wall_usecs, SeqCst);
        self.elapsed_usecs.fetch_add(passed_usecs, SeqCst);
        let fault_usecs = if self.has_clock_fault {
            CLOCK_FAULT_USECS
        } else {
            0
        };
        self.oracle
            .advance_true_time(passed_usecs, wall_usecs.saturating_sub(fault_usecs));
        self.oracle.record_clock();
    }

    /// Moves the wall clock by some seconds, or sets it a year ahead.
    ///
    /// A chain without blocks gets no wrong year, because the node could not recognize it without a
    /// newest block.
    fn step_clock(&mut self) {
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
        self.scheduler.trace(format_args!(
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
            .trace(format_args!("the clock is wrong: {is_wrong}"));
        self.has_clock_fault = is_wrong;
        if is_wrong {
            self.oracle.count("clock faults");
            self.move_clock(|wall_usecs| wall_usecs + CLOCK_FAULT_USECS, 0);
        } else {
            self.oracle.add_visible_blocks();
            self.oracle.clear_clock_fault();
            self.move_clock(|wall_usecs| wall_usecs - CLOCK_FAULT_USECS, 0);
        }
    }

    /// Injects a fault into the disk, at most one per node.
    fn inject_disk_fault(&mut self) {
        let is_due =
            self.options.fault_rate > 0 && self.random.u32(..100) < self.options.fault_rate;
        let Some(node) = self
            .node
            .as_ref()
            .filter(|_| is_due && !self.is_fault_injected)
        else {
            return;
        };
        let after = self.random.usize(..25);
        let (counter, fault) = match self.random.u8(..6) {
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
        self.scheduler.trace(format_args!("{fault:?}"));
        self.oracle.count(counter);
    }

    /// Returns the fault of the node's disk, if there is one.
    ///
    /// The property [`properties::NO_FAILURE`] permits it only after a disk fault, and never
    /// permits a fatal error.
    pub(super) fn check_storage_fault(&self) -> Option<StorageFault> {
        let node = self.node.as_ref()?;
        if let Some(error) = node.failure.get() {
            let verdict = Err(error.to_string());
            self.oracle.report(properties::NO_FAILURE, verdict);
        }
        let fault = node.storage_health.fault()?;
        if node.disk.failures() == 0 {
            let verdict = Err(fault.to_string());
            self.oracle.report(properties::NO_FAILURE, verdict);
        }
        Some(fault)
    }

    /// Ends a failed node with a probability of one third, by a graceful stop or a crash.
    async fn end_failed_node(&mut self) {
        if self.check_storage_fault().is_none()
            || self.random.u8(..3) > 0
            || self.scheduler.is_halted()
        {
            return;
        }
        self.oracle.count("nodes ended after a disk failure");
        if self.random.bool() {
            self.restart().await;
        } else {
            self.crash();
        }
    }

    /// Ends the simulation: all waits time out, the node stops and starts again, and the chain is
    /// executed again.
    async fn finish(&mut self) {
        if self.check_storage_fault().is_some() || self.node.is_none() || self.is_fault_injected {
            self.options.fault_rate = 0;
            self.crash();
        }
        self.set_low_disk_space(false);
        self.set_clock_fault(false);
        self.run_until_idle();
        let wait_ms = self.options.node.wait.timeout_ms + 2_000;
        self.advance_time(wait_ms).await;
        self.run_until_idle();
        for request in self.clients.open() {
            let verdict = Err(format!("{} is open at the end", request.description));
            self.oracle.report(properties::EVERY_REQUEST_ENDS, verdict);
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
                .report(properties::BLOCK_TIME, Err(cause.to_string()));
        }
        if let Some(image) = self.stop(true).await {
            self.start(image);
        }
        self.oracle.observe(None);
        let verdict = audit::replay(self.oracle.fixture, &self.oracle.model());
        self.oracle.report(properties::REPLAY, verdict);
    }

    fn outcome(self) -> Outcome {
        let (interruptions, slow_syncs) = self.scheduler.interruptions();
        let mut counters = std::mem::take(&mut *self.oracle.counters());
        counters.add("steps", self.scheduler.now_steps());
        counters.add("interruptions", interruptions);
        counters.add("faults: slow sync", slow_syncs);
        self.scheduler.halt();
        self.scheduler.clear();
        Outcome {
            counters,
            violation: self.scheduler.violation(),
            last_lines: self.scheduler.last_lines(),
            trace_digest: self.scheduler.trace_digest(),
        }
    }
}
