//! The report of a run, with the field names of the report of `ledger-node bench`.

use ledger_client::load::{LatencySummary, ResourceUsage, Tally};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

/// Share of a core from which the generator was the limit, as in the report of `ledger-node bench`.
const BUSY_SHARE_MAX: f64 = 0.9;

/// The counts of a run.
#[derive(Debug)]
pub struct Measured {
    pub seconds: Duration,
    pub accepted: u64,
    pub committed: u64,
    pub uncommitted: u64,
    /// Whether a connection used up its signed transfers.
    pub ran_out: bool,
    pub usage: [ResourceUsage; 2],
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    seconds: f64,
    accepted: u64,
    committed: u64,
    committed_per_second: f64,
    uncommitted: u64,
    failed: u64,
    submit_latency: LatencySummary,
    commit_latency: LatencySummary,
    errors: BTreeMap<String, u64>,
    generator: Generator,
    node: Peer,
}

/// The figures of the load generator.
#[derive(Debug, Serialize)]
struct Generator {
    threads: usize,
    cpu_us_per_transfer: f64,
    busy_share: f64,
    was_the_limit: bool,
}

/// The figures of the process of the peer.
#[derive(Debug, Serialize)]
struct Peer {
    cpu_us_per_transfer: f64,
    cores: f64,
    resident_bytes: u64,
}

impl Report {
    /// Creates the report from counts and latencies.
    pub fn new(measured: &Measured, tally: &Tally) -> Self {
        let seconds = measured.seconds.as_secs_f64();
        let each = |time: Duration| time.as_secs_f64() * 1e6 / measured.committed.max(1) as f64;
        let [before, after] = measured.usage;
        let own = after.own_cpu.saturating_sub(before.own_cpu);
        let (before, after) = (
            before.node.unwrap_or_default(),
            after.node.unwrap_or_default(),
        );
        let peer = after.cpu.saturating_sub(before.cpu);
        let busy_share = own.as_secs_f64() / seconds;
        Self {
            seconds,
            accepted: measured.accepted,
            committed: measured.committed,
            committed_per_second: measured.committed as f64 / seconds,
            uncommitted: measured.uncommitted,
            failed: tally.failed,
            submit_latency: (&tally.submit).into(),
            commit_latency: (&tally.commit).into(),
            errors: tally.errors().clone(),
            generator: Generator {
                threads: 1,
                cpu_us_per_transfer: each(own),
                busy_share,
                was_the_limit: measured.ran_out || busy_share >= BUSY_SHARE_MAX,
            },
            node: Peer {
                cpu_us_per_transfer: each(peer),
                cores: peer.as_secs_f64() / seconds,
                resident_bytes: after.resident_bytes,
            },
        }
    }
}
