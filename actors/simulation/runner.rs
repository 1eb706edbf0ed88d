//! Runs many seeds on all cores and reports the results.

use super::{
    figures::Figures,
    world::{Outcome, simulate},
};
use std::{
    env,
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

/// Number of seeds of a default run.
pub(super) const SEEDS: u64 = 3_000;
/// First seed of a default run.
const FIRST_SEED: u64 = 1;
/// Number of seeds that run twice, to check that the trace is reproducible.
const REPLAYED: u64 = 20;
/// Stack size of a simulation's thread, in bytes. It is large because steps interrupt each other on
/// one stack.
const STACK_BYTES: usize = 16 << 20;

/// Counters that must not be 0 after a run of the default length, so that the run has covered every
/// case.
const MUST_HAPPEN: &[&str] = &[
    "answers: committed",
    "answers: evicted",
    "answers: expired",
    "answers: gas",
    "answers: pending",
    "answers: pruned by hash",
    "answers: rejected",
    "answers: replaced",
    "answers: unknown",
    "blocks from the feed",
    "blocks that were durable and not shown",
    "clients that went away",
    "clock faults",
    "clock steps",
    "crashes before a start was complete",
    "crashes: killed",
    "crashes: power loss",
    "crashes: power loss, torn writes",
    "discarded by a block",
    "faults: disk full",
    "faults: disk gone",
    "faults: failing reads",
    "faults: failing sync",
    "faults: failing write",
    "faults: one failing read",
    "faults: slow sync",
    "graceful stops",
    "graceful stops before a start was complete",
    "interruptions",
    "late submissions",
    "left out by a full block",
    "looks at the synced disk",
    "no answer: no room on the disk",
    "no answer: the clock is not believed",
    "no answer: stopping",
    "no answer: unwritable",
    "no answer: the disk failed",
    "nodes ended by a failed disk",
    "overloaded: committer",
    "overloaded: mempool",
    "overloaded: storage",
    "pauses that ended",
    "pauses without room",
    "reads above the head",
    "reads below the window",
    "reads inside the window",
    "refused before the signatures are checked",
    "refused: account full",
    "refused: invalid",
    "refused: number given to a block",
    "refused: place taken",
    "refused: pool full",
    "refused: signed again",
    "starts that failed",
    "transactions dropped with a reason",
    "transactions saved",
    "waits that ended early",
    "waits that ran out",
];

/// Runs one seed.
///
/// # Errors
///
/// Returns a report with the command that replays the seed if a property is violated or the
/// simulation panics.
fn run(seed: u64) -> Result<Outcome, String> {
    let simulation = AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(tokio::task::unconstrained(simulate(seed)))
    });
    let outcome = catch_unwind(simulation)
        .map_err(|_| format!("seed {seed}: panicked, see above\n{}", replay_command(seed)))?;
    match &outcome.violation {
        None => Ok(outcome),
        Some(violation) => {
            let mut text = format!(
                "seed {seed}: {}: {}\nThe last steps:\n",
                violation.property, violation.what
            );
            for line in &outcome.last_lines {
                let _ = writeln!(text, "  {line}");
            }
            Err(text + &replay_command(seed))
        }
    }
}

fn replay_command(seed: u64) -> String {
    format!("Replay it: SIMULATION_SEED={seed} cargo test -p ledger-actors --lib simulation")
}

/// Seeds to run.
struct Plan {
    first_seed: u64,
    /// Maximum number of seeds.
    seeds: u64,
    /// Time after which no further seed begins.
    until: Option<Instant>,
}

impl Plan {
    fn from_environment() -> Self {
        let number = |name: &str| -> Option<u64> {
            let text = env::var(name).ok()?;
            Some(
                text.parse()
                    .unwrap_or_else(|_| panic!("{name}={text} is no number")),
            )
        };
        let minutes = number("SIMULATION_MINUTES");
        let until = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
        match (number("SIMULATION_SEED"), minutes) {
            (Some(first_seed), _) => Self {
                first_seed,
                seeds: 1,
                until: None,
            },
            (None, Some(_)) => Self {
                first_seed: fastrand::u64(..u64::MAX / 2),
                seeds: u64::MAX / 2,
                until,
            },
            (None, None) => Self {
                first_seed: FIRST_SEED,
                seeds: number("SIMULATION_SEEDS").unwrap_or(SEEDS),
                until,
            },
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Runs a plan on all cores until a seed fails. Returns the counters of all seeds.
///
/// # Errors
///
/// Returns the report of the first seed that fails.
fn run_all(plan: &Plan) -> Result<Figures, String> {
    let next = AtomicU64::new(0);
    let has_failed = AtomicBool::new(false);
    let result = Mutex::new(Ok(Figures::default()));
    let work = || {
        while !has_failed.load(SeqCst) && !plan.is_over() {
            let index = next.fetch_add(1, SeqCst);
            if index >= plan.seeds {
                return;
            }
            let outcome = run(plan.first_seed + index);
            let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
            match (outcome, &mut *result) {
                (Ok(outcome), Ok(figures)) => {
                    figures.count("seeds");
                    figures.merge(&outcome.figures);
                }
                (Err(failed), first @ Ok(_)) => {
                    has_failed.store(true, SeqCst);
                    *first = Err(failed);
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

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the figures of a run are for who asked for it"
)]
fn promises_hold_whatever_happens() {
    let plan = Plan::from_environment();
    let begun = Instant::now();
    let figures = run_all(&plan).unwrap_or_else(|failed| panic!("{failed}"));
    println!(
        "{}in {:.1} s",
        figures.lines(),
        begun.elapsed().as_secs_f64()
    );
    if plan.seeds >= SEEDS {
        let missing: Vec<_> = MUST_HAPPEN
            .iter()
            .filter(|what| figures.get(what) == 0)
            .collect();
        assert!(missing.is_empty(), "never happened: {missing:?}");
    }
}

#[test]
fn a_seed_does_the_same_every_time() {
    let run_twice = |seed| {
        let digest = || {
            run(seed)
                .unwrap_or_else(|failed| panic!("{failed}"))
                .trace_digest
        };
        (digest(), digest())
    };
    for seed in FIRST_SEED..FIRST_SEED + REPLAYED {
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || run_twice(seed))
            .expect("a thread");
        let (first, second) = thread.join().expect("no panic");
        assert_eq!(first, second, "seed {seed}");
    }
}
