//! Which cycle ends a node when, drawn from a seed.

use fastrand::Rng;
use std::{ops::Range, time::Duration};

/// When in its life a node is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// While it makes a ledger in a directory that is not there.
    NewDirectory,
    /// Between its start and the ready line or shortly after, on a ledger with history.
    Start,
    /// Under load.
    Load,
    /// Under load, just after the window's lower end has moved.
    Pruning,
    /// Between the signal that asks it to stop and its end.
    Stop,
    /// Asked to stop and let.
    StopAllowed,
}

/// One round of phases; every round is shuffled.
const ROUND: [Phase; 10] = [
    Phase::NewDirectory,
    Phase::Start,
    Phase::Start,
    Phase::Load,
    Phase::Load,
    Phase::Load,
    Phase::Pruning,
    Phase::Pruning,
    Phase::Stop,
    Phase::StopAllowed,
];

/// What one cycle does.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// When the node is ended.
    pub phase: Phase,
    /// Whether the ledger with the short window is meant; else the one that keeps everything.
    pub prunes: bool,
    /// Where in the time that the phase takes, in thousandths.
    pub moment: u64,
    /// How long there is load before the phase begins.
    pub load: Duration,
    /// Chooses what is looked at again of the past.
    pub sample_seed: u64,
}

/// Milliseconds of load before a node is ended.
const LOAD_MS: Range<u64> = 20..250;

/// Returns the first `cycles` cycles of a seed. A longer plan of the same seed begins with them.
pub fn plan(seed: u64, cycles: usize) -> Vec<Cycle> {
    let mut random = Rng::with_seed(seed);
    let mut plan = Vec::new();
    while plan.len() < cycles {
        let mut round = ROUND;
        random.shuffle(&mut round);
        plan.extend(round.map(|phase| Cycle {
            phase,
            prunes: random.bool() || phase == Phase::Pruning,
            moment: random.u64(..1000),
            load: Duration::from_millis(random.u64(LOAD_MS)),
            sample_seed: random.u64(..),
        }));
    }
    plan.truncate(cycles);
    plan
}
