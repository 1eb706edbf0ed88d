//! The cost model: the estimated duration of each kind of work.
//!
//! An estimate is linear in what a request demands: rows, bytes, gas, signatures. The coefficients
//! were measured once (`docs/decisions/cost-model.md`). A correction factor for each kind follows
//! the measured processor time, because machines differ and a kind also depends on caches and disk.

use crate::ClientKey;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Part of the former durations that each measured one replaces: the correction follows the last
/// few hundred.
const DECAY: f64 = 1.0 / 256.0;

/// Bounds of the correction factor, and of the ratio of each measured duration to its uncorrected
/// estimate. Beyond them, the duration says more about a machine that stood still than about the
/// work.
const CORRECTION_RANGE: (f64, f64) = (1.0 / 8.0, 64.0);

/// Kind of work with a cost of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Reads of a few rows: a balance, a resource, a transaction, a block without transactions.
    PointRead,
    /// Reads of a page of rows.
    Page,
    /// Simulations of transactions.
    Simulation,
    /// Calls of view functions.
    View,
    /// Responses that are rendered or compressed.
    Render,
    /// Bodies that are parsed.
    Parse,
    /// Executions of transactions in a block.
    Execution,
    /// Writes of executed blocks to the log and the database.
    Write,
}

/// What a unit of work demands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Number of rows that are read, or of tokens of a query that are parsed.
    pub rows: u64,
    /// Number of bytes that are read, parsed or written.
    pub bytes: u64,
    /// Units of gas that the work may use.
    pub gas: u64,
    /// Number of signatures that are checked, in units of one ed25519 signature.
    pub signatures: u64,
}

impl Demand {
    /// Returns a demand of this many rows.
    pub const fn rows(rows: usize) -> Self {
        Self {
            rows: rows as u64,
            ..Self::NONE
        }
    }

    /// Returns a demand of this many bytes.
    pub const fn bytes(bytes: usize) -> Self {
        Self {
            bytes: bytes as u64,
            ..Self::NONE
        }
    }

    /// The demand of work of constant cost.
    const NONE: Self = Self {
        rows: 0,
        bytes: 0,
        gas: 0,
        signatures: 0,
    };
}

/// A unit of work that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Class of the address of the client.
    pub client: ClientKey,
    /// Kind of the work.
    pub kind: WorkKind,
    /// What the work demands.
    pub demand: Demand,
    /// Whether the work continues a request whose first part was admitted. It precedes the other
    /// work of its client and is always admitted, so that a client's requests in parts are
    /// completed one after the other and hold little memory.
    pub is_continued: bool,
}

impl Work {
    /// Returns work of the node itself.
    pub const fn of_node(kind: WorkKind, demand: Demand) -> Self {
        Self {
            client: ClientKey::NODE,
            kind,
            demand,
            is_continued: false,
        }
    }

    /// Returns the estimated duration without the correction by measured durations, in
    /// microseconds, at least 1. It depends on kind and demand only.
    pub fn uncorrected_usecs(&self) -> u64 {
        self.kind.model_usecs(self.demand)
    }
}

/// Duration of each part of a demand, in nanoseconds.
struct Coefficients {
    fixed: u64,
    row: u64,
    /// Duration of 1,024 bytes.
    kibibyte: u64,
    gas: u64,
    signature: u64,
}

