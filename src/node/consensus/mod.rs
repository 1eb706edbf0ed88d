//! A node of a chain of several validators: its directory, and its engine.

mod directory;
mod engine;

pub use directory::{DirectoryError, PeerEntry, Secrets, ValidatorDirectory};
pub use engine::{ConsensusError, PreparedEngine, RunningEngine};
