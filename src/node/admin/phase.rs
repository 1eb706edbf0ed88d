//! The phase of the node's life, for the checks.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::Relaxed},
};

/// A phase of the node's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The ready line is not printed yet.
    Starting,
    /// The node serves.
    Serving,
    /// A signal or an error has begun the stop.
    Stopping,
}

/// The present phase. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct PhaseCell(Arc<AtomicU8>);

impl PhaseCell {
    /// Enters a phase.
    pub fn enter(&self, phase: Phase) {
        self.0.store(phase as u8, Relaxed);
    }

    /// Returns the present phase.
    pub fn get(&self) -> Phase {
        let phases = [Phase::Starting, Phase::Serving, Phase::Stopping];
        let present = self.0.load(Relaxed);
        let found = phases.into_iter().find(|phase| *phase as u8 == present);
        found.unwrap_or(Phase::Stopping)
    }
}