impl WorkKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::PointRead,
        Self::Page,
        Self::Simulation,
        Self::View,
        Self::Render,
        Self::Parse,
        Self::Execution,
        Self::Write,
    ];

    /// Returns the name of the kind in metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::PointRead => "point_read",
            Self::Page => "page",
            Self::Simulation => "simulation",
            Self::View => "view",
            Self::Render => "render",
            Self::Parse => "parse",
            Self::Execution => "execution",
            Self::Write => "write",
        }
    }

    const fn coefficients(self) -> Coefficients {
        let (fixed, row, kibibyte, gas, signature) = match self {
            Self::PointRead => (5_000, 1_000, 300, 0, 0),
            Self::Page => (10_000, 5_000, 300, 0, 0),
            Self::Simulation => (25_000, 0, 53_000, 0, 0),
            Self::View => (30_000, 0, 7_000, 0, 0),
            Self::Render => (5_000, 0, 3_500, 0, 0),
            Self::Parse => (2_000, 2_000, 7_000, 0, 0),
            // A transfer takes 10 us for 28 units beyond the intrinsic gas, 1,500 transfers in one
            // transaction 4.4 ms for 10,459.
            Self::Execution => (2_000, 0, 0, 400, 1_000),
            // The write of a transfer takes 8 to 11 us.
            Self::Write => (3_000, 0, 5_000, 0, 0),
        };
        Coefficients {
            fixed,
            row,
            kibibyte,
            gas,
            signature,
        }
    }

    /// Returns the duration of this kind of work without correction, in microseconds, at least 1.
    fn model_usecs(self, demand: Demand) -> u64 {
        let of = self.coefficients();
        let parts = [
            of.row.saturating_mul(demand.rows),
            of.kibibyte.saturating_mul(demand.bytes) / 1024,
            of.gas.saturating_mul(demand.gas),
            of.signature.saturating_mul(demand.signatures),
        ];
        let nsecs = parts.into_iter().fold(of.fixed, u64::saturating_add);
        (nsecs / 1_000).max(1)
    }
}

/// The estimated cost of a unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Kind of the work.
    pub kind: WorkKind,
    /// Estimated duration, in microseconds, at least 1.
    pub usecs: u64,
    /// The duration before the correction, in microseconds.
    model_usecs: u64,
}

impl Estimate {
    /// Returns the estimate of two units of work of one kind that are measured together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            kind: self.kind,
            usecs: self.usecs.saturating_add(other.usecs),
            model_usecs: self.model_usecs.saturating_add(other.model_usecs),
        }
    }

    /// Returns the estimated duration before its correction by measured durations, in microseconds,
    /// at least 1. It depends on the demand only.
    pub fn uncorrected_usecs(&self) -> u64 {
        self.model_usecs
    }
}

/// Estimates and measured durations of one kind of work since the start of the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostStatus {
    /// Kind of the work.
    pub kind: WorkKind,
    /// Number of measured units.
    pub units: u64,
    /// Sum of their estimates, in microseconds.
    pub estimated_usecs: u64,
    /// Sum of their measured durations, in microseconds.
    pub actual_usecs: u64,
    /// Factor by which estimates are multiplied now.
    pub correction: f64,
}

/// The estimates of all kinds of work in a process.
#[derive(Debug, Default)]
pub struct CostModel {
    kinds: [KindState; WorkKind::ALL.len()],
}

/// Sums of one kind. The atomics order no other memory, so they are relaxed.
#[derive(Debug)]
struct KindState {
    units: AtomicU64,
    estimated_usecs: AtomicU64,
    actual_usecs: AtomicU64,
    /// Bits of the correction factor that follows from `recent`. Every request reads it, so it
    /// needs no lock.
    correction_bits: AtomicU64,
    /// Only measured durations lock it.
    recent: Mutex<Recent>,
}

/// Weighted sums of the recent durations, without correction and as measured.
#[derive(Clone, Copy, Debug)]
struct Recent {
    model_usecs: f64,
    actual_usecs: f64,
}

impl Recent {
    /// Replaces a part of the former durations by one with these durations.
    ///
    /// The measured duration is bounded by its uncorrected estimate, so that one sample changes the
    /// correction by little, however long the machine stood still.
    fn add(&mut self, model_usecs: u64, actual_usecs: u64) {
        let (least, most) = CORRECTION_RANGE;
        let model_usecs = model_usecs as f64;
        let actual_usecs = (actual_usecs as f64).clamp(least * model_usecs, most * model_usecs);
        self.model_usecs += DECAY * (model_usecs - self.model_usecs);
        self.actual_usecs += DECAY * (actual_usecs - self.actual_usecs);
    }

    fn correction(self) -> f64 {
        let (least, most) = CORRECTION_RANGE;
        (self.actual_usecs / self.model_usecs).clamp(least, most)
    }
}

impl Default for KindState {
    fn default() -> Self {
        // As if one unit of the mean duration had been estimated correctly.
        let recent = Recent {
            model_usecs: 1.0,
            actual_usecs: 1.0,
        };
        Self {
            units: AtomicU64::default(),
            estimated_usecs: AtomicU64::default(),
            actual_usecs: AtomicU64::default(),
            correction_bits: AtomicU64::new(recent.correction().to_bits()),
            recent: Mutex::new(recent),
        }
    }
}

