//! The concurrency of the node: five actors, the threads behind them, and [`NodeHandle`], through
//! which HTTP and tests use them.
//!
//! | actor | owns | sends requests to |
//! |---|---|---|
//! | mempool | pending transactions | - |
//! | sequencer | the order of blocks | mempool: the next batch; committer: execute a block |
//! | committer | execution, the [`Head`], the waiters | storage: make a block durable; mempool: check a pending transaction |
//! | storage | the threads that read and write the store | - |
//! | pruner | the window of readable versions | storage: prune old versions |
//!
//! [`NodeHandle::check_filter`] checks a submission against the operator's rules (`filter/`).
//! [`NodeHandle::check_signatures`] checks its signatures on threads of their own (`signatures/`).
//! Neither needs an actor. [`NodeHandle::render`] runs work that takes milliseconds on threads that
//! exist from the start (`node/renderers.rs`).
//!
//! The [`Head`] is an immutable value, which the committer publishes for each group of blocks. Its
//! oldest version comes from a second cell, which the writer thread raises before new snapshots
//! omit pruned versions. Each cell has one writer, so neither writer overwrites a value of the
//! other.
//!
//! # Rules
//! 1. An actor owns its state. Other threads receive messages or immutable values. No locks around
//!    state, no shared maps.
//! 2. A handler is a plain synchronous function that takes microseconds. Longer work runs on a
//!    named thread behind a bounded queue, and its result is a message. Only replies to HTTP are
//!    oneshots, which the request carries.
//! 3. Everything that holds memory has a limit: mailboxes, pool, read queue, waiters, feeds,
//!    requests, blocks ordered but not yet durable. At a limit, a request is rejected and never
//!    waits.
//! 4. Requests go down the dependency order, replies and notifications go up. No cycle of bounded
//!    queues exists, so no deadlock.
//! 5. A broken invariant ends the process with a message ([`Node::failed`]); recovery from the last
//!    durable block is the only supervisor. A fault of the disk ends only the writing
//!    ([`NodeHandle::storage_unavailable`]).

// A request of a client must not end the process. A panic names the broken invariant.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod committer;
mod config;
mod error;
mod filter;
#[doc(hidden)]
pub mod fuzzing;
mod mempool;
mod node;
mod protocol;
mod pruner;
mod runtime;
mod sequencer;
mod signatures;
#[cfg(test)]
mod simulation;
mod state;
mod storage;
#[cfg(test)]
mod testing;

pub use crate::config::{
    ActorsConfig, MailboxCapacities, MempoolConfig, NodeConfig, PrunerConfig, SequencerConfig,
    SignaturesConfig, StorageConfig, WaitConfig,
    filter_rules::{
        FilterAction, FilterError, FilterRule, FilterRuleError, FilterRules, FilterSubject,
    },
};
pub use crate::error::{
    FatalError, FaultKind, NodeError, RemovalReason, StartError, StopError, StorageFault,
    StorageUnavailable, SubmitError, TuneError,
};
pub use crate::filter::{Filtered, SubmissionFilter};
pub use crate::mempool::{Pool, Removed, meter::PoolStatus};
pub use crate::node::{
    Node, handle::NodeHandle, lookup::TransactionStatus, meters::MeterStatus, submit::Accepted,
    wait_meter::WaitStatus,
};
pub use crate::protocol::{
    block_feed::BlockFeed,
    mempool::{BatchLimits, GasEstimate, Pending},
};
pub use crate::runtime::{
    clock::{Clock, ClockReading, ClockState, ClockStatus},
    mailbox::MailboxStatus,
    work_meter::WorkStatus,
};
pub use crate::signatures::{Lane, LaneStatus};
pub use crate::state::{
    committed::{CommittedTransaction, TransactionContent},
    head::Head,
};
pub use crate::storage::meter::CommitStatus;
