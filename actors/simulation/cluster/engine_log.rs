//! The engine's log of the height at which it works.

use super::super::scheduler::Scheduler;
use super::votes::Input;

/// The log of one height, in memory and on the disk.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineLog {
    /// Height of the log, or `None` if the machine is new.
    pub(super) height: Option<u64>,
    pub(super) inputs: Vec<Input>,
    /// Number of inputs that are synced.
    synced: usize,
    /// The last round in which the validator has proposed, which is durable like its signature.
    pub(super) proposed_round: Option<u32>,
}

impl EngineLog {
    /// Begins a height. The inputs of the height are kept after a restart.
    pub(super) fn begin(&mut self, height: u64) -> Vec<Input> {
        if self.height != Some(height) {
            *self = Self {
                height: Some(height),
                ..Self::default()
            };
        }
        self.inputs.clone()
    }

    pub(super) fn append(&mut self, input: Input) {
        self.inputs.push(input);
    }

    pub(super) fn sync(&mut self) {
        self.synced = self.inputs.len();
    }

    /// Returns the log after a crash: the synced inputs, and some of the later ones.
    pub(super) fn crashed(&self, scheduler: &Scheduler) -> Self {
        let unsynced = self.inputs.len() - self.synced;
        let kept = self.synced + scheduler.random_below(unsynced + 1);
        Self {
            height: self.height,
            inputs: self.inputs[..kept].to_vec(),
            synced: kept,
            proposed_round: self.proposed_round,
        }
    }
}
