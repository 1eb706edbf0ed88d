//! The measurements of an attack as a row of a table, and violations of the rules for every
//! machine.

use super::{Attack, attacker::Tally, bench::Report};
use std::{collections::BTreeMap, time::Duration};

/// All runs of an attack.
pub struct Figures {
    name: &'static str,
    pub without: Vec<Report>,
    pub with: Vec<Attacked>,
    /// Words that the log must not have.
    pub faults: Vec<&'static str>,
}

/// A run of the bench with the attack.
pub struct Attacked {
    pub report: Report,
    pub tally: Tally,
    /// Number of API connections of the node at the end of the bench.
    pub open_connections: u64,
    pub elapsed: Duration,
    /// Processor time of the attacker.
    pub processor_time: Duration,
}

impl Attacked {
    fn sent_per_second(&self) -> f64 {
        self.tally.sent as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the number of cores that the attacker used.
    fn cores(&self) -> f64 {
        self.processor_time.as_secs_f64() / self.elapsed.as_secs_f64()
    }
}

/// Prints the first lines of the table.
#[allow(clippy::print_stdout, reason = "the table is the result of a long run")]
pub fn print_heading() {
    println!(
        "| attack | committed/s without it | committed/s with it | ratio | sent/s | responses \
         | open connections | node CPU per transfer, us, without / with | cores of the attacker |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

/// Prints the row of an attack for which this process lacks a right.
#[allow(clippy::print_stdout, reason = "the table is the result of a long run")]
pub fn print_untested(name: &str) {
    println!("| {name} | not tested: a right is missing | | | | | | | |");
}

impl Figures {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            without: Vec::new(),
            with: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Prints the row: medians, and for committed transfers also minimum and maximum.
    #[allow(clippy::print_stdout, reason = "the table is the result of a long run")]
    pub fn print(&self) {
        let without = |figure: fn(&Report) -> f64| Spread::of(self.without.iter().map(figure));
        let with = |figure: fn(&Attacked) -> f64| Spread::of(self.with.iter().map(figure));
        let committed = without(|report| report.committed_per_second);
        let committed_attacked = with(|run| run.report.committed_per_second);
        let responses: Vec<_> = self
            .responses()
            .iter()
            .map(|(kind, count)| format!("{kind}: {count}"))
            .collect();
        println!(
            "| {} | {} | {} | {:.2} | {:.0} | {} | {:.0} | {:.0} / {:.0} | {:.2} |",
            self.name,
            committed.text(),
            committed_attacked.text(),
            committed_attacked.median / committed.median,
            with(Attacked::sent_per_second).median,
            responses.join("; "),
            with(|run| run.open_connections as f64).max,
            without(|report| report.node_cpu_us).median,
            with(|run| run.report.node_cpu_us).median,
            with(Attacked::cores).median,
        );
    }

    /// Returns the responses of all runs.
    fn responses(&self) -> BTreeMap<&str, u64> {
        let mut responses = BTreeMap::new();
        for (kind, count) in self.with.iter().flat_map(|run| &run.tally.responses) {
            *responses.entry(kind.as_str()).or_default() += count;
        }
        responses
    }

    /// Returns errors of the bench, responses other than those of the attack, and faults in the
    /// log.
    pub fn violations(&self, attack: &Attack) -> Vec<String> {
        let reports = self
            .without
            .iter()
            .chain(self.with.iter().map(|run| &run.report));
        let of_bench = reports.flat_map(|report| &report.faults).cloned();
        let responses = self.responses();
        let missing = attack
            .expected
            .iter()
            .filter(|&&kind| !responses.contains_key(kind));
        let missing = missing.map(|kind| format!("no response {kind:?}"));
        let documented = [attack.expected, attack.possible].concat();
        let undocumented = responses
            .iter()
            .filter(|(kind, _)| !documented.contains(*kind))
            .map(|(kind, count)| format!("{count} undocumented responses {kind:?}"));
        let logged = self
            .faults
            .iter()
            .map(|fault| format!("{fault:?} in the log"));
        of_bench
            .chain(missing)
            .chain(undocumented)
            .chain(logged)
            .map(|violation| format!("{}: {violation}", self.name))
            .collect()
    }
}

/// The median of some figures, and their range.
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    /// Returns the median and range of `figures`.
    ///
    /// # Panics
    ///
    /// Panics if there is no figure.
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut figures: Vec<_> = figures.collect();
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let median = match figures.len() % 2 {
            0 => f64::midpoint(figures[middle - 1], figures[middle]),
            _ => figures[middle],
        };
        Self {
            min: figures[0],
            median,
            max: figures[figures.len() - 1],
        }
    }

    fn text(&self) -> String {
        format!("{:.0} ({:.0} to {:.0})", self.median, self.min, self.max)
    }
}
