//! One simulation: a node on a disk, its clients, the time, and the faults that a seed chooses.

use super::{
    audit,
    clients::Clients,
    counters::Counters,
    faults::CLOCK_FAULT_USECS,
    fixture::START_SECS,
    node::{NodeUnderTest, StartUp},
    options::Options,
    oracle::{ObservedNode, Oracle},
    properties,
    scheduler::{Scheduler, SchedulerGuard, Violation},
};
use crate::{Clock, ClockReading, NotWritable, protocol::mempool::PendingStatus};
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
pub(super) const STEPS_TO_IDLE_MAX: usize = 20_000;

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
    pub(super) clock_usecs: Arc<AtomicU64>,
    pub(super) elapsed_usecs: Arc<AtomicU64>,
    /// Whether the wall clock is a year ahead.
    pub(super) has_clock_fault: bool,
    pub(super) node: Option<NodeUnderTest>,
    /// File that the last graceful stop saved. It exists until the start of the next node is
    /// complete.
    pub(super) saved: Option<Vec<u8>>,
    pub(super) random: Rng,
    /// Whether the disk of the present node has a fault, injected or pending.
    pub(super) is_fault_injected: bool,
    _guard: SchedulerGuard,
}

/// Creates the clock of a node from the readings of the simulation.
pub(super) fn clock(wall_usecs: &Arc<AtomicU64>, elapsed_usecs: &Arc<AtomicU64>) -> Clock {
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
        let oracle = Oracle::new(&scheduler, &options);
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
                consensus: None,
            };
            let oracle = Rc::clone(&self.oracle);
            match start_up.start(&self.scheduler, |reader, _| audit::audit(&oracle, reader)) {
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
            93..=95 => self.clients.cancel_one(),
            96 | 97 => self.inject_disk_fault(),
            98 => self.restart().await,
            _ => self.crash(),
        }
        self.oracle.add_visible_blocks();
        self.end_failed_node().await;
    }

    pub(super) fn with_node(&self, f: impl FnOnce(&Self, &NodeUnderTest)) {
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
                Some(wait) => {
                    let mut open = wait.hashes.clone();
                    open.retain(|hash| !self.oracle.model().is_committed(hash));
                    let is_pending = |hash| {
                        let status = self.pool_status(hash);
                        matches!(status, Some(PendingStatus::Pending(_)) | None)
                    };
                    match open.into_iter().any(is_pending) {
                        true => Ok(()),
                        false => overdue("none of its transactions is pending"),
                    }
                }
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

    /// Advances both clocks by `millis` milliseconds.
    async fn advance_time(&self, millis: u64) {
        self.scheduler.trace(format_args!("{millis} ms pass"));
        self.move_clock(|wall_usecs| wall_usecs + millis * 1_000, millis * 1_000);
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    /// Sets the wall clock to the result of `move_wall`, and advances elapsed time by
    /// `passed_usecs` microseconds.
    pub(super) fn move_clock(&self, move_wall: impl FnOnce(u64) -> u64, passed_usecs: u64) {
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
            .and_then(|node| node.handle.not_writable());
        if let Some(cause @ NotWritable::ClockUntrusted(_)) = unavailable {
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
