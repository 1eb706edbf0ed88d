//! Which cycle ends a node when, drawn from a seed.

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

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number of `range`, which is not empty. SplitMix64.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        range.start + (mixed ^ (mixed >> 31)) % (range.end - range.start)
    }
}

/// The cycles of a seed; the first ones are the same however many are asked for.
pub fn plan(seed: u64, cycles: usize) -> Vec<Cycle> {
    let mut random = Random::new(seed);
    let mut plan = Vec::new();
    while plan.len() < cycles {
        let mut round = ROUND;
        for at in (1..round.len()).rev() {
            round.swap(at, random.within(0..at as u64 + 1) as usize);
        }
        plan.extend(round.map(|phase| Cycle {
            phase,
            prunes: random.within(0..2) == 0 || phase == Phase::Pruning,
            moment: random.within(0..1000),
            load: Duration::from_millis(random.within(LOAD_MS)),
            sample_seed: random.within(0..u64::MAX),
        }));
    }
    plan.truncate(cycles);
    plan
}
