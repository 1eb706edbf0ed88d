//! Runs many seeds on all cores and reports the results.

use super::{
    counters::Counters,
    world::{Outcome, simulate},
};
use std::{
    env,
    fmt::Write as _,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

/// Number of seeds of a default run.
pub(super) const SEEDS: u64 = 1_000;
/// First seed of a default run.
const FIRST_SEED: u64 = 1;
/// Number of seeds that run twice, to check that the trace is reproducible.
const REPLAYED_SEEDS: u64 = 5;
/// Stack size of a simulation's thread, in bytes. It is large because steps interrupt each other on
/// one stack.
const STACK_BYTES: usize = 16 << 20;

/// Counters that must not be 0 after a run of the default length, so that the run has covered every
/// case.
const REQUIRED_COUNTERS: &[&str] = &[
    "accepted without signature verification",
    "canceled requests",
    "checks of the synced disk",
    "clock faults",
    "clock steps",
    "committed transactions accepted again",
    "crashes before a start was complete",
    "crashes: killed",
    "crashes: power loss",
    "crashes: power loss, torn writes",
    "discarded by a block",
    "durable blocks that were not visible",
    "errors: clock not trusted",
    "errors: low disk space",
    "errors: stopping",
    "errors: store",
    "errors: write failed",
    "event streams with events",
    "faults: disk full",
    "faults: disk gone",
    "faults: failing reads",
    "faults: failing sync",
    "faults: failing write",
    "faults: one failing read",
    "faults: slow sync",
    "gas estimates",
    "graceful stops before a start was complete",
    "graceful stops",
    "interruptions",
    "late submissions",
    "left out by a full block",
    "nodes ended after a disk failure",
    "overloaded: committer",
    "overloaded: mempool",
    "overloaded: storage",
    "periods of low disk space that ended",
    "periods of low disk space",
    "reads above the head",
    "reads below the window",
    "reads inside the window",
    "rejected before signature verification",
    "rejected: account full",
    "rejected: invalid update",
    "rejected: invalid",
    "rejected: other signature",
    "rejected: pool full",
    "rejected: sequence number too old",
    "starts that failed",
    "status: committed",
    "status: evicted",
    "status: expired",
    "status: pending",
    "status: pruned",
    "status: rejected",
    "status: replaced",
    "status: unknown",
    "transactions accepted in batches",
    "transactions removed with a reason",
    "transactions retried",
    "transactions saved",
    "verdict: blocked",
    "verdict: can commit",
    "verdict: committed",
    "verdict: never, expired",
    "verdict: never, nonce used",
    "verdict: never, sequence number used",
    "verdict: pending",
    "verdict: perhaps pruned",
    "verdict: pruned",
    "verdict: waits for a sequence number",
    "waits that ended early",
    "waits that timed out",
];

/// A simulation that the runner runs for many seeds.
pub(super) struct Simulation {
    /// Path of the tests in this crate.
    pub(super) test: &'static str,
    /// Number of seeds of a default run.
    pub(super) seeds: u64,
    /// Counters that must not be 0 after a default run.
    pub(super) required_counters: &'static [&'static str],
    /// Runs the simulation of a seed.
    pub(super) simulate: fn(u64) -> Pin<Box<dyn Future<Output = Outcome>>>,
}

impl Simulation {
    /// Runs one seed.
    ///
    /// # Errors
    ///
    /// Returns a report with the command that replays the seed if a property is violated or the
    /// simulation panics.
    fn run_seed(&self, seed: u64) -> Result<Outcome, String> {
        let simulation = AssertUnwindSafe(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime");
            runtime.block_on(tokio::task::unconstrained((self.simulate)(seed)))
        });
        let replay_command = format!(
            "Replay it: SIMULATION_SEED={seed} cargo test -p ledger-actors --lib {}",
            self.test
        );
        let outcome = catch_unwind(simulation)
            .map_err(|_| format!("seed {seed}: panicked, see above\n{replay_command}"))?;
        match &outcome.violation {
            None => Ok(outcome),
            Some(violation) => {
                let mut text = format!(
                    "seed {seed}: {}: {}\nThe last steps:\n",
                    violation.property, violation.message
                );
                for line in &outcome.last_lines {
                    let _ = writeln!(text, "  {line}");
                }
                Err(text + &replay_command)
            }
        }
    }
}

