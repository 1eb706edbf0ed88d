//! All concurrency of the node: five actors, the threads behind them, and [`NodeHandle`], which is
//! all that HTTP and tests know.
//!
//! | actor | owns | asks |
//! |---|---|---|
//! | mempool | pending transactions | - |
//! | sequencer | the order of blocks | mempool: the next batch; committer: execute a block |
//! | committer | execution, the [`Head`], those who wait | storage: make a block durable |
//! | storage | the threads that touch the disk | - |
//! | pruner | which versions may go | storage: remove some |
//!
//! Before any actor is asked, [`NodeHandle::check_signatures`] has signatures checked on threads of their
//! own (`signatures/`), and [`NodeHandle::check_filter`] tells which submissions the operator does not let
//! in (`filter/`). [`NodeHandle::render`] runs work that takes milliseconds on threads that exist from the
//! start (`renderers.rs`).
//!
//! The [`Head`] is one immutable value in a cell. The committer puts each new one there; only its lower end
//! is raised by the writer thread, before snapshots show that versions are gone. Neither undoes the other.
//!
//! # Rules
//! 1. An actor owns its state; others get messages or immutable values. No locks around state, no
//!    shared maps.
//! 2. A handler is a plain synchronous function of microseconds. What takes time runs on a named
//!    thread behind a bounded queue and answers with a message; only answers to HTTP are oneshots,
//!    carried inside the request.
//! 3. A limit wherever memory is held: mailboxes, pool, read queue, waiters, feeds, requests, blocks
//!    ordered but not yet durable. Full is an answer, never a wait.
//! 4. Requests go down the dependency order, replies and notices go up. No bounded cycle, so no
//!    deadlock.
//! 5. A broken invariant ends the process with a message ([`Node::failed`]); recovery from the last
//!    durable block is the only supervisor. A disk that fails ends only the writing
//!    ([`NodeHandle::storage_unavailable`]).

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
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
