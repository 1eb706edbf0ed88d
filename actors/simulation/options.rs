//! Options that a seed chooses before the simulation begins: limits as small as useful, and rates
//! of faults.

use super::scheduler::Pace;
use crate::{
    ActorsConfig, MailboxCapacities, MempoolConfig, NodeConfig, PrunerConfig, SequencerConfig,
    SignaturesConfig, StorageConfig, WaitConfig,
};
use fastrand::Rng;

/// Options of one simulation.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) node: NodeConfig,
    pub(super) pace: Pace,
    /// Maximum number of concurrent requests.
    pub(super) clients: usize,
    /// Number of actions.
    pub(super) actions: usize,
    /// Whether the block gas limit is so low that full blocks leave out ordered transactions.
    pub(super) has_small_blocks: bool,
    /// Frequency of disk faults: of a start, in thousandths; of an action that breaks the disk, in
    /// percent.
    pub(super) faults: u32,
    /// Probability that the oracle opens the synced disk after the head has changed, in
    /// thousandths.
    pub(super) disk_looks: u32,
    /// Whether the store flushes and compacts its index after a few rows.
    pub(super) has_quick_index: bool,
}

impl Options {
    /// Chooses the options with `random`.
    pub(super) fn choose(random: &mut Rng) -> Self {
        let node = NodeConfig {
            filter: Default::default(),
            signatures: SignaturesConfig {
                threads: 1,
                nice: 0,
                queue_capacity: 1,
            },
            mempool: mempool(random),
            wait: WaitConfig {
                timeout_ms: random.u64(1..3_000),
                capacity: random.usize(1..5),
            },
            sequencer: SequencerConfig {
                block_transactions_max: random.usize(1..9),
                block_bytes_max: random.usize(200..4_000),
                blocks_in_flight_max: random.usize(1..5),
                heartbeat_secs: random.u64(0..3),
                ..SequencerConfig::default()
            },
            storage: StorageConfig {
                readers: random.usize(1..4),
                read_queue_capacity: random.usize(1..5),
            },
            pruner: PrunerConfig {
                enabled: random.u8(..4) > 0,
                window_versions: random.u64(0..60),
                batch_versions: random.u64(1..12),
            },
            // Without effect, because each actor is a process of its own.
            actors: ActorsConfig::default(),
            mailboxes: MailboxCapacities {
                mempool: random.usize(1..8),
                sequencer: 1,
                committer: random.usize(1..8),
                storage: random.usize(1..8),
                pruner: 1,
            },
        };
        Self {
            node,
            pace: Pace {
                interruptions: [0, 50, 200][random.usize(..3)],
                slow_syncs: [0, 100, 500][random.usize(..3)],
            },
            clients: random.usize(2..12),
            actions: random.usize(40..240),
            has_small_blocks: random.u8(..3) == 0,
            faults: [0, 10, 40][random.usize(..3)],
            disk_looks: [60, 1_000][usize::from(random.u8(..10) == 0)],
            has_quick_index: random.bool(),
        }
    }
}

/// Chooses the limits of the pool.
fn mempool(random: &mut Rng) -> MempoolConfig {
    MempoolConfig {
        capacity_transactions: random.usize(1..40),
        capacity_bytes: random.usize(1_000..20_000),
        capacity_per_account: random.usize(1..12),
        capacity_per_account_orderless: random.usize(1..6),
        ttl_secs: random.u64(2..200),
    }
}