/// Seeds to run.
struct Plan {
    first_seed: u64,
    /// Maximum number of seeds.
    seeds: u64,
    /// Time after which no further seed begins.
    deadline: Option<Instant>,
}

impl Plan {
    fn from_environment(default_seeds: u64) -> Self {
        let number = |name: &str| -> Option<u64> {
            let text = env::var(name).ok()?;
            Some(
                text.parse()
                    .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
            )
        };
        let minutes = number("SIMULATION_MINUTES");
        let deadline = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
        match (number("SIMULATION_SEED"), minutes) {
            (Some(first_seed), _) => Self {
                first_seed,
                seeds: number("SIMULATION_SEEDS").unwrap_or(1),
                deadline: None,
            },
            (None, Some(_)) => Self {
                first_seed: fastrand::u64(..u64::MAX / 2),
                seeds: u64::MAX / 2,
                deadline,
            },
            (None, None) => Self {
                first_seed: FIRST_SEED,
                seeds: number("SIMULATION_SEEDS").unwrap_or(default_seeds),
                deadline,
            },
        }
    }

    fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Runs a plan on all cores until a seed fails. Returns the counters of all seeds.
///
/// # Errors
///
/// Returns the report of the first seed that fails.
fn run_all(simulation: &Simulation, plan: &Plan) -> Result<Counters, String> {
    let next = AtomicU64::new(0);
    let has_failed = AtomicBool::new(false);
    let result = Mutex::new(Ok(Counters::default()));
    let work = || {
        while !has_failed.load(SeqCst) && !plan.is_over() {
            let index = next.fetch_add(1, SeqCst);
            if index >= plan.seeds {
                return;
            }
            let outcome = simulation.run_seed(plan.first_seed + index);
            let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
            match (outcome, &mut *result) {
                (Ok(outcome), Ok(counters)) => {
                    counters.count("seeds");
                    counters.merge(&outcome.counters);
                }
                (Err(report), first @ Ok(_)) => {
                    has_failed.store(true, SeqCst);
                    *first = Err(report);
                }
                (_, Err(_)) => {}
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work)
                .expect("a thread");
        }
    });
    result.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the seeds of the environment and asserts that all properties hold.
///
/// # Panics
///
/// Panics with the report of a seed that fails, or with the counters that a run of the default
/// length did not reach.
#[expect(
    clippy::print_stdout,
    reason = "`--nocapture` shows the counters of the run"
)]
pub(super) fn assert_properties(simulation: &Simulation) {
    let plan = Plan::from_environment(simulation.seeds);
    let started_at = Instant::now();
    let counters = run_all(simulation, &plan).unwrap_or_else(|report| panic!("{report}"));
    println!(
        "{}in {:.1} s",
        counters.lines(),
        started_at.elapsed().as_secs_f64()
    );
    if plan.seeds >= simulation.seeds {
        let required = simulation.required_counters.iter();
        let missing: Vec<_> = required
            .filter(|counter| counters.get(counter) == 0)
            .collect();
        assert!(missing.is_empty(), "counters without an event: {missing:?}");
    }
}

/// Asserts that a seed has the same trace again.
///
/// # Panics
///
/// Panics if a seed fails or its traces differ.
pub(super) fn assert_reproducible(simulation: &'static Simulation) {
    let run_twice = |seed| {
        let digest = || {
            simulation
                .run_seed(seed)
                .unwrap_or_else(|report| panic!("{report}"))
                .trace_digest
        };
        (digest(), digest())
    };
    for seed in FIRST_SEED..FIRST_SEED + REPLAYED_SEEDS {
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || run_twice(seed))
            .expect("a thread");
        let (first, second) = thread.join().expect("no panic");
        assert_eq!(first, second, "seed {seed}");
    }
}

/// The simulation of one node.
static ONE_NODE: Simulation = Simulation {
    test: "simulation::runner",
    seeds: SEEDS,
    required_counters: REQUIRED_COUNTERS,
    simulate: |seed| Box::pin(simulate(seed)),
};

#[test]
fn properties_hold_for_all_seeds() {
    assert_properties(&ONE_NODE);
}

#[test]
fn reproduces_the_trace_of_a_seed() {
    assert_reproducible(&ONE_NODE);
}
