//! All concurrency of the node: five actors, the threads behind them, and [`NodeHandle`], which is
//! all that HTTP and tests know.

#![allow(clippy::todo)]

mod committer;
mod config;
mod error;
mod handle;
mod lookup;
mod mailbox;
mod mempool;
mod node;

pub use committer::{BlockFeed, Head};
pub use config::{
    MailboxCapacities, MempoolConfig, NodeConfig, PrunerConfig, SequencerConfig, StorageConfig, WaitConfig,
};
pub use error::{FatalError, LeaveReason, ReadError, StartError, StopError, SubmitError, TuneError};
pub use handle::NodeHandle;
pub use lookup::{Accepted, Committed, Lookup};
pub use mailbox::MailboxStatus;
pub use mempool::GasEstimate;
pub use node::Node;
