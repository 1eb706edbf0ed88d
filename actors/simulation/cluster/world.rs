//! One simulation: four validators, their clients and network, and the faults that a seed chooses.

use super::{
    super::{
        fixture::{Fixture, START_SECS, VALIDATORS, validator_key},
        node::{NodeUnderTest, StartUp},
        options::Options,
        runner::{Simulation, assert_properties},
        scheduler::{Scheduler, SchedulerGuard, preempt_during_sync},
        world::{Outcome, STEPS_TO_IDLE_MAX},
    },
    clients::Clients,
    crashes::{Disks, Files},
    engine::{Control, Engine},
    engine_log::EngineLog,
    network::{Delivery, Network},
    record::{EVERY_REQUEST_ENDS, NO_FAILURE, Record},
    requests::Requests,
};
use crate::{
    Clock, ClockReading,
    engine::{ConsensusStart, may_sign, signed_height},
};
use fastrand::Rng;
use ledger_store::ConsensusLog;
use ledger_test_support::{Disk, Image};
use ledger_types::AccountAddress;
use std::{
    cell::Cell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::{oneshot, watch};

/// Number of seeds of a default run.
pub(super) const SEEDS: u64 = 200;

/// The validator that may prune. A validator that is far behind needs all blocks, and two of the
/// three that decided a block keep it: one for the other, which may lose its files.
const PRUNING_VALIDATOR: usize = 0;

/// Maximum lead of a validator's clock, in microseconds. Others accept blocks that are ahead of
/// them by half a second.
const CLOCK_LEAD_USECS_MAX: u64 = 800_000;

/// Counters that must not be 0 after a run of the default length.
const REQUIRED_COUNTERS: &[&str] = &[
    "blocks of peers stored",
    "blocks proposed again",
    "checks of a synced consensus log",
    "commits acknowledged to clients",
    "consensus logs restored from a copy",
    "crashes of all validators",
    "crashes: killed",
    "crashes: power loss",
    "crashes: power loss, torn writes",
    "decisions",
    "engines that a failed disk stopped",
    "faults: disk full",
    "faults: disk gone",
    "faults: failing reads",
    "faults: failing sync",
    "faults: failing write",
    "faults: one failing read",
    "graceful stops",
    "inputs of engine logs applied again",
    "interruptions",
    "invalid blocks",
    "ledgers restored from a copy",
    "lies: blocks",
    "lies: votes",
    "requests of peers for blocks",
    "starts as a follower",
    "starts with a pruned ledger",
    "timeouts",
    "transactions saved",
    "transactions sent to two validators",
    "validators replaced",
];

/// A validator that runs.
pub(super) struct Running {
    pub(super) node: NodeUnderTest,
    pub(super) disks: Disks,
    pub(super) control: Rc<Control>,
    pub(super) is_signer: bool,
    /// Whether a disk has a fault, present or pending.
    pub(super) has_disk_fault: bool,
}

/// A validator, running or down.
pub(super) struct Validator {
    pub(super) running: Option<Running>,
    /// Files of a validator that is down.
    pub(super) files: Option<Files>,
    /// A copy of the files, from which they may be restored.
    pub(super) older: Option<Files>,
    /// Whether its files were replaced and it has not signed since.
    pub(super) has_lost_files: bool,
    clock_lead_usecs: u64,
}

/// State of one simulation.
pub(super) struct World {
    options: Options,
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) record: Rc<Record>,
    pub(super) network: Rc<Network>,
    clients: Clients,
    clock_usecs: Arc<AtomicU64>,
    pub(super) validators: Vec<Validator>,
    /// Consensus log of a machine without a record.
    pub(super) new_log: Image,
    pub(super) random: Rng,
    _guard: SchedulerGuard,
}

/// Returns a consensus log that was created with this record.
fn log_image(signed_height: u64) -> Image {
    let disk = Disk::default();
    drop(ConsensusLog::create_backend(disk.clone(), signed_height).expect("a working disk"));
    disk.synced()
}

