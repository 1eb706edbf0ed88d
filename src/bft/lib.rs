//! The consensus engine of a chain of several validators: [Malachite], behind the node's interface
//! [`ledger_actors::engine`]. Nothing outside this crate names the engine.
//!
//! [Malachite]: https://github.com/circlefin/malachite

// A message of a peer must not end the process. Only a broken invariant panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod adapter;
mod assembly;
mod certificate;
mod codec;
mod context;
mod engine;
mod error;
mod gate;
mod observed;
mod parts;
mod peers;
mod report;
mod settings;
mod signer;
mod sizes;
mod start;
mod status;
mod supervisor;

/// Prefixes of the log targets of the engine and its network.
pub const LOG_TARGETS: [&str; 6] = [
    "arc_malachitebft",
    "hickory",
    "libp2p",
    "multistream_select",
    "ractor",
    "yamux",
];

pub use adapter::NodeSender;
pub use engine::{Engine, EngineObserver, log_height};
pub use error::{AdmitError, StartError};
pub use peers::{NetworkKey, Peer, PeerError, PeerIdentity};
pub use settings::{Settings, Timeouts};
pub use status::{EngineState, EngineStatus, Step, StopReason};
