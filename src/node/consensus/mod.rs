//! A node of a chain of several validators: its directory, and its engine.

mod directory;
mod engine;
mod relay;

pub use directory::{ConsensusDirectory, DirectoryError, PeerEntry, Secrets};
pub use engine::{ConsensusError, PreparedEngine, RunningEngine};
