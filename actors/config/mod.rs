//! Configuration of a node's actors: limits, times and sizes, each with its unit.
//!
//! The `Default` implementations are the defaults of the settings. `config/node.toml` is printed
//! from them.

pub(crate) mod filter_rules;

use filter_rules::FilterRules;
use std::time::Duration;

/// Configuration of all actors. The table of settings of the binary checks the ranges: capacities,
/// budgets, limits and times are at least 1.
#[derive(Clone, Debug, Default)]
pub struct NodeConfig {
    /// Rules of the submission filter at the start. [`crate::NodeHandle::set_filter`] replaces
    /// them.
    pub filter: FilterRules,
    /// Signature threads and their queues.
    pub signatures: SignaturesConfig,
    /// Limits of the pool of pending transactions.
    pub mempool: MempoolConfig,
    /// Limits of long polls.
    pub wait: WaitConfig,
    /// Block limits, heartbeat and clock limits.
    pub sequencer: SequencerConfig,
    /// Reader threads and their queue.
    pub storage: StorageConfig,
    /// Work of clients that waits for a thread.
    pub work: WorkConfig,
    /// The prune horizon and the size of a prune step.
    pub pruner: PrunerConfig,
    /// Threads of the actors.
    pub actors: ActorsConfig,
    /// Capacity of each actor's mailbox, in requests.
    pub mailboxes: MailboxCapacities,
    /// Monitor of the progress of actors and threads.
    pub stalls: StallConfig,
}

/// Configuration of the threads that run the actors.
#[derive(Clone, Debug)]
pub struct ActorsConfig {
    /// Number of threads, 1 to 3. A larger number counts as 3.
    pub threads: usize,
}

impl Default for ActorsConfig {
    fn default() -> Self {
        Self { threads: 1 }
    }
}

/// Configuration of the monitor of progress.
#[derive(Clone, Debug)]
pub struct StallConfig {
    /// Time without progress, while work waits, after which an actor or thread is stalled, in
    /// seconds, at least 1.
    pub secs: u64,
}

impl Default for StallConfig {
    fn default() -> Self {
        Self { secs: 10 }
    }
}

/// Configuration of the signature threads and their queues.
#[derive(Clone, Debug)]
pub struct SignaturesConfig {
    /// Number of signature threads; 0 means one per core.
    pub threads: usize,
    /// Nice value of the signature threads, 0 to 19. A higher nice value of the process stays.
    pub nice: u8,
    /// Capacity of the queue of each of the two lanes, at least 1. A client may hold at most as
    /// much as is free. The unit is the cost of one ed25519 signature that is verified alone.
    pub queue_capacity: usize,
}

impl SignaturesConfig {
    /// Returns the number of signature threads on this machine.
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

impl Default for SignaturesConfig {
    fn default() -> Self {
        Self {
            threads: 0,
            nice: 3,
            queue_capacity: 16_384,
        }
    }
}

/// Maximum of [`MempoolConfig::capacity_transactions`].
pub const POOL_TRANSACTIONS_MAX: usize = 100_000_000;

/// Maximum of [`MempoolConfig::capacity_bytes`]: eight times the default. A start reads the saved
/// pool of any capacity up to these maxima into memory, whatever its own capacity is.
pub const POOL_BYTES_MAX: usize = 16 * 1024 * 1024 * 1024;

/// Limits of the pool. A transaction in a block counts until the block is durable.
#[derive(Clone, Debug)]
pub struct MempoolConfig {
    /// Maximum number of transactions, from 1 to [`POOL_TRANSACTIONS_MAX`].
    pub capacity_transactions: usize,
    /// Maximum total size of the transactions in BCS, in bytes, at most [`POOL_BYTES_MAX`].
    pub capacity_bytes: usize,
    /// Maximum total estimated time that the transactions take in blocks, in milliseconds, at least
    /// 1.
    pub capacity_time_ms: u64,
    /// Maximum number of transactions with a sequence number per account, at least 1.
    pub capacity_per_account: usize,
    /// Maximum number of orderless transactions per account, at least 1.
    pub capacity_per_account_orderless: usize,
    /// Maximum time that a transaction stays in the pool, in seconds. An earlier expiration time
    /// of the transaction still applies.
    pub ttl_secs: u64,
}

impl Default for MempoolConfig {
    fn default() -> Self {
        Self {
            capacity_transactions: 2_000_000,
            capacity_bytes: 2 * 1024 * 1024 * 1024,
            capacity_time_ms: 600_000,
            capacity_per_account: 100,
            capacity_per_account_orderless: 5_000,
            ttl_secs: 600,
        }
    }
}

/// Limits of long polls.
#[derive(Clone, Debug)]
pub struct WaitConfig {
    /// Duration of a long poll whose client does not request one, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum duration of a wait that a client may request, in milliseconds.
    pub timeout_max_ms: u64,
    /// Maximum number of concurrent waits. Beyond it, a long poll gets the response of a plain
    /// request. A wait for many counts once for each of its hashes.
    pub capacity: usize,
    /// Maximum number of hashes of a wait for many.
    pub hashes_max: usize,
}

impl Default for WaitConfig {
    fn default() -> Self {
        Self {
            timeout_ms: 1_000,
            timeout_max_ms: 60_000,
            capacity: 16_384,
            hashes_max: 10_000,
        }
    }
}

/// Configuration of the sequencer and the ledger clock.
#[derive(Clone, Debug)]
pub struct SequencerConfig {
    /// Maximum number of user transactions in a block, at least 1.
    pub block_transactions_max: usize,
    /// Maximum total size of a block's user transactions, in bytes. A single larger transaction
    /// gets a block of its own.
    pub block_bytes_max: usize,
    /// Maximum total estimated time of a block's user transactions, in milliseconds, at least 1. A
    /// single transaction with a higher estimate gets a block of its own. One with more than a
    /// tenth of it is the first of its block.
    pub block_time_max_ms: u64,
    /// Maximum number of blocks that are ordered and not yet durable, at least 1. Heartbeat
    /// blocks are extra.
    pub blocks_in_flight_max: usize,
    /// Age of the newest block at which an idle node orders an empty block, in seconds; 0 means
    /// never.
    pub heartbeat_secs: u64,
    /// Maximum trusted lead of the system clock over the newest block, in seconds, at least 1.
    pub clock_jump_max_secs: u64,
    /// System clock up to which the operator has confirmed the time, in seconds since the Unix
    /// epoch. Applies at a start, regardless of the lead.
    pub clock_confirmed_until_secs: u64,
}

impl Default for SequencerConfig {
    fn default() -> Self {
        Self {
            block_transactions_max: 5_000,
            block_bytes_max: 3 * 1024 * 1024,
            block_time_max_ms: 10,
            blocks_in_flight_max: 3,
            heartbeat_secs: 0,
            clock_jump_max_secs: 30 * 86_400,
            clock_confirmed_until_secs: 0,
        }
    }
}

/// Configuration of the reader threads and their queue.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// Number of reader threads, at least 1.
    pub readers: usize,
    /// Maximum number of queries that wait for a reader thread, at least 1.
    pub read_queue_capacity: usize,
    /// Time within which the scrubber finds damage in the files, in hours; 0 turns it off.
    pub scrub_hours: u32,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            readers: 2,
            read_queue_capacity: 4_096,
            scrub_hours: 24,
        }
    }
}

