//! What the connections of one thread measured, and the sum of all.

use hdrhistogram::Histogram;
use std::{collections::BTreeMap, time::Duration};

/// The longest latency that is told apart, in microseconds: ten minutes.
const LATENCY_MAX_MICROS: u64 = 600_000_000;
/// Percentiles are right to a thousandth.
const SIGNIFICANT_DIGITS: u8 = 3;
/// How many kinds of errors are told apart; beyond it they count as `other`.
const ERROR_KINDS_MAX: usize = 64;

/// Latencies, errors and broken promises.
#[derive(Debug)]
pub struct Tally {
    /// From when a submission was due to its answer.
    pub submit: Latencies,
    /// From when a submission was due to its commitment, where it is awaited.
    pub commit: Latencies,
    /// Transfers that were committed and failed.
    pub failed: u64,
    /// 404 for a transaction that the node had taken and still knew right after.
    pub false_not_found: u64,
    /// Waits that ended with "pending" at a moment of the ledger that had the transaction.
    pub waits_in_vain: u64,
    /// Transactions that the node had taken and then did not know any more.
    pub lost: u64,
    /// Transfers that were sent and had no answer when the run ended.
    pub unanswered: u64,
    /// Transfers that had to be signed while the load was on.
    pub signed_while_running: u64,
    errors: BTreeMap<String, u64>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            submit: Latencies::new(),
            commit: Latencies::new(),
            failed: 0,
            false_not_found: 0,
            waits_in_vain: 0,
            lost: 0,
            unanswered: 0,
            signed_while_running: 0,
            errors: BTreeMap::new(),
        }
    }
}

impl Tally {
    /// Counts an error by its code.
    pub fn error(&mut self, code: String) {
        self.add_errors(code, 1);
    }

    fn add_errors(&mut self, code: String, count: u64) {
        let known = self.errors.contains_key(&code) || self.errors.len() < ERROR_KINDS_MAX;
        let code = if known { code } else { "other".to_owned() };
        *self.errors.entry(code).or_default() += count;
    }

    /// Errors by code.
    pub fn errors(&self) -> &BTreeMap<String, u64> {
        &self.errors
    }

    /// Adds another thread's.
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

/// A distribution of latencies.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    fn new() -> Self {
        let histogram = Histogram::new_with_max(LATENCY_MAX_MICROS, SIGNIFICANT_DIGITS);
        Self(histogram.expect("the bounds are valid"))
    }

    /// Adds one; what is longer than can be told apart counts as the longest.
    pub fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros);
    }

    fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency in milliseconds that this share of all does not exceed.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1e3
    }

    /// The longest, in milliseconds.
    pub fn max_ms(&self) -> f64 {
        self.0.max() as f64 / 1e3
    }

    /// The mean, in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.0.mean() / 1e3
    }
}