impl KindState {
    /// Returns the factor by which estimates are multiplied.
    fn correction(&self) -> f64 {
        f64::from_bits(self.correction_bits.load(Relaxed))
    }
}

impl CostModel {
    fn state(&self, kind: WorkKind) -> &KindState {
        &self.kinds[kind as usize]
    }

    /// Estimates the duration of work of this kind.
    pub fn estimate(&self, kind: WorkKind, demand: Demand) -> Estimate {
        let model_usecs = kind.model_usecs(demand);
        let correction = self.state(kind).correction();
        Estimate {
            kind,
            usecs: ((model_usecs as f64 * correction) as u64).max(1),
            model_usecs,
        }
    }

    /// Records how long the work of an estimate took, in microseconds.
    pub fn record(&self, estimate: Estimate, actual_usecs: u64) {
        let state = self.state(estimate.kind);
        state.units.fetch_add(1, Relaxed);
        state.estimated_usecs.fetch_add(estimate.usecs, Relaxed);
        state.actual_usecs.fetch_add(actual_usecs, Relaxed);
        let mut recent = state.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.add(estimate.model_usecs, actual_usecs);
        // Within the lock, so that the correction is that of the newest sums.
        state
            .correction_bits
            .store(recent.correction().to_bits(), Relaxed);
    }

    /// Returns estimates and measured durations of all kinds.
    pub fn status(&self) -> [CostStatus; WorkKind::ALL.len()] {
        WorkKind::ALL.map(|kind| {
            let state = self.state(kind);
            CostStatus {
                kind,
                units: state.units.load(Relaxed),
                estimated_usecs: state.estimated_usecs.load(Relaxed),
                actual_usecs: state.actual_usecs.load(Relaxed),
                correction: state.correction(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand = Demand {
        rows: 25,
        bytes: 10_240,
        gas: 0,
        signatures: 0,
    };

    #[test]
    fn estimates_grow_with_each_part_of_a_demand() {
        let model = CostModel::default();
        for kind in WorkKind::ALL {
            let usecs = |demand| model.estimate(kind, demand).usecs;
            let largest = Demand {
                rows: u64::MAX,
                bytes: u64::MAX,
                gas: u64::MAX,
                signatures: u64::MAX,
            };
            assert!(usecs(Demand::default()) >= 1);
            assert!(usecs(DEMAND) >= usecs(Demand::default()));
            assert!(usecs(largest) > 1_000_000_000, "{kind:?}");
        }
    }

    #[test]
    fn labels_and_numbers_of_kinds_are_distinct() {
        for (number, kind) in WorkKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            let same = WorkKind::ALL
                .iter()
                .filter(|other| other.label() == kind.label());
            assert_eq!(same.count(), 1);
        }
    }

    #[test]
    fn the_correction_follows_the_measured_durations_within_its_bounds() {
        let model = CostModel::default();
        let first = model.estimate(WorkKind::Page, DEMAND);
        for _ in 0..2_000 {
            let estimate = model.estimate(WorkKind::Page, DEMAND);
            model.record(estimate, 3 * first.usecs);
        }
        let corrected = model.estimate(WorkKind::Page, DEMAND).usecs;
        assert!(
            corrected.abs_diff(3 * first.usecs) <= first.usecs / 50,
            "{corrected}"
        );
        for _ in 0..10_000 {
            model.record(first, u64::MAX / 2_000_000);
        }
        let [_, page, ..] = model.status();
        assert_eq!((page.units, page.correction), (12_000, 64.0));
        let other = model.estimate(WorkKind::View, DEMAND);
        assert_eq!(
            other.usecs, other.model_usecs,
            "kinds are corrected separately"
        );
    }

    #[test]
    fn one_duration_of_a_machine_that_stood_still_changes_the_correction_by_little() {
        for stood_still_usecs in [60_000_000, u64::MAX] {
            let model = CostModel::default();
            let correct = model.estimate(WorkKind::Write, DEMAND);
            for _ in 0..2_000 {
                model.record(correct, correct.usecs);
            }
            model.record(correct, stood_still_usecs);
            let usecs = model.estimate(WorkKind::Write, DEMAND).usecs;
            assert!(
                usecs <= correct.usecs + correct.usecs / 3,
                "{usecs}, correct {}",
                correct.usecs
            );
        }
    }
}
