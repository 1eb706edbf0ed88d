//! The measurements of a thread, and their sum over all threads.

use super::latency::LatencyHistogram;
use std::collections::BTreeMap;

/// Maximum number of error codes that are counted separately. Further ones count as `other`.
const ERROR_KINDS_MAX: usize = 64;

/// Latencies, errors, and broken promises of the node.
#[derive(Debug, Default)]
pub struct Tally {
    /// Latencies from the due time of a transfer to the response to its submission.
    pub submit: LatencyHistogram,
    /// Latencies from the due time of a transfer to its commit, if commits are awaited.
    pub commit: LatencyHistogram,
    /// Number of transfers that were committed and failed.
    pub failed: u64,
    /// Number of 404 responses for an accepted transaction that the node found in a second
    /// request.
    pub false_not_found: u64,
    /// Number of waits that ended as pending at a ledger version that includes the transaction.
    pub waits_in_vain: u64,
    /// Number of accepted transactions that the node no longer found.
    pub lost: u64,
    /// Number of transfers without a response at the end of the run.
    pub unanswered: u64,
    /// Number of transfers that were signed during the load.
    pub signed_while_running: u64,
    errors: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts an error under its code.
    pub fn count_error(&mut self, code: String) {
        self.add_errors(code, 1);
    }

    /// Adds `count` errors, as `other` if there are too many codes.
    fn add_errors(&mut self, code: String, count: u64) {
        let known = self.errors.contains_key(&code) || self.errors.len() < ERROR_KINDS_MAX;
        let code = if known { code } else { "other".to_owned() };
        *self.errors.entry(code).or_default() += count;
    }

    /// Returns the number of errors by code.
    pub fn errors(&self) -> &BTreeMap<String, u64> {
        &self.errors
    }

    /// Adds the tally of another thread.
    pub fn merge(&mut self, other: Self) {
        self.submit.merge(&other.submit);
        self.commit.merge(&other.commit);
        self.failed += other.failed;
        self.false_not_found += other.false_not_found;
        self.waits_in_vain += other.waits_in_vain;
        self.lost += other.lost;
        self.unanswered += other.unanswered;
        self.signed_while_running += other.signed_while_running;
        for (code, count) in other.errors {
            self.add_errors(code, count);
        }
    }
}
