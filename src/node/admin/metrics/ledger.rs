//! Metrics of the ledger: mempool, blocks, commits, waits, and pruning.

use super::super::context::Admin;
use super::family::{Families, Unit};
use ledger_actors::{
    ClockStatus, CommitStatus, MeterStatus, NodeConfig, NodeHandle, PoolStatus, PrunerStatus,
    ScrubStatus, WaitStatus,
};
use ledger_limits::CostStatus;
use ledger_store::FileSize;
use ledger_types::LedgerInfo;
use std::{path::Path, time::Duration};

/// Appends the metrics of the ledger.
pub fn collect(admin: &Admin, families: &mut Families) {
    let Admin { node, data_dir, .. } = admin;
    let meters = node.meters();
    usage(&meters, admin.forecast.seconds(), families);
    let MeterStatus {
        pool: pool_status,
        commit: commit_status,
        waits: wait_status,
        syncs: sync_stats,
        scrub: scrub_status,
        costs: cost_status,
        pruner: pruner_status,
        filter_denied,
        ..
    } = meters;
    let config = node.config();
    pool(&pool_status, config, families);
    families
        .counter((
            "ledger_filter_denied_total",
            "Transactions that the submission filter denied (filter.rules).",
        ))
        .sample(&[], filter_denied as f64);
    costs(&cost_status, families);
    blocks(node.head().ledger_info(), &commit_status, families);
    clock(node.clock_status(), families);
    commit(&commit_status, families);
    families
        .counter((
            "ledger_store_syncs_total",
            "Syncs of the ledger's files to the disk (fsync).",
        ))
        .sample(&[], sync_stats.count as f64);
    families
        .counter((
            "ledger_store_sync_seconds_total",
            "Total time of these syncs.",
        ))
        .sample(&[], Duration::from_nanos(sync_stats.nanos).as_secs_f64());
    store(node, data_dir.as_deref(), families);
    scrub(&scrub_status, families);
    waits(wait_status, node.wait_capacity(), families);
    pruner(
        node.head().ledger_info(),
        &commit_status,
        pruner_status,
        families,
    );
}

/// Appends the size of the ledger. Sizes that were not measured yet are omitted. The forecast is
/// infinity if the ledger does not grow, or if its growth is unknown.
fn usage(meters: &MeterStatus, full_in_seconds: Option<f64>, families: &mut Families) {
    let usage = meters.usage;
    if usage.sequence > 0 {
        let directory_bytes = usage.bytes().saturating_add(meters.saved_pool_bytes);
        families
            .gauge((
                "ledger_store_used_bytes",
                "Size of the pages that the ledger's file uses; the others are reused.",
            ))
            .sample(&[], usage.used_bytes as f64);
        families
            .gauge((
                "ledger_storage_bytes",
                "Size of used pages, log and saved mempool, which pruner.window_bytes limits.",
            ))
            .sample(&[], directory_bytes as f64);
    }
    families
        .gauge((
            "ledger_storage_full_in_seconds",
            "Time until low disk space or pruner.window_bytes; +Inf if the ledger does not grow.",
        ))
        .sample(&[], full_in_seconds.unwrap_or(f64::INFINITY));
}