/// Runs the simulation of a seed.
async fn simulate(seed: u64) -> Outcome {
    let mut world = World::new(seed);
    world.start_all();
    for _ in 0..world.options.actions {
        if world.scheduler.is_halted() {
            break;
        }
        world.perform_action().await;
    }
    if !world.scheduler.is_halted() {
        world.heal().await;
    }
    if !world.scheduler.is_halted() {
        world.finish();
    }
    world.outcome()
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let mut options = Options::choose(&mut random);
        options.actions = random.usize(20..90);
        let scheduler = Scheduler::new(random.fork(), options.interruption_rates);
        let liar = (random.u8(..3) == 0).then(|| random.usize(..VALIDATORS));
        let record = Record::new(&scheduler, liar);
        let network = Network::new(&scheduler);
        network.loss_rate.set([0, 30, 200][random.usize(..3)]);
        network.duplication_rate.set([0, 100][random.usize(..2)]);
        scheduler.trace(format_args!("{options:?}, liar {liar:?}"));
        scheduler.add(Box::new(Delivery(Rc::clone(&network))));
        let files = Files {
            ledger: Fixture::of_validators().image.clone(),
            consensus_log: log_image(0),
            engine_log: EngineLog::default(),
            saved: None,
        };
        let validators = (0..VALIDATORS).map(|_| Validator {
            running: None,
            files: Some(files.clone()),
            older: Some(files.clone()),
            has_lost_files: false,
            clock_lead_usecs: random.u64(..CLOCK_LEAD_USECS_MAX),
        });
        Self {
            validators: validators.collect(),
            clients: Clients::new(&record, random.fork()),
            clock_usecs: Arc::new(AtomicU64::new(START_SECS * 1_000_000)),
            new_log: log_image(u64::MAX),
            _guard: scheduler.enter(),
            options,
            scheduler,
            record,
            network,
            random,
        }
    }

    /// Returns the group of a validator's processes.
    pub(super) fn group(validator: usize) -> usize {
        validator + 1
    }

    fn clock(&self, validator: usize) -> Clock {
        let clock_usecs = Arc::clone(&self.clock_usecs);
        let lead_usecs = self.validators[validator].clock_lead_usecs;
        Clock::from_readings(move || {
            let now_usecs = clock_usecs.load(SeqCst);
            ClockReading {
                wall_usecs: now_usecs + lead_usecs,
                elapsed_usecs: now_usecs - START_SECS * 1_000_000,
            }
        })
    }

    /// Starts a validator that is down.
    pub(super) fn start(&mut self, validator: usize) {
        let Some(files) = self.validators[validator].files.take() else {
            return;
        };
        let scheduler = Rc::clone(&self.scheduler);
        let started =
            scheduler.in_group(Self::group(validator), || self.start_on(validator, files));
        match started {
            Ok(running) => self.validators[validator].running = Some(running),
            Err(error) => {
                let verdict = Err(format!("validator {validator} does not start: {error}"));
                self.record.report(NO_FAILURE, verdict);
            }
        }
    }

    fn start_on(
        &mut self,
        validator: usize,
        files: Files,
    ) -> Result<Running, ledger_store::StoreError> {
        let mut config = self.options.node.clone();
        config.pruner.enabled &= validator == PRUNING_VALIDATOR;
        let disks = Disks {
            ledger: Disk::new(files.ledger),
            consensus_log: Disk::new(files.consensus_log),
        };
        let log = ConsensusLog::open_backend(disks.consensus_log.clone())?;
        let logged_height = files.engine_log.height;
        let signed_height = signed_height(&log, logged_height)?;
        let (work, heights) = watch::channel(0);
        let public_key = validator_key(validator as u64).public_key();
        let record = Rc::clone(&self.record);
        let start_up = StartUp {
            fixture: record.fixture,
            config: &config,
            clock: self.clock(validator),
            disk: disks.ledger.clone(),
            saved: files.saved.as_deref(),
            has_eager_compaction: self.options.has_eager_compaction,
            consensus: Some(ConsensusStart {
                address: Some(AccountAddress::from_public_key(&public_key)),
                log,
                work,
                // An engine of the model votes from the next start of its node on.
                may_vote: oneshot::channel().0,
                relay: None,
            }),
        };
        let mut audited = Ok(());
        let node = start_up.start(&self.scheduler, |reader, log| {
            audited = record.audit(validator, reader, log.expect("a validator has a log"));
        })?;
        audited?;
        disks.consensus_log.set_on_sync(preempt_during_sync);
        let next_height = node.next_height.expect("a validator has a next height");
        let is_signer = may_sign(next_height, Some(signed_height), logged_height);
        self.scheduler.trace(format_args!(
            "validator {validator} starts at {next_height}, signed {signed_height}, logged \
             {logged_height:?}: signs: {is_signer}"
        ));
        record.count("starts");
        if is_signer {
            record.begin_signing(validator);
            self.validators[validator].has_lost_files = false;
        } else {
            record.count("starts as a follower");
        }
        record.set_node(validator, node.handle.clone(), disks.clone());
        let control = Rc::new(Control::default());
        control.log.replace(files.engine_log);
        let engine = Engine::new(
            validator,
            is_signer,
            &record,
            &self.network,
            &control,
            (Requests::new(node.handle.engine_requests()), heights),
            self.random.fork(),
        );
        self.scheduler.add(Box::new(engine));
        Ok(Running {
            node,
            disks,
            control,
            is_signer,
            has_disk_fault: false,
        })
    }

    pub(super) fn step(&self) -> bool {
        let has_stepped = self.scheduler.step();
        self.record.observe_all();
        has_stepped
    }

    /// Performs the next action of the simulation, which the seed chooses.
    async fn perform_action(&mut self) {
        match self.random.u8(..100) {
            0..=29 => self.submit(),
            30..=54 => {
                for _ in 0..self.random.usize(..150) {
                    self.step();
                }
            }
            55..=64 => self.run_until_idle(),
            65..=76 => self.time_out_some(),
            77..=84 => {
                let millis = self.random.u64(1..600);
                self.advance_time(millis).await;
            }
            85..=87 => self.isolate_one(),
            88 | 89 => self.copy_files(),
            90 | 91 => self.lie(),
            92..=95 => self.crash_some(),
            96 => self.break_disk(),
            97 => self.stop_one(),
            _ => self.start_all(),
        }
        self.check_failures();
    }

    pub(super) fn submit(&mut self) {
        let validator = self.random.usize(..VALIDATORS);
        self.submit_to(validator);
    }

    fn submit_to(&mut self, validator: usize) {
        let Some(running) = &self.validators[validator].running else {
            return;
        };
        let now_secs = running.node.clock.now_secs();
        let (clients, handle) = (&mut self.clients, &running.node.handle);
        self.scheduler.in_group(Self::group(validator), || {
            clients.begin_submit(handle, now_secs);
        });
    }

    pub(super) fn run_until_idle(&self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            if steps > VALIDATORS * STEPS_TO_IDLE_MAX {
                let verdict = Err("the validators do not become idle".to_owned());
                return self.record.report(EVERY_REQUEST_ENDS, verdict);
            }
        }
        if self.scheduler.is_halted() {
            return;
        }
        for running in self.running().filter(|it| !it.disks.have_failed()) {
            if running.control.is_asking.get() {
                let verdict = Err("a request of an engine has no reply".to_owned());
                self.record.report(EVERY_REQUEST_ENDS, verdict);
            }
        }
    }

    pub(super) fn running(&self) -> impl Iterator<Item = &Running> {
        self.validators
            .iter()
            .filter_map(|validator| validator.running.as_ref())
    }

    fn time_out_some(&mut self) {
        let chosen = self.random.u8(1..16);
        for (index, validator) in self.validators.iter().enumerate() {
            if let Some(running) = &validator.running {
                let is_chosen = chosen & (1 << index) != 0;
                running.control.is_timeout_due.set(is_chosen);
            }
        }
    }

    pub(super) async fn advance_time(&self, millis: u64) {
        self.scheduler.trace(format_args!("{millis} ms pass"));
        self.clock_usecs.fetch_add(millis * 1_000, SeqCst);
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    fn isolate_one(&mut self) {
        let is_isolated: &Cell<bool> = &self.network.is_isolated[self.random.usize(..VALIDATORS)];
        is_isolated.set(!is_isolated.get());
    }

    /// Copies the files of a running validator, as a backup does.
    fn copy_files(&mut self) {
        let validator = &mut self.validators[self.random.usize(..VALIDATORS)];
        if let Some(running) = &validator.running {
            validator.older = Some(Files {
                ledger: running.disks.ledger.synced(),
                consensus_log: running.disks.consensus_log.synced(),
                engine_log: running.control.log.borrow().clone(),
                saved: None,
            });
        }
    }

    fn lie(&mut self) {
        if let Some(liar) = self.record.liar
            && let Some(running) = &self.validators[liar].running
        {
            let is_lying = &running.control.is_lying;
            is_lying.set(!is_lying.get());
        }
    }

    /// Crashes one validator, several or all. One of them may lose files, unless another one has.
    fn crash_some(&mut self) {
        let chosen = match self.random.u8(..4) {
            0 => 15,
            1 => self.random.u8(1..16),
            _ => 1 << self.random.usize(..VALIDATORS),
        };
        let victims: Vec<_> = (0..VALIDATORS)
            .filter(|index| chosen & (1 << index) != 0)
            .collect();
        self.crash(&victims);
        let has_lost_files = self.validators.iter().any(|it| it.has_lost_files);
        if !has_lost_files && self.random.u8(..4) == 0 {
            let victim = victims[self.random.usize(..victims.len())];
            self.lose_files(victim);
        }
        if self.random.bool() {
            self.start_all();
        }
    }

    /// Checks that a node fails only after a fault of a disk, and never by a broken invariant.
    pub(super) fn check_failures(&self) {
        for running in self.running() {
            let error = running.node.failure.get().map(ToString::to_string);
            let fault = running.node.storage_health.fault();
            let fault = fault.filter(|_| !running.disks.have_failed());
            if let Some(message) = error.or_else(|| fault.map(|fault| fault.to_string())) {
                self.record.report(NO_FAILURE, Err(message));
            }
        }
    }

    fn outcome(self) -> Outcome {
        let (interruptions, _) = self.scheduler.interruptions();
        let mut counters = std::mem::take(&mut *self.record.counters());
        counters.add("steps", self.scheduler.now_steps());
        counters.add("interruptions", interruptions);
        counters.add("heights", self.record.model().height());
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

/// The simulation of several validators.
static SIMULATION: Simulation = Simulation {
    test: "simulation::cluster::world",
    seeds: SEEDS,
    required_counters: REQUIRED_COUNTERS,
    simulate: |seed| Box::pin(simulate(seed)),
};

#[test]
fn validators_agree_for_all_seeds() {
    assert_properties(&SIMULATION);
}

#[test]
fn reproduces_the_trace_of_a_seed() {
    super::super::runner::assert_reproducible(&SIMULATION);
}
