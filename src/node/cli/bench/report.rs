//! The report of a run, as text or JSON.

use super::arguments::{Arguments, Format, Mode, Wait};
use ledger_client::load::{History, LatencySummary, Run, Tally};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// Share of the time from which a busy generator may be what limits the load.
const BUSY_SHARE_MAX: f64 = 0.9;

/// Number of parts with the same number of commits that a run is divided into.
const PARTS: u64 = 5;

/// The report.
#[derive(Debug, Serialize)]
pub struct Report {
    mode: Mode,
    /// The requests of a wait, in mode await.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<Wait>,
    format: Format,
    connections: usize,
    /// Number of transfers in a request. All other figures are those of single transfers.
    batch: usize,
    accounts: usize,
    seed: u64,
    /// Due transfers per second, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    /// Time from the end of the warm-up to the last commit that was seen.
    seconds: f64,
    /// Number of accepted transfers that were due after the warm-up.
    accepted: u64,
    /// Number of commits after the warm-up, including those of transfers that it left pending.
    committed: u64,
    committed_per_second: f64,
    /// The rate during each fifth of the commits.
    fifths_committed_per_second: Vec<f64>,
    uncommitted: u64,
    /// Number of transfers without a response at the end of the run.
    unanswered: u64,
    /// The reason for an end before that of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    submit_latency: LatencySummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_latency: Option<LatencySummary>,
    failed: u64,
    lost: u64,
    false_not_found: u64,
    waits_in_vain: u64,
    errors: BTreeMap<String, u64>,
    generator: Generator,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<NodeProcess>,
}

/// The resource usage of the generator. A generator that is the limit measures itself.
#[derive(Debug, Serialize)]
struct Generator {
    threads: usize,
    pre_signed: u64,
    signed_while_running: u64,
    warm_up_seconds: f64,
    ramp_seconds: f64,
    cpu_us_per_transfer: f64,
    /// Processor time as a share of the time of all threads.
    busy_share: f64,
    was_the_limit: bool,
}

/// The resource usage of the node's process (`--pid`).
#[derive(Debug, Serialize)]
struct NodeProcess {
    cpu_us_per_transfer: f64,
    /// Mean number of cores in use.
    cores: f64,
    resident_bytes: u64,
}

impl Generator {
    /// Returns the usage during a run that is over.
    fn new(run: &Run, tally: &Tally, history: &History) -> Self {
        let plan = run.plan();
        let (before, after) = (history.usage_before(), history.usage_after());
        let used = after.own_cpu.saturating_sub(before.own_cpu);
        let busy_share = share(used, history.duration()) / plan.threads as f64;
        Self {
            threads: plan.threads,
            pre_signed: plan.pre_signed,
            signed_while_running: tally.signed_while_running,
            warm_up_seconds: plan.warm_up.as_secs_f64(),
            ramp_seconds: plan.ramp.as_secs_f64(),
            cpu_us_per_transfer: micros_each(used, history.committed()),
            busy_share,
            // In an open loop the committed rate shows whether the generator kept up.
            was_the_limit: plan.interval.is_none() && busy_share >= BUSY_SHARE_MAX,
        }
    }
}

impl NodeProcess {
    /// Returns the usage during a run, or `None` without `--pid`.
    fn new(history: &History) -> Option<Self> {
        let (before, after) = (history.usage_before(), history.usage_after());
        let (before, after) = before.node.zip(after.node)?;
        let used = after.cpu.saturating_sub(before.cpu);
        Some(Self {
            cpu_us_per_transfer: micros_each(used, history.committed()),
            cores: share(used, history.duration()),
            resident_bytes: after.resident_bytes,
        })
    }
}

/// Returns the time per transfer, in microseconds.
fn micros_each(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count.max(1) as f64
}

/// Returns a part as a share of the whole, or 0 if the whole is empty.
fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() {
        return 0.0;
    }
    part.as_secs_f64() / whole.as_secs_f64()
}

impl Report {
    /// Creates the report of a run that is over.
    pub fn new(arguments: &Arguments, run: &Run, tally: &Tally, history: &History) -> Self {
        let plan = run.plan();
        let seconds = history.duration().as_secs_f64();
        let committed = history.committed();
        let per_second = if seconds > 0.0 {
            committed as f64 / seconds
        } else {
            0.0
        };
        Self {
            mode: arguments.mode,
            wait: (arguments.mode == Mode::Await).then_some(arguments.wait),
            format: arguments.format,
            connections: plan.connections,
            batch: plan.batch,
            accounts: plan.accounts,
            seed: plan.seed,
            rate: plan.interval.map(|interval| 1.0 / interval.as_secs_f64()),
            seconds,
            accepted: run.accepted_measured(),
            committed,
            committed_per_second: per_second,
            fifths_committed_per_second: history.rates(PARTS),
            uncommitted: run
                .accepted()
                .saturating_sub(history.committed_in_warm_up())
                .saturating_sub(committed),
            unanswered: tally.unanswered,
            stopped: run.stop_cause().map(str::to_owned),
            submit_latency: (&tally.submit).into(),
            commit_latency: plan.is_commit_awaited.then(|| (&tally.commit).into()),
            failed: tally.failed,
            lost: tally.lost,
            false_not_found: tally.false_not_found,
            waits_in_vain: tally.waits_in_vain,
            errors: tally.errors().clone(),
            generator: Generator::new(run, tally, history),
            node: NodeProcess::new(history),
        }
    }

    /// Renders the report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the report has a JSON form")
    }

    /// Renders the report as text.
    pub fn text(&self) -> String {
        let fifths: Vec<_> = self
            .fifths_committed_per_second
            .iter()
            .map(|rate| format!("{rate:.0}"))
            .collect();
        let batches = match self.batch {
            1 => String::new(),
            batch => format!(" in batches of {batch}"),
        };
        let mut text = format!(
            "{} transfers committed in {:.2} s over {} connections{batches} from {} accounts \
             (seed {})\n\
             committed_per_second {:.0}\n\
             committed_per_second by fifth {}\n\
             accepted {}  uncommitted {}  unanswered {}  failed {}  lost {}\n",
            self.committed,
            self.seconds,
            self.connections,
            self.accounts,
            self.seed,
            self.committed_per_second,
            fifths.join(" "),
            self.accepted,
            self.uncommitted,
            self.unanswered,
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
                    "{name} latency ms: mean {:.2}  p50 {:.2}  p90 {:.2}  p99 {:.2}  p99.9 {:.2}  \
                     max {:.2}",
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
        if let Some(cause) = &self.stopped {
            let _ = writeln!(text, "stopped early: {cause}");
        }
        self.write_processes(&mut text);
        let _ = write!(text, "errors");
        if self.errors.is_empty() {
            let _ = write!(text, " none");
        }
        for (code, count) in &self.errors {
            let _ = write!(text, "\n  {count} x {code}");
        }
        text
    }

    /// Appends the resource usage of the generator and of the node.
    fn write_processes(&self, text: &mut String) {
        let generator = &self.generator;
        let limit = if generator.was_the_limit {
            "  IT WAS THE LIMIT: use more --threads, more --pre-signed, or another machine"
        } else {
            ""
        };
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "generator: {:.1} us of processor time per transfer, {} threads busy {:.0} %{limit}",
            generator.cpu_us_per_transfer,
            generator.threads,
            generator.busy_share * 100.0,
        );
        if let Some(node) = &self.node {
            let _ = writeln!(
                text,
                "node: {:.1} us of processor time per transfer, {:.2} cores, {} MB resident",
                node.cpu_us_per_transfer,
                node.cores,
                node.resident_bytes / 1_000_000,
            );
        }
    }
}
