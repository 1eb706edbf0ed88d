//! The limits and switches of the actors and of the interface, out of the settings.

use crate::config::Settings;
use ledger_actors::{
    ActorsConfig, MailboxCapacities, MempoolConfig, NodeConfig, PrunerConfig, SequencerConfig,
    SignaturesConfig, StorageConfig, WaitConfig,
};
use ledger_api::{ApiConfig, SwitchSettings};

/// What the actors are bounded by, and which submissions are let in.
pub fn node_config(settings: &Settings) -> NodeConfig {
    NodeConfig {
        filter: settings.filter.rules.clone(),
        signatures: SignaturesConfig {
            threads: settings.signatures.threads,
            nice: settings.signatures.nice,
            queue_capacity: settings.signatures.queue_capacity,
        },
        mempool: MempoolConfig {
            capacity_transactions: settings.mempool.capacity_transactions,
            capacity_bytes: settings.mempool.capacity_bytes,
            capacity_per_account: settings.mempool.capacity_per_account,
            capacity_per_account_orderless: settings.mempool.capacity_per_account_orderless,
            ttl_secs: settings.mempool.ttl_secs,
        },
        wait: WaitConfig {
            timeout_ms: settings.wait.timeout_ms,
            capacity: settings.wait.capacity,
        },
        sequencer: SequencerConfig {
            block_transactions_max: settings.sequencer.block_transactions_max,
            block_bytes_max: settings.sequencer.block_bytes_max,
            blocks_in_flight_max: settings.sequencer.blocks_in_flight_max,
            heartbeat_secs: settings.sequencer.heartbeat_secs,
            clock_jump_max_secs: settings.sequencer.clock_jump_max_secs,
            clock_confirmed_until_secs: settings.sequencer.clock_confirmed_until_secs,
        },
        storage: StorageConfig {
            readers: settings.storage.readers,
            read_queue_capacity: settings.storage.read_queue_capacity,
        },
        pruner: PrunerConfig {
            enabled: settings.pruner.enabled,
            window_versions: settings.pruner.window_versions,
            batch_versions: settings.pruner.batch_versions,
        },
        actors: ActorsConfig {
            threads: settings.actors.threads,
        },
        mailboxes: MailboxCapacities {
            mempool: settings.actors_mempool.mailbox_capacity,
            sequencer: settings.actors_sequencer.mailbox_capacity,
            committer: settings.actors_committer.mailbox_capacity,
            storage: settings.actors_storage.mailbox_capacity,
            pruner: settings.actors_pruner.mailbox_capacity,
        },
    }
}

/// What the interface is bounded by, and what of it is on.
pub fn api_config(settings: &Settings) -> ApiConfig {
    ApiConfig {
        max_body_bytes: settings.api.max_body_bytes,
        bodies_bytes_max: settings.api.bodies_bytes_max,
        answers_bytes_max: settings.api.answers_bytes_max,
        kept_answers_bytes_max: settings.api.kept_answers_bytes_max,
        max_in_flight: settings.api.max_in_flight,
        max_in_flight_per_address: settings.api.max_in_flight_per_address,
        max_streams_per_connection: settings.api.max_streams_per_connection,
        compression_enabled: settings.api.compression_enabled,
        switches: SwitchSettings {
            json_output_enabled: settings.api.json_output_enabled,
            bcs_output_enabled: settings.api.bcs_output_enabled,
            submission_enabled: settings.api.submission_enabled,
            simulation_enabled: settings.api.simulation_enabled,
            encode_submission_enabled: settings.api.encode_submission_enabled,
        },
    }
}
