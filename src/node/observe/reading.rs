//! All counters of the node at one time. Two readings make a snapshot.

use super::threads::ProcessReading;
use ledger_actors::{
    BudgetStatus, LaneStatus, MailboxStatus, MeterStatus, NodeConfig, NodeHandle,
    engine::EngineReport, relay::RelayReport,
};
use ledger_api::ApiState;
use ledger_limits::{REJECTIONS, RejectionCount};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The parts of the process whose counters are read.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The node's actors, threads and queues.
    pub node: NodeHandle,
    /// The REST interface.
    pub api: ApiState,
    /// Number of worker threads of the API listener.
    pub http_workers: usize,
}

impl Sources {
    /// Returns the configuration of the node.
    pub(super) fn config(&self) -> &NodeConfig {
        self.node.config()
    }
}

/// Memory by owner, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub(super) answers: usize,
    pub(super) bodies: usize,
    pub(super) cache: u64,
    /// `None` if the system does not state it.
    pub(super) resident: Option<u64>,
}

/// The counters at one time. Counts are since the start of the node.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) at: Instant,
    pub(super) unix_ms: u64,
    pub(super) height: u64,
    pub(super) version: u64,
    pub(super) process: ProcessReading,
    pub(super) mailboxes: Vec<MailboxStatus>,
    pub(super) meters: MeterStatus,
    pub(super) lanes: [LaneStatus; 2],
    pub(super) budgets: Vec<BudgetStatus>,
    pub(super) rejections: Vec<RejectionCount>,
    /// Responses of the REST interface.
    pub(super) responses: u64,
    pub(super) memory: Memory,
    pub(super) engine: Option<EngineReport>,
    pub(super) relay: Option<RelayReport>,
}

impl Reading {
    /// Reads all counters, one after the other.
    pub(super) fn take(sources: &Sources) -> Self {
        let Sources { node, api, .. } = sources;
        let info = *node.head().ledger_info();
        let process = ProcessReading::now();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            at: Instant::now(),
            unix_ms: since_epoch.map_or(0, |time| {
                u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
            }),
            height: info.block_height,
            version: info.version,
            mailboxes: node.mailboxes(),
            meters: node.meters(),
            lanes: node.signature_lanes(),
            budgets: node.budgets(),
            rejections: rejections(node),
            responses: api.route_meters.responses(),
            memory: Memory {
                answers: api.answers_bytes(),
                bodies: api.bodies_bytes(),
                cache: api.cache.status().bytes,
                resident: process.resident_bytes,
            },
            process,
            engine: node.engine_report(),
            relay: node.relay_report(),
        }
    }

    /// Returns the rejections of the limits for which `is_counted` holds.
    pub(super) fn rejections_of(&self, is_counted: impl Fn(&str) -> bool) -> u64 {
        let counted = self.rejections.iter().filter(|of| is_counted(of.limit));
        counted.map(|of| of.count).sum()
    }
}

/// Returns what the limits have rejected. Most waits that `wait.capacity` rejects end without an
/// error: they are responses "pending". So its rejections are those of the meter.
fn rejections(node: &NodeHandle) -> Vec<RejectionCount> {
    const WAITS: &str = "wait.capacity";
    let others = REJECTIONS.counts().filter(|of| of.limit != WAITS);
    let waits = RejectionCount {
        limit: WAITS,
        value: node.wait_capacity() as u64,
        count: node.meters().waits.refused,
    };
    let waits = Some(waits).filter(|of| of.count > 0);
    others.chain(waits).collect()
}
