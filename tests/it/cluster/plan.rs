//! The plan of the faults, drawn from a seed.

use super::{kit::VALIDATORS, network::Link};
use fastrand::Rng;
use ledger_test_support::node::DiskOperation;
use std::{ops::Range, time::Duration};

/// The files that a validator writes, as parts of their paths.
const FILES: [&str; 3] = ["engine.log", "consensus.redb", "ledger.log"];

/// The calls on each file at which validators are killed.
pub const OPERATIONS: [DiskOperation; 2] = [DiskOperation::Write, DiskOperation::Sync];

/// Number of calls before the one at which a validator is killed. An entry of the engine's log
/// takes several calls.
const EARLIER: Range<u64> = 0..12;

/// Leads of a wrong clock. Validators tolerate less than a second. A node that starts trusts a
/// clock that is an hour ahead.
const CLOCK_AHEAD_SECS: [i64; 4] = [1, 3_600, -1, -3_600];

/// Time under load before a fault, in milliseconds.
const LOAD_MS: Range<u64> = 50..400;

/// Duration of a fault, in milliseconds: enough for some turns of absent proposers.
const FAULT_MS: Range<u64> = 0..1_500;

/// Delays of slow links, in milliseconds, and the probabilities that they lose a packet.
const DELAY_MS: Range<u32> = 10..100;
const LOSSES: [f64; 3] = [0.0, 0.01, 0.05];

/// A call of a validator on one of its files.
#[derive(Clone, Copy, Debug)]
pub struct DiskCall {
    /// Part of the path of the file.
    pub file: &'static str,
    /// The kind of the call.
    pub operation: DiskOperation,
    /// Number of such calls before it.
    pub earlier: u64,
}

/// A fault of some of the validators.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// They are killed at any time.
    Kill,
    /// They are killed when one of them is about to make a call.
    KillAt(DiskCall),
    /// They stop gracefully.
    Stop,
    /// They are suspended, and continue.
    Pause,
    /// Their system clocks are wrong.
    Clock {
        /// Lead over the clocks of the others, in seconds.
        ahead_secs: i64,
        /// Whether they are killed and start with the wrong clocks.
        is_restarted: bool,
    },
    /// Nothing that the others send arrives at them, nor the reverse if `is_mutual`.
    Partition {
        /// Whether both directions are cut.
        is_mutual: bool,
    },
    /// All links between nodes are slow and lose packets.
    Links(Link),
}

impl Fault {
    /// Returns the name of the fault in the figures of a run.
    pub fn name(&self) -> String {
        match self {
            Self::Kill => "kill".to_owned(),
            Self::KillAt(DiskCall {
                file, operation, ..
            }) => {
                format!("kill at {operation:?} of {file}")
            }
            Self::Stop => "stop".to_owned(),
            Self::Pause => "pause".to_owned(),
            Self::Clock { .. } => "clock".to_owned(),
            Self::Partition { is_mutual: true } => "partition".to_owned(),
            Self::Partition { is_mutual: false } => "partition of one direction".to_owned(),
            Self::Links(Link { loss, .. }) => format!("slow links that lose {loss}"),
        }
    }
}

/// One step of the plan: a fault, and its end.
#[derive(Clone, Debug)]
pub struct Step {
    /// The fault.
    pub fault: Fault,
    /// The validators that have it, in the order in which they start again.
    pub nodes: Vec<usize>,
    /// Time under load before the fault.
    pub load: Duration,
    /// Duration of the fault. Validators that were killed start one after the other within as much
    /// time again.
    pub duration: Duration,
}

/// Returns the first `steps` steps of a seed. A longer plan of the same seed begins with them. With
/// a network, links have faults as well.
pub fn plan(seed: u64, steps: usize, nodes: usize, has_network: bool) -> Vec<Step> {
    let mut random = Rng::with_seed(seed);
    let mut plan = Vec::new();
    while plan.len() < steps {
        let mut faults = node_faults(&mut random);
        if has_network {
            faults.extend(network_faults(&mut random, nodes));
        }
        let mut round: Vec<_> = faults
            .into_iter()
            .map(|(fault, count)| step(&mut random, fault, count, nodes))
            .collect();
        random.shuffle(&mut round);
        plan.extend(round);
    }
    plan.truncate(steps);
    plan
}

/// Returns a fault of some of the nodes, in a random order.
fn step(random: &mut Rng, fault: Fault, count: usize, nodes: usize) -> Step {
    let mut nodes: Vec<_> = (0..nodes).collect();
    random.shuffle(&mut nodes);
    nodes.truncate(count);
    Step {
        fault,
        nodes,
        load: Duration::from_millis(random.u64(LOAD_MS)),
        duration: Duration::from_millis(random.u64(FAULT_MS)),
    }
}

/// Returns partitions of one node up to half of them, and slow links with each of the losses.
fn network_faults(random: &mut Rng, nodes: usize) -> Vec<(Fault, usize)> {
    let mut faults = Vec::new();
    for is_mutual in [false, true] {
        let partition = Fault::Partition { is_mutual };
        faults.extend((1..=nodes / 2).map(|count| (partition, count)));
    }
    faults.extend(LOSSES.map(|loss| {
        let delay_ms = random.u32(DELAY_MS);
        let link = Link {
            delay_ms,
            jitter_ms: delay_ms / 2,
            loss,
        };
        (Fault::Links(link), nodes)
    }));
    faults
}

/// Returns every kind of fault of a node, for one up to as many as there are validators.
fn node_faults(random: &mut Rng) -> Vec<(Fault, usize)> {
    let mut faults = Vec::new();
    let mut calls = Vec::new();
    for file in FILES {
        calls.extend(OPERATIONS.map(|operation| DiskCall {
            file,
            operation,
            earlier: random.u64(EARLIER),
        }));
    }
    faults.extend(calls.iter().map(|&call| (Fault::KillAt(call), 1)));
    for validators in 2..=VALIDATORS {
        let call = calls[random.usize(..calls.len())];
        faults.push((Fault::KillAt(call), validators));
    }
    faults.extend((1..=VALIDATORS).map(|validators| (Fault::Kill, validators)));
    faults.extend([1, random.usize(2..=VALIDATORS)].map(|validators| (Fault::Stop, validators)));
    faults.extend((1..=2).map(|validators| (Fault::Pause, validators)));
    faults.extend([false, true].map(|is_restarted| {
        let ahead_secs = CLOCK_AHEAD_SECS[random.usize(..CLOCK_AHEAD_SECS.len())];
        let clock = Fault::Clock {
            ahead_secs,
            is_restarted,
        };
        (clock, 1)
    }));
    faults
}
