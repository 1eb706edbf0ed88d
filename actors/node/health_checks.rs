//! The conditions that decide whether a node is healthy.

use super::handle::NodeHandle;
use crate::engine::{EngineReport, HEIGHTS};

/// A condition without which a node does not commit, or follows its chain no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    /// Name of the condition, for probes.
    pub name: &'static str,
    /// The cause in words if the condition does not hold.
    pub problem: Option<String>,
}

impl HealthCheck {
    /// The node writes its ledger: disk, clock, and agreement with the decided blocks.
    pub const WRITABLE: &str = "writable";
    /// No actor or thread on the path of a commit is stalled.
    pub const COMMITS: &str = "commits";
    /// Enough validators are in contact, and the node is not far behind them.
    pub const VALIDATORS: &str = "validators";
}

impl NodeHandle {
    /// Returns the conditions of a healthy node, in the order in which a failure explains the
    /// others.
    pub fn health_checks(&self) -> [HealthCheck; 3] {
        let engine = self.engine_report();
        let writable = self.not_writable().map(|cause| cause.to_string());
        let isolation = engine.as_ref().and_then(EngineReport::isolation);
        // An isolated node decides no height, and the isolation says why.
        let stall = self.commit_stall();
        let stall = stall.filter(|stall| isolation.is_none() || &*stall.thread != HEIGHTS);
        let commits = stall.map(|stall| match &engine {
            Some(report) => format!("{stall}; no block is committed ({report})"),
            None => format!("{stall}; no block is committed"),
        });
        let validators = engine
            .as_ref()
            .zip(isolation)
            .map(|(report, isolation)| format!("{isolation} ({report})"));
        [
            (HealthCheck::WRITABLE, writable),
            (HealthCheck::COMMITS, commits),
            (HealthCheck::VALIDATORS, validators),
        ]
        .map(|(name, problem)| HealthCheck { name, problem })
    }
}
