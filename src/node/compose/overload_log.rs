//! Log lines about limits that reject requests.
//!
//! A rejection only counts ([`REJECTIONS`]). A task reads the counts and writes at most one line
//! for each limit in [`LINE_INTERVAL`], so clients cannot fill the log.

use ledger_limits::{REJECTIONS, RejectionCount};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Minimum time between two lines about one limit.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Time between two looks at the counts. An overload is logged this late.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The task that logs overloads. It ends when this is dropped.
#[derive(Debug)]
pub struct OverloadLog(JoinHandle<()>);

impl OverloadLog {
    /// Starts the task on the calling thread.
    pub fn start() -> Self {
        Self(actix_web::rt::spawn(async {
            let mut reports = Reports::default();
            let mut ticks = interval(CHECK_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                for count in REJECTIONS.counts() {
                    if let Some(line) = reports.observe(count, Instant::now()) {
                        write(count, line);
                    }
                }
            }
        }))
    }
}

impl Drop for OverloadLog {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn write(RejectionCount { limit, value, .. }: RejectionCount, line: Line) {
    match line {
        Line::Rejects(rejected) => tracing::warn!(
            setting = limit,
            capacity = value,
            rejected,
            "requests are rejected: the limit is reached"
        ),
        Line::Ended(rejected) => tracing::info!(
            setting = limit,
            capacity = value,
            rejected,
            "requests are no longer rejected by the limit"
        ),
    }
}

/// A line about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// The limit rejects requests: this many since the last line.
    Rejects(u64),
    /// The limit has rejected no request since the last line, and this many before.
    Ended(u64),
}

/// What was logged about each limit.
#[derive(Debug, Default)]
struct Reports(HashMap<&'static str, Report>);

/// What was logged about a limit.
#[derive(Debug, Default)]
struct Report {
    /// Number of rejections at the last line.
    reported: u64,
    /// Number of rejections before the overload.
    before: u64,
    /// Time of the last line about the overload, if there is one.
    line_at: Option<Instant>,
}

impl Reports {
    /// Returns the line that is due.
    fn observe(&mut self, count: RejectionCount, now: Instant) -> Option<Line> {
        let report = self.0.entry(count.limit).or_default();
        let rejected = count.count - report.reported;
        match report.line_at {
            Some(line_at) if now.duration_since(line_at) < LINE_INTERVAL => None,
            Some(_) if rejected == 0 => {
                report.line_at = None;
                Some(Line::Ended(count.count - report.before))
            }
            None if rejected == 0 => None,
            line_at => {
                if line_at.is_none() {
                    report.before = report.reported;
                }
                report.reported = count.count;
                report.line_at = Some(now);
                Some(Line::Rejects(rejected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a limit whose count has these values, one each second.
    fn lines(counts: impl IntoIterator<Item = u64>) -> Vec<(usize, Line)> {
        let (start, mut reports) = (Instant::now(), Reports::default());
        let counts = counts.into_iter().enumerate();
        let lines = counts.filter_map(|(second, count)| {
            let count = RejectionCount {
                limit: "api.max_in_flight",
                value: 7,
                count,
            };
            let line = reports.observe(count, start + Duration::from_secs(second as u64));
            Some((second, line?))
        });
        lines.collect()
    }

    #[test]
    fn logs_a_line_each_ten_seconds_and_one_at_the_end() {
        let counts = (0..=23).map(|second| 100 * second);
        let expected = [
            (1, Line::Rejects(100)),
            (11, Line::Rejects(1_000)),
            (21, Line::Rejects(1_000)),
            (31, Line::Rejects(200)),
            (41, Line::Ended(2_300)),
        ];
        assert_eq!(lines(counts.chain([2_300; 60])), expected);
    }

    #[test]
    fn logs_each_of_two_overloads() {
        let counts = [0, 1].into_iter().chain([1; 20]).chain([5; 20]);
        let expected = [
            (1, Line::Rejects(1)),
            (11, Line::Ended(1)),
            (22, Line::Rejects(4)),
            (32, Line::Ended(4)),
        ];
        assert_eq!(lines(counts), expected);
    }

    #[test]
    fn logs_at_most_one_warning_in_ten_seconds_about_short_overloads() {
        let counts = (0..100).map(|second| second / 2);
        let warnings = lines(counts);
        let mut at = warnings.iter().map(|(second, _)| *second);
        let first = at.next().unwrap();
        assert!(
            at.try_fold(first, |last, next| (next >= last + 10).then_some(next))
                .is_some()
        );
    }
}
