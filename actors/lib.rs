//! The concurrency of the node: the actors, the threads behind them, and [`NodeHandle`], which is
//! all that HTTP and tests use.
//!
//! Control and data are separate. An actor owns state and decides. A worker thread, owned by one
//! actor, runs the work that takes time. An HTTP worker does the work of its own requests: parsing,
//! filter, the signature check of a lone submission, validation, reads of a few rows, JSON, and the
//! completion of its waits.
//!
//! | actor | owns | sends |
//! |---|---|---|
//! | mempool | pending transactions | batches to the sequencer, removals to the committer |
//! | sequencer | the order of blocks | ordered blocks to the committer |
//! | committer | the [`Head`], waiters | durable blocks to mempool, sequencer, pruner, waiters |
//! | storage | the health of the storage, the threads that touch the disk, their queues, the schedule of scrubbing | steps of pruning to the writer, queries to the readers, passes to the scrubber, pauses to the other actors |
//! | pruner | the window of readable versions | steps of pruning to storage |
//!
//! `docs/internals/actors.md` lists every message, queue, thread and fault, and the states of a
//! block.
//!
//! # Folders
//!
//! A folder imports only from those above it, and those of one row do not import each other.
//! `tests/tidy/layers.rs` checks that.
//!
//! | folder | content |
//! |---|---|
//! | `error` | errors of the calls to a node ([`NodeError`], [`SubmitError`]), faults that end its work |
//! | `config` | [`NodeConfig`]: limits, times and sizes of all parts |
//! | `runtime` | mailboxes, arbiter groups, worker threads, [`Clock`], fatal errors |
//! | `state` | published state: [`Head`], accounts, the prune horizon, the health of the storage |
//! | [`engine`] | the interface to a consensus engine |
//! | [`relay`] | the interface to the relay of transactions between nodes |
//! | `protocol` | messages to each actor, and the types that several actors share |
//! | `notifier` | the task of an HTTP worker that completes its waits |
//! | `mempool`, `sequencer`, `committer`, `storage`, `pruner`, `signatures`, `filter` | the actors; the signature threads; the [`SubmissionFilter`] of the operator |
//! | `node` | [`Node`]: start and stop; [`NodeHandle`]: submissions, look-ups, waits |
//!
//! # Rules
//!
//! Each is followed by the test that fails without it.
//!
//! 1. State has one owner. Other parts receive messages or published values. A published value is
//!    immutable, sits in a cell and is written by one owner: the Head by the committer, the prune
//!    horizon by the writer thread, the health of the storage by the code of `storage/` on the
//!    thread that meets a fault, the filter by the operator. The accounts at the Head are the only
//!    state behind a lock, written by the committer once per group of blocks and read by
//!    submissions and the mempool. The ledger's clock is changed by compare-and-swap.
//!    (`tests/tidy/actor_rules.rs`: `state_is_named_by_its_owners_only`)
//! 2. A handler is a synchronous function of microseconds: it neither waits nor blocks nor touches
//!    the disk. (`handlers_neither_wait_nor_block`)
//! 3. Every queue has a bound from the configuration or a named constant. A full one rejects; only
//!    the HTTP layer lets a request wait, for memory and for a bounded time.
//!    (`channels_without_a_capacity_have_another_bound`; `runtime::mailbox::tests`,
//!    `storage::tests`, `signatures::tests`)
//! 4. Requests come from the handle only, so there is no cycle of bounded queues. Messages between
//!    actors are always accepted; their protocol bounds them. (`only_the_handle_sends_requests`)
//! 5. A worker receives from the queue of its owner and sends to actors. The exceptions have types
//!    of their own: for example `CommitQueue`, from the executor to the writer, and `InlineReader`,
//!    for queries on the requesting thread.
//!    `docs/decisions/storage-exceptions.md` has the measurements that justify them.
//!    (`state_is_named_by_its_owners_only`)
//! 6. A broken invariant ends the process: [`Node::failed`] returns it, and recovery from the last
//!    durable block is the only supervisor. (`runtime::fatal::tests`,
//!    `only_the_binary_ends_the_process`) A fault of the disk ends only writing; see
//!    [`NodeHandle::not_writable`]. (`actors/tests/broken_disk.rs`)
//!
//! # Example
//!
//! ```
//! use ledger_actors::{Node, NodeConfig, TransactionStatus};
//! use ledger_execution::{build_chain, development_genesis, execute_genesis};
//! use ledger_limits::ClientKey;
//! use ledger_store::{Store, StoreOptions};
//! use ledger_test_support::{TestAccount, TransactionBuilder};
//! use ledger_types::{Parameters, Vendor};
//!
//! # actix::System::new().block_on(async {
//! let genesis = development_genesis(4, Vendor::default(), Parameters::default());
//! let chain = build_chain(&genesis)?;
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(directory.path(), &StoreOptions::default())?;
//! store.initialize(&genesis, &execute_genesis(&genesis, &chain))?;
//!
//! let mut config = NodeConfig::default();
//! config.wait.timeout_ms = 60_000;
//! let node = Node::start(chain, store, Some(directory.path()), config).await?;
//! let handle = node.handle();
//! assert_eq!(handle.head().ledger_info().block_height, 0);
//!
//! let accounts = TestAccount::development();
//! let (from, to) = (accounts[0].address, accounts[1].address);
//! let transfer = TransactionBuilder::transfer(handle.chain(), from, to, 10)
//!     .sign_checked(handle.chain(), &accounts[0]);
//! let hash = transfer.hash();
//! handle.submit(transfer, ClientKey::NODE).await?;
//! let (_, status) = handle.wait_for_commit(hash, ClientKey::NODE).await?;
//! assert!(matches!(status, TransactionStatus::Committed(_)));
//! assert!(handle.head().ledger_info().block_height > 0);
//! node.stop().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A client must not be able to end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod committer;
mod config;
pub mod engine;
mod error;
mod filter;
#[doc(hidden)]
pub mod fuzzing;
mod mempool;
mod node;
mod notifier;
mod protocol;
mod pruner;
pub mod relay;
mod runtime;
mod sequencer;
mod signatures;
#[cfg(test)]
mod simulation;
mod state;
mod storage;
#[cfg(test)]
mod testing;