impl StorageConfig {
    /// Returns the time within which the scrubber finds damage, or `None` if it is off.
    pub(crate) fn scrub_interval(&self) -> Option<Duration> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        (self.scrub_hours > 0).then(|| HOUR.saturating_mul(self.scrub_hours))
    }
}

/// Configuration of the work of clients that waits for a reader thread or a renderer.
#[derive(Clone, Debug)]
pub struct WorkConfig {
    /// Nice value of the reader threads and of the renderers, 0 to 19. A higher nice value of the
    /// process stays. The thread of point reads does not have it.
    pub nice: u8,
    /// Maximum estimated duration of the point reads that wait for their thread, in milliseconds,
    /// at least 1. It can be changed while the node runs.
    pub point_read_budget_ms: u64,
    /// Maximum estimated duration of the queries that wait for a reader thread, in milliseconds, at
    /// least 1. It can be changed while the node runs.
    pub read_budget_ms: u64,
    /// Maximum estimated duration of the work that waits for a renderer, in milliseconds, at least
    /// 1. It can be changed while the node runs.
    pub render_budget_ms: u64,
    /// Maximum duration of a view function or of a simulation, in milliseconds, at least 1.
    pub call_time_max_ms: u64,
}

impl Default for WorkConfig {
    fn default() -> Self {
        Self {
            nice: 5,
            point_read_budget_ms: 100,
            read_budget_ms: 1_000,
            render_budget_ms: 1_000,
            call_time_max_ms: 1_000,
        }
    }
}

/// Configuration of pruning.
#[derive(Clone, Debug)]
pub struct PrunerConfig {
    /// Whether the pruner removes old versions.
    pub enabled: bool,
    /// Minimum number of newest versions that stay readable.
    pub window_versions: u64,
    /// Minimum time for which versions stay readable, in seconds before the newest block; 0 retains
    /// none.
    pub window_secs: u64,
    /// Maximum size of database, log and saved mempool, in bytes, which overrides both minimums; 0
    /// means no limit.
    pub window_bytes: u64,
    /// Number of versions that a step removes in addition to one per version committed since the
    /// last step; at least 1.
    pub batch_versions: u64,
}

impl Default for PrunerConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            window_versions: 90_000_000,
            window_secs: 0,
            window_bytes: 0,
            batch_versions: 500,
        }
    }
}

/// Maximum number of requests that wait in the mailbox of each actor, at least 1. A request
/// beyond it is rejected. The capacities can be changed while the node runs.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MailboxCapacities {
    pub mempool: usize,
    pub sequencer: usize,
    pub committer: usize,
    pub storage: usize,
    pub pruner: usize,
}

impl Default for MailboxCapacities {
    fn default() -> Self {
        Self {
            mempool: 16_384,
            sequencer: 1_024,
            committer: 16_384,
            storage: 4_096,
            pruner: 64,
        }
    }
}