fn pool(status: &PoolStatus, config: &NodeConfig, families: &mut Families) {
    let mut gauge = |name, help, value: usize| {
        families.gauge((name, help)).sample(&[], value as f64);
    };
    gauge(
        "ledger_pool_transactions",
        "Number of pending transactions, including those of blocks that are not durable.",
        status.transactions,
    );
    gauge(
        "ledger_pool_bytes",
        "Total size of the pending transactions in BCS.",
        status.bytes,
    );
    gauge(
        "ledger_pool_capacity_transactions",
        "Maximum number of pending transactions (mempool.capacity_transactions).",
        config.mempool.capacity_transactions,
    );
    gauge(
        "ledger_pool_capacity_bytes",
        "Maximum total size of the pending transactions (mempool.capacity_bytes).",
        config.mempool.capacity_bytes,
    );
    gauge(
        "ledger_pool_parked_transactions",
        "Number of pending transactions that wait for an earlier one of their account.",
        status.parked,
    );
    gauge(
        "ledger_pool_parked_bytes",
        "Total size of the parked transactions in BCS.",
        status.parked_bytes,
    );
    let mut seconds = |name, help, seconds: f64| {
        families.gauge((name, help)).sample(&[], seconds);
    };
    seconds(
        "ledger_pool_estimated_seconds",
        "Total estimated time of the pending transactions in blocks.",
        status.usecs as f64 / 1e6,
    );
    seconds(
        "ledger_pool_capacity_estimated_seconds",
        "Maximum total estimated time of the pending transactions (mempool.capacity_time_ms).",
        config.mempool.capacity_time_ms as f64 / 1e3,
    );
    families
        .counter((
            "ledger_pool_committed_estimated_seconds_total",
            "Estimated time of the committed transactions in blocks, as of their admission.",
        ))
        .sample(&[], status.estimated_usecs as f64 / 1e6);
    families
        .histogram((
            "ledger_pool_commit_seconds",
            "Time of the transactions of durable blocks from their admission to the mempool until \
             it was notified of the block; a restart admits them anew.",
        ))
        .histogram_sample(&[], Unit::Time, &status.latency);
    let mut left = families.counter((
        "ledger_pool_left_total",
        "Transactions that left the mempool, by reason.",
    ));
    for (reason, count) in [
        ("committed", status.committed),
        ("expired", status.expired),
        ("evicted", status.evicted),
        ("replaced", status.replaced),
        ("rejected", status.rejected),
    ] {
        left.sample(&[("reason", reason)], count as f64);
    }
}

fn costs(kinds: &[CostStatus], families: &mut Families) {
    let mut counter = |name, help, value: fn(&CostStatus) -> f64| {
        let mut family = families.counter((name, help));
        for kind in kinds {
            family.sample(&[("kind", kind.kind.label())], value(kind));
        }
    };
    counter(
        "ledger_cost_units_total",
        "Measured units of work: a block in `execution`, a group of blocks in `write`.",
        |kind| kind.units as f64,
    );
    counter(
        "ledger_cost_estimated_seconds_total",
        "Estimated time of these units.",
        |kind| kind.estimated_usecs as f64 / 1e6,
    );
    counter(
        "ledger_cost_actual_seconds_total",
        "Measured time of these units.",
        |kind| kind.actual_usecs as f64 / 1e6,
    );
    let mut correction = families.gauge((
        "ledger_cost_correction_ratio",
        "Factor by which estimates are multiplied, so that they follow the measured times.",
    ));
    for kind in kinds {
        correction.sample(&[("kind", kind.kind.label())], kind.correction);
    }
}

fn blocks(info: &LedgerInfo, commit: &CommitStatus, families: &mut Families) {
    families
        .gauge(("ledger_block_height", "Height of the newest durable block."))
        .sample(&[], info.block_height as f64);
    families
        .gauge((
            "ledger_version",
            "Version of the newest durable transaction.",
        ))
        .sample(&[], info.version as f64);
    families
        .gauge((
            "ledger_block_timestamp_seconds",
            "Time of the newest durable block, Unix time.",
        ))
        .sample(&[], info.timestamp_usecs as f64 / 1e6);
    families
        .histogram((
            "ledger_block_transactions",
            "Number of user transactions in a durable block.",
        ))
        .histogram_sample(&[], Unit::Count, &commit.block_transactions);
}

fn clock(status: ClockStatus, families: &mut Families) {
    families
        .gauge((
            "ledger_clock_drift_seconds",
            "Lead of the system clock over the ledger's time; negative if it is behind.",
        ))
        .sample(&[], status.drift_usecs as f64 / 1e6);
}

fn commit(commit: &CommitStatus, families: &mut Families) {
    families
        .histogram((
            "ledger_commit_group_blocks",
            "Number of blocks that became durable in one write.",
        ))
        .histogram_sample(&[], Unit::Count, &commit.group_blocks);
    families
        .histogram((
            "ledger_commit_write_seconds",
            "Time to make the blocks of one write durable.",
        ))
        .histogram_sample(&[], Unit::Time, &commit.write);
}