pub use config::{
    ActorsConfig, MailboxCapacities, MempoolConfig, NodeConfig, POOL_BYTES_MAX,
    POOL_TRANSACTIONS_MAX, PrunerConfig, SequencerConfig, SignaturesConfig, StallConfig,
    StorageConfig, WaitConfig, WorkConfig,
    filter_rules::{
        FilterAction, FilterError, FilterRule, FilterRuleError, FilterRules, FilterSubject,
    },
};
pub use error::{
    FatalError, FaultKind, NodeError, NotWritable, Overload, RemovalReason, StartError, StopError,
    StorageFault, SubmitError, TuneError, VersionNotReached, VersionWaitError,
};
pub use filter::{Filtered, SubmissionFilter};
pub use mempool::{AGE_STEPS_SECS, BlockTimes, PRICE_STEPS, Pool, meter::PoolStatus};
pub use node::{
    Node,
    handle::NodeHandle,
    hash_outcome::HashOutcome,
    health_checks::HealthCheck,
    lookup::TransactionStatus,
    meters::MeterStatus,
    renderers::thread_count as renderer_threads,
    stalls::Stall,
    submit::{Accepted, Candidate},
    verdict::TransactionVerdict,
    version_wait::VERSIONS_AHEAD_MAX,
    wait_many::ManyWait,
    wait_meter::WaitStatus,
};
pub use protocol::{
    broadcast::GroupEnd,
    mempool::{BatchLimits, GasEstimate, Pending, Removed},
};
pub use pruner::meter::PrunerStatus;
pub use runtime::{
    clock::{Clock, ClockReading, ClockState, ClockStatus, thread_processor_usecs},
    mailbox::MailboxStatus,
    progress::{Progress, QueueProgress},
    thread_name::name_thread,
    work_meter::WorkStatus,
    work_queue::BudgetStatus,
};
pub use sequencer::bft::meter::ProposalStatus;
pub use signatures::{Lane, LaneStatus};
pub use state::{
    committed::{CommittedTransaction, TransactionContent},
    flight_recorder::{FlightError, FlightFile, FlightRecorder},
    head::{Head, RecentBlock},
};
pub use storage::{meter::CommitStatus, scrubber::ScrubStatus};
