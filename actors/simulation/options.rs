//! Options that a seed chooses before the simulation begins: limits as small as useful, and rates
//! of faults.

use super::scheduler::InterruptionRates;
use crate::{
    ActorsConfig, MailboxCapacities, MempoolConfig, NodeConfig, PrunerConfig, SequencerConfig,
    SignaturesConfig, StorageConfig, WaitConfig, WorkConfig,
};
use fastrand::Rng;

/// Options of one simulation.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) node: NodeConfig,
    pub(super) interruption_rates: InterruptionRates,
    /// Maximum number of concurrent requests.
    pub(super) concurrent_requests_max: usize,
    /// Number of actions.
    pub(super) actions: usize,
    /// Whether the block gas limit is so low that full blocks omit ordered transactions.
    pub(super) has_small_blocks: bool,
    /// Frequency of disk faults: of a start, in thousandths; of an action that breaks the disk, in
    /// percent.
    pub(super) fault_rate: u32,
    /// Probability that the oracle opens the synced disk after the head has changed, in
    /// thousandths.
    pub(super) disk_check_rate: u32,
    /// Whether the store flushes and compacts its index after a few rows.
    pub(super) has_eager_compaction: bool,
}

impl Options {
    /// Chooses the options with `random`.
    pub(super) fn choose(random: &mut Rng) -> Self {
        let node = NodeConfig {
            filter: Default::default(),
            stalls: Default::default(),
            signatures: SignaturesConfig {
                threads: 1,
                nice: 0,
                queue_capacity: 1,
            },
            mempool: mempool(random),
            wait: WaitConfig {
                timeout_ms: random.u64(1..3_000),
                capacity: random.usize(1..5),
                ..WaitConfig::default()
            },
            sequencer: SequencerConfig {
                block_transactions_max: random.usize(1..9),
                block_bytes_max: random.usize(200..4_000),
                block_time_max_ms: random.u64(1..20),
                blocks_in_flight_max: random.usize(1..5),
                heartbeat_secs: random.u64(0..3),
                ..SequencerConfig::default()
            },
            storage: StorageConfig {
                readers: random.usize(1..4),
                read_queue_capacity: random.usize(1..5),
                scrub_hours: 0,
            },
            work: WorkConfig {
                // Never reached, because estimates follow real time.
                read_budget_ms: u64::MAX,
                ..WorkConfig::default()
            },
            pruner: PrunerConfig {
                enabled: random.u8(..4) > 0,
                window_versions: random.u64(0..60),
                batch_versions: random.u64(1..12),
                window_secs: [0, 0, 2][random.usize(..3)],
                // The size of the files is not simulated.
                window_bytes: 0,
            },
            // Without effect, because each actor is a process of its own.
            actors: ActorsConfig::default(),
            mailboxes: MailboxCapacities {
                mempool: random.usize(1..8),
                committer: random.usize(1..8),
                storage: random.usize(1..8),
                // The simulation sends no requests to the other actors.
                ..MailboxCapacities::default()
            },
        };
        Self {
            node,
            interruption_rates: InterruptionRates {
                interruptions: [0, 50, 200][random.usize(..3)],
                slow_syncs: [0, 100, 500][random.usize(..3)],
            },
            concurrent_requests_max: random.usize(2..12),
            actions: random.usize(40..240),
            has_small_blocks: random.u8(..3) == 0,
            fault_rate: [0, 10, 40][random.usize(..3)],
            disk_check_rate: [60, 1_000][usize::from(random.u8(..10) == 0)],
            has_eager_compaction: random.bool(),
        }
    }
}

/// Chooses the limits of the pool.
fn mempool(random: &mut Rng) -> MempoolConfig {
    MempoolConfig {
        capacity_transactions: random.usize(1..40),
        capacity_bytes: random.usize(1_000..20_000),
        capacity_time_ms: [random.u64(1..4), 1_000][random.usize(..2)],
        capacity_per_account: random.usize(1..12),
        capacity_per_account_orderless: random.usize(1..6),
        ttl_secs: random.u64(2..200),
    }
}
