//! What operators see of the lanes.

use super::{Lane, room::Room};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The numbers of one lane. LaneCounters are since the start of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneStatus {
    /// The lane: `trusted` or `suspect`.
    pub lane: &'static str,
    /// How much work may wait, in ed25519 signatures that are checked alone; the last transaction that is let
    /// in may bring it beyond.
    pub capacity_signatures: usize,
    /// How much work waits now, in the same unit.
    pub waiting_signatures: usize,
    /// How many transactions wait now.
    pub waiting: usize,
    /// Transactions that were taken in.
    pub accepted: u64,
    /// Transactions that were refused because too much work was waiting.
    pub refused: u64,
    /// Transactions that were checked; those whose client went away meanwhile are not.
    pub checked: u64,
    /// Checked transactions that did not pass.
    pub bad: u64,
    /// Batches in which they were checked.
    pub batches: u64,
}

/// The counters of one lane; only counted, never used to order anything, hence relaxed.
#[derive(Debug, Default)]
pub(super) struct LaneCounters {
    accepted: AtomicU64,
    refused: AtomicU64,
    checked: AtomicU64,
    bad: AtomicU64,
    batches: AtomicU64,
}

impl LaneCounters {
    pub(super) fn accepted(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// A batch of so many was checked, and so many of them did not pass.
    pub(super) fn checked(&self, checked: usize, bad: usize) {
        self.checked.fetch_add(checked as u64, Relaxed);
        self.bad.fetch_add(bad as u64, Relaxed);
        self.batches.fetch_add(1, Relaxed);
    }

    pub(super) fn status(&self, lane: Lane, room: &Room, waiting: usize) -> LaneStatus {
        LaneStatus {
            lane: match lane {
                Lane::Trusted => "trusted",
                Lane::Suspect => "suspect",
            },
            capacity_signatures: room.capacity(),
            waiting_signatures: room.taken(),
            waiting,
            accepted: self.accepted.load(Relaxed),
            refused: self.refused.load(Relaxed),
            checked: self.checked.load(Relaxed),
            bad: self.bad.load(Relaxed),
            batches: self.batches.load(Relaxed),
        }
    }
}
