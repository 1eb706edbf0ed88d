//! What a run measured, as text or JSON.

use super::{
    Format, Mode,
    load::Load,
    meter::History,
    tally::{Latencies, Tally},
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write as _};

/// Into how many parts of equally many transactions the course of a run is divided.
const PARTS: u64 = 5;

/// The report.
#[derive(Debug, Serialize)]
pub struct Report {
    mode: Mode,
    format: Format,
    connections: usize,
    accounts: usize,
    seed: u64,
    /// Transfers per second that were due; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    /// From the begin of the load until the last commitment was seen on the ledger.
    seconds: f64,
    accepted: u64,
    committed: u64,
    committed_per_second: f64,
    /// The rate of each fifth of the committed transactions.
    fifths_committed_per_second: Vec<f64>,
    uncommitted: u64,
    submit_latency: Quantiles,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_latency: Option<Quantiles>,
    failed: u64,
    lost: u64,
    false_not_found: u64,
    waits_in_vain: u64,
    errors: BTreeMap<String, u64>,
}

/// A distribution of latencies, in milliseconds.
#[derive(Debug, Serialize)]
struct Quantiles {
    count: u64,
    mean_ms: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    max_ms: f64,
}

impl From<&Latencies> for Quantiles {
    fn from(latencies: &Latencies) -> Self {
        Self {
            count: latencies.count(),
            mean_ms: latencies.mean_ms(),
            p50_ms: latencies.quantile_ms(0.5),
            p90_ms: latencies.quantile_ms(0.9),
            p99_ms: latencies.quantile_ms(0.99),
            p999_ms: latencies.quantile_ms(0.999),
            max_ms: latencies.max_ms(),
        }
    }
}

impl Report {
    /// The report of a run that is over.
    pub fn new(load: &Load, tally: &Tally, history: &History) -> Self {
        let plan = &load.plan;
        let seconds = history.duration().as_secs_f64();
        let committed = history.committed();
        let per_second = if seconds > 0.0 {
            committed as f64 / seconds
        } else {
            0.0
        };
        Self {
            mode: plan.mode,
            format: plan.format,
            connections: plan.connections,
            accounts: plan.accounts,
            seed: plan.seed,
            rate: plan.interval.map(|interval| 1.0 / interval.as_secs_f64()),
            seconds,
            accepted: load.accepted(),
            committed,
            committed_per_second: per_second,
            fifths_committed_per_second: history.rates(PARTS),
            uncommitted: load.accepted().saturating_sub(committed),
            submit_latency: (&tally.submit).into(),
            commit_latency: (plan.mode == Mode::Await).then(|| (&tally.commit).into()),
            failed: tally.failed,
            lost: tally.lost,
            false_not_found: tally.false_not_found,
            waits_in_vain: tally.waits_in_vain,
            errors: tally.errors().clone(),
        }
    }

    /// For programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the report has a JSON form")
    }

    /// For people.
    pub fn text(&self) -> String {
        let fifths: Vec<_> = self
            .fifths_committed_per_second
            .iter()
            .map(|rate| format!("{rate:.0}"))
            .collect();
        let mut text = format!(
            "{} transfers committed in {:.2} s over {} connections from {} accounts (seed {})\n\
             committed_per_second {:.0}\n\
             committed_per_second by fifth {}\n\
             accepted {}  uncommitted {}  failed {}  lost {}\n",
            self.committed,
            self.seconds,
            self.connections,
            self.accounts,
            self.seed,
            self.committed_per_second,
            fifths.join(" "),
            self.accepted,
            self.uncommitted,
            self.failed,
            self.lost,
        );
        let latencies = [
            ("submit", Some(&self.submit_latency)),
            ("commit", self.commit_latency.as_ref()),
        ];
        for (name, quantiles) in latencies {
            if let Some(q) = quantiles {
                // Writing to a String does not fail.
                let _ = writeln!(
                    text,
                    "{name} latency ms: mean {:.2}  p50 {:.2}  p90 {:.2}  p99 {:.2}  p99.9 {:.2}  max {:.2}",
                    q.mean_ms, q.p50_ms, q.p90_ms, q.p99_ms, q.p999_ms, q.max_ms
                );
            }
        }
        if self.commit_latency.is_some() {
            let _ = writeln!(
                text,
                "false 404s {}  waits in vain {}",
                self.false_not_found, self.waits_in_vain
            );
        }
        let _ = write!(text, "errors");
        if self.errors.is_empty() {
            let _ = write!(text, " none");
        }
        for (code, count) in &self.errors {
            let _ = write!(text, "\n  {count} x {code}");
        }
        text
    }
}
