//! The plan of the cycles: when each one ends a node, drawn from a seed.

use fastrand::Rng;
use std::{ops::Range, time::Duration};

/// The phase of its life in which a node is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The node creates a ledger in a directory that does not exist.
    NewDirectory,
    /// The node starts on a ledger with history, until shortly after the ready line.
    Start,
    /// The node is under load.
    Load,
    /// The node is under load, and the lower bound of the window has just moved.
    Pruning,
    /// The node has received the stop signal and has not ended.
    Stop,
    /// The node has stopped gracefully, without an interruption.
    GracefulStop,
}

/// The phases of one round. Every round is shuffled.
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
    Phase::GracefulStop,
];

/// One cycle of the plan.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// The phase in which the node is ended.
    pub phase: Phase,
    /// Whether the cycle is one of the ledger with the short window, or else of the one that is not
    /// pruned.
    pub prunes: bool,
    /// The time within the phase at which the node is killed, in thousandths of the phase.
    pub permille: u64,
    /// Duration of the load before the phase begins.
    pub load: Duration,
    /// Seed of the sample of earlier commitments.
    pub sample_seed: u64,
}

/// Duration of the load before a node is ended, in milliseconds.
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
            permille: random.u64(..1000),
            load: Duration::from_millis(random.u64(LOAD_MS)),
            sample_seed: random.u64(..),
        }));
    }
    plan.truncate(cycles);
    plan
}