fn store(node: &NodeHandle, data_dir: Option<&Path>, families: &mut Families) {
    let is_writable = node.not_writable().is_none();
    families
        .gauge((
            "ledger_store_writable",
            "1 if submissions are accepted; 0 on a fault, low disk space or an untrusted clock.",
        ))
        .sample(&[], f64::from(u8::from(is_writable)));
    families
        .gauge((
            "ledger_store_diverged",
            "1 if results of this node differ from the ones that the validators decided, else 0.",
        ))
        .sample(&[], f64::from(u8::from(node.diverged().is_some())));
    // The size of an unreadable file is omitted, and that of a ledger in memory.
    let Some(Ok(size)) = data_dir.map(FileSize::of) else {
        return;
    };
    families
        .gauge(("ledger_store_file_bytes", "Length of the ledger's file."))
        .sample(&[], size.file_bytes as f64);
    families
        .gauge((
            "ledger_store_disk_bytes",
            "Disk space that the ledger's file takes.",
        ))
        .sample(&[], size.disk_bytes as f64);
}

fn scrub(status: &ScrubStatus, families: &mut Families) {
    families
        .counter((
            "ledger_scrub_passes_total",
            "Passes of the scrubber over the files of the ledger, by outcome.",
        ))
        .sample(&[("outcome", "intact")], status.passes as f64)
        .sample(&[("outcome", "damaged")], status.findings as f64)
        .sample(&[("outcome", "interrupted")], status.interrupted as f64);
    families
        .counter((
            "ledger_scrub_unconfirmed_total",
            "Pages with a wrong checksum that were right when the scrubber read them again.",
        ))
        .sample(&[], status.unconfirmed as f64);
    families
        .counter((
            "ledger_scrub_bytes_total",
            "Bytes that the scrubber has compared with their checksums.",
        ))
        .sample(&[], status.bytes as f64);
    families
        .gauge((
            "ledger_scrub_position_bytes",
            "Bytes that the current pass has compared; 0 between passes.",
        ))
        .sample(&[], status.position_bytes as f64);
    families
        .gauge((
            "ledger_scrub_last_pass_bytes",
            "Bytes that the last whole pass compared; 0 before the first one.",
        ))
        .sample(&[], status.last_bytes as f64);
    families
        .gauge((
            "ledger_scrub_last_pass_seconds",
            "Duration of the last whole pass, including the time in which it was paused.",
        ))
        .sample(&[], status.last_millis as f64 / 1e3);
}

fn waits(status: WaitStatus, capacity: usize, families: &mut Families) {
    families
        .gauge((
            "ledger_waits_parked",
            "Number of waits for a transaction or for a version of the ledger; a wait for many \
             counts once for each hash.",
        ))
        .sample(&[], status.waiting as f64);
    families
        .gauge((
            "ledger_waits_capacity",
            "Maximum number of concurrent waits (wait.capacity).",
        ))
        .sample(&[], capacity as f64);
    families
        .counter((
            "ledger_waits_ended_total",
            "Waits that ended: for a transaction that was committed or that the mempool removed, \
             for a version that was reached, by their timeout, or because the client \
             disconnected.",
        ))
        .sample(&[("outcome", "committed")], status.committed as f64)
        .sample(&[("outcome", "removed")], status.removed as f64)
        .sample(&[("outcome", "reached")], status.reached as f64)
        .sample(&[("outcome", "timed_out")], status.timed_out as f64)
        .sample(&[("outcome", "disconnected")], status.disconnected as f64);
    families
        .counter((
            "ledger_waits_refused_total",
            "Requests that were answered without a wait because wait.capacity, or the client's \
             part of it, was reached.",
        ))
        .sample(&[], status.refused as f64);
}

fn pruner(info: &LedgerInfo, commit: &CommitStatus, status: PrunerStatus, families: &mut Families) {
    families
        .gauge((
            "ledger_pruner_oldest_version",
            "Oldest version that can be read.",
        ))
        .sample(&[], info.oldest_version as f64);
    families
        .gauge((
            "ledger_pruner_lag_versions",
            "Versions outside of the window that still exist; 0 if pruning is off.",
        ))
        .sample(&[], status.lag_versions as f64);
    families
        .gauge((
            "ledger_pruner_limited",
            "1 if pruner.window_bytes decides the window, and not a minimum, else 0.",
        ))
        .sample(&[], status.limited as f64);
    families
        .gauge((
            "ledger_pruner_limit_exceeded",
            "1 if the ledger exceeds pruner.window_bytes with its newest 1,000 versions, else 0.",
        ))
        .sample(&[], status.limit_exceeded as f64);
    families
        .histogram((
            "ledger_pruner_step_seconds",
            "Time until a prune step was durable.",
        ))
        .histogram_sample(&[], Unit::Time, &commit.prune);
}
