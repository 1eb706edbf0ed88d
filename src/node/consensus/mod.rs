//! A node of a chain of several validators: its directory, its engine and its peers.

#[cfg(feature = "bft")]
mod admission;
#[cfg(feature = "bft")]
mod directory;
#[cfg(feature = "bft")]
mod engine;
mod entry;
#[cfg(feature = "bft")]
mod peers;
#[cfg(feature = "bft")]
mod relay;

#[cfg(feature = "bft")]
pub use admission::RunningPeers;
#[cfg(feature = "bft")]
pub use directory::ConsensusDirectory;
#[cfg(feature = "bft")]
pub use engine::{ConsensusError, PreparedEngine, RunningEngine};
pub use entry::{AdmissionError, PeerEntry, PeerRegistry};
#[cfg(feature = "bft")]
pub use peers::peers_text;
