//! What a node's actors may be told: limits, times and sizes, each with its unit.
//!
//! The defaults here are the program's; `config/node.toml` states them for people.

pub(crate) mod filter_rules;

use crate::error::StartError;
use filter_rules::FilterRules;

/// Settings of all actors.
#[derive(Clone, Debug, Default)]
pub struct NodeConfig {
    /// Which submissions are let in, until [`crate::NodeHandle::set_filter`] changes it.
    pub filter: FilterRules,
    /// Threads and queues that check signatures.
    pub signatures: SignaturesConfig,
    /// The pool of pending transactions.
    pub mempool: MempoolConfig,
    /// Long polls.
    pub wait: WaitConfig,
    /// How blocks are cut.
    pub sequencer: SequencerConfig,
    /// Threads and queues in front of the store.
    pub storage: StorageConfig,
    /// What is kept of the past.
    pub pruner: PrunerConfig,
    /// The threads of the actors.
    pub actors: ActorsConfig,
    /// How many requests may wait for each actor.
    pub mailboxes: MailboxCapacities,
}

/// What runs the actors.
#[derive(Clone, Debug)]
pub struct ActorsConfig {
    /// How many threads they run on, 1 to 3; more are taken for 3.
    pub threads: usize,
}

impl Default for ActorsConfig {
    fn default() -> Self {
        Self { threads: 1 }
    }
}

/// Threads and queues that check signatures.
#[derive(Clone, Debug)]
pub struct SignaturesConfig {
    /// How many threads check; 0 is one for each core.
    pub threads: usize,
    /// The nice value of these threads, where the process has no higher one; 0 to 19.
    pub nice: u8,
    /// How much work may wait in each of the two lanes, in ed25519 signatures that are checked alone; at
    /// least 1.
    pub queue_capacity: usize,
}

impl SignaturesConfig {
    /// How many threads that are on this machine.
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

/// Limits of the pool. Transactions that a block has taken count until the block is durable.
#[derive(Clone, Debug)]
pub struct MempoolConfig {
    /// The most transactions, at least 1.
    pub capacity_transactions: usize,
    /// The most bytes of all transactions together (their BCS forms).
    pub capacity_bytes: usize,
    /// The most transactions with a sequence number of one account, at least 1.
    pub capacity_per_account: usize,
    /// The most orderless transactions of one account, at least 1.
    pub capacity_per_account_orderless: usize,
    /// How long a transaction may stay, in seconds, whatever its own expiration says.
    pub ttl_secs: u64,
}

impl Default for MempoolConfig {
    fn default() -> Self {
        Self {
            capacity_transactions: 2_000_000,
            capacity_bytes: 2 * 1024 * 1024 * 1024,
            capacity_per_account: 100,
            capacity_per_account_orderless: 5_000,
            ttl_secs: 600,
        }
    }
}

/// Limits of long polls.
#[derive(Clone, Debug)]
pub struct WaitConfig {
    /// How long a wait may last, in milliseconds.
    pub timeout_ms: u64,
    /// How many may wait at once; who comes then is answered at once, as if it had not asked to wait.
    pub capacity: usize,
}

impl Default for WaitConfig {
    fn default() -> Self {
        Self {
            timeout_ms: 1_000,
            capacity: 16_384,
        }
    }
}

/// How blocks are cut.
#[derive(Clone, Debug)]
pub struct SequencerConfig {
    /// The most user transactions of a block, at least 1.
    pub block_transactions_max: usize,
    /// The most bytes of a block's user transactions; a single larger one makes a block alone.
    pub block_bytes_max: usize,
    /// How many blocks may be ordered and not yet durable, at least 1.
    pub blocks_in_flight_max: usize,
    /// An idle node makes an empty block when its last one is this old, in seconds; 0: never.
    pub heartbeat_secs: u64,
    /// Maximum believed lead of the system clock over the newest block, in seconds, at least 1.
    pub clock_jump_max_secs: u64,
    /// System clock up to which the operator has confirmed the time, in seconds since the Unix epoch. Applies at
    /// a start, whatever the lead.
    pub clock_confirmed_until_secs: u64,
}

impl Default for SequencerConfig {
    fn default() -> Self {
        Self {
            block_transactions_max: 5_000,
            block_bytes_max: 3 * 1024 * 1024,
            blocks_in_flight_max: 3,
            heartbeat_secs: 0,
            clock_jump_max_secs: 30 * 86_400,
            clock_confirmed_until_secs: 0,
        }
    }
}

/// Threads and queues in front of the store.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// How many threads answer queries, at least 1.
    pub readers: usize,
    /// How many queries may wait for a thread, at least 1.
    pub read_queue_capacity: usize,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            readers: 2,
            read_queue_capacity: 4_096,
        }
    }
}

/// What is kept of the past.
#[derive(Clone, Debug)]
pub struct PrunerConfig {
    /// Whether anything is ever removed.
    pub enabled: bool,
    /// How many of the newest versions stay readable.
    pub window_versions: u64,
    /// How many versions one step removes, on top of as many as have come since the last; at least 1.
    pub batch_versions: u64,
}

impl Default for PrunerConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            window_versions: 90_000_000,
            batch_versions: 500,
        }
    }
}

/// How many requests may wait for each actor before the next is refused; each at least 1, and
/// changeable while the node runs.
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

impl NodeConfig {
    /// Names the first setting that is 0 and may not be.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let settings = [
            ("signatures.queue_capacity", self.signatures.queue_capacity),
            (
                "mempool.capacity_transactions",
                self.mempool.capacity_transactions,
            ),
            ("mempool.capacity_bytes", self.mempool.capacity_bytes),
            (
                "mempool.capacity_per_account",
                self.mempool.capacity_per_account,
            ),
            (
                "mempool.capacity_per_account_orderless",
                self.mempool.capacity_per_account_orderless,
            ),
            (
                "sequencer.block_transactions_max",
                self.sequencer.block_transactions_max,
            ),
            ("sequencer.block_bytes_max", self.sequencer.block_bytes_max),
            (
                "sequencer.blocks_in_flight_max",
                self.sequencer.blocks_in_flight_max,
            ),
            ("storage.readers", self.storage.readers),
            (
                "storage.read_queue_capacity",
                self.storage.read_queue_capacity,
            ),
            ("actors.threads", self.actors.threads),
            ("actors.mempool.mailbox_capacity", self.mailboxes.mempool),
            (
                "actors.sequencer.mailbox_capacity",
                self.mailboxes.sequencer,
            ),
            (
                "actors.committer.mailbox_capacity",
                self.mailboxes.committer,
            ),
            ("actors.storage.mailbox_capacity", self.mailboxes.storage),
            ("actors.pruner.mailbox_capacity", self.mailboxes.pruner),
        ];
        let wide = [
            ("mempool.ttl_secs", self.mempool.ttl_secs),
            ("pruner.batch_versions", self.pruner.batch_versions),
            (
                "sequencer.clock_jump_max_secs",
                self.sequencer.clock_jump_max_secs,
            ),
        ];
        let zero = settings
            .iter()
            .find(|(_, value)| *value == 0)
            .map(|(key, _)| *key);
        let zero = zero.or_else(|| {
            wide.iter()
                .find(|(_, value)| *value == 0)
                .map(|(key, _)| *key)
        });
        zero.map_or(Ok(()), |key| Err(StartError::ZeroSetting { key }))
    }
}
