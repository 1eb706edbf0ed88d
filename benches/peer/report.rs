//! The report of a run, with the field names of the report of `ledger-node bench`.

use ledger_client::load::{LatencySummary, ResourceUsage, Tally};
use serde_json::{Value, json};
use std::time::Duration;

/// Share of a core from which the generator was the limit, as in the report of `ledger-node bench`.
const BUSY_SHARE_MAX: f64 = 0.9;

/// The counts of a run.
#[derive(Debug)]
pub struct Measured {
    pub seconds: Duration,
    pub committed: u64,
    pub uncommitted: u64,
    /// Whether a connection used up its signed transfers.
    pub ran_out: bool,
    pub usage: [ResourceUsage; 2],
}

/// Returns the report of a run in JSON.
pub fn report(measured: &Measured, tally: &Tally) -> Value {
    let seconds = measured.seconds.as_secs_f64();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / measured.committed.max(1) as f64;
    let [before, after] = measured.usage;
    let own = after.own_cpu.saturating_sub(before.own_cpu);
    let [before, after] = [before, after].map(|usage| usage.node.unwrap_or_default());
    let peer = after.cpu.saturating_sub(before.cpu);
    let [submit, commit] = [&tally.submit, &tally.commit].map(LatencySummary::from);
    let busy_share = own.as_secs_f64() / seconds;
    json!({
        "seconds": seconds,
        "accepted": submit.count + commit.count,
        "committed": measured.committed,
        "committed_per_second": measured.committed as f64 / seconds,
        "uncommitted": measured.uncommitted,
        "failed": tally.failed,
        "submit_latency": submit,
        "commit_latency": commit,
        "errors": tally.errors(),
        "generator": {
            "threads": 1,
            "cpu_us_per_transfer": each(own),
            "busy_share": busy_share,
            "was_the_limit": measured.ran_out || busy_share >= BUSY_SHARE_MAX,
        },
        "node": {
            "cpu_us_per_transfer": each(peer),
            "cores": peer.as_secs_f64() / seconds,
            "resident_bytes": after.resident_bytes,
        },
    })
}
