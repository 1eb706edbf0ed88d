//! The newest 15 minutes of snapshots, in memory that is allocated once.

use super::{
    series::{self, SERIES_COUNT},
    snapshot::{History, LimitKind, SeriesHistory, Snapshot, Stage, StageHistory},
};
use crate::config::{Applies, SETTINGS};

/// Number of snapshots that are kept: 15 minutes of one per second.
pub const SNAPSHOTS_MAX: usize = 900;

/// Maximum number of stages: those of a node of several validators. Further ones are not kept.
const STAGES_MAX: usize = 20;

/// Number of values that are kept of a stage.
const STAGE_VALUES: usize = 3;

/// Maximum number of limits in the history of rejections. There are fewer run-time settings that
/// reject; the history has no other limits.
const LIMITS_MAX: usize = 16;

/// Maximum memory of the points, in bytes.
const HISTORY_BYTES_MAX: usize = 440_000;

const _: () = assert!(SNAPSHOTS_MAX * size_of::<Point>() <= HISTORY_BYTES_MAX);

/// The part of a snapshot that the history has. A value that does not exist is NaN.
#[derive(Clone, Copy, Debug)]
struct Point {
    uptime_ms: u64,
    unix_ms: u64,
    /// Name of the limiting stage, or of the kind of a limit without a stage.
    limit: &'static str,
    series: [f32; SERIES_COUNT],
    stages: [[f32; STAGE_VALUES]; STAGES_MAX],
    /// Rejections per second of the limits of the ring.
    rejected_per_s: [f32; LIMITS_MAX],
}

/// The rejections of a limit in the newest 15 minutes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejected {
    /// Maximum rate of rejections.
    pub per_s_max: f64,
    /// Mean of the processor time of the threads behind the limit while it rejected, in
    /// thousandths.
    pub busy_permille: u64,
}

/// The newest snapshots. A new one replaces the oldest.
#[derive(Debug)]
pub struct Ring {
    points: Vec<Point>,
    /// Index of the point that the next snapshot replaces once the ring is full.
    next: usize,
    /// Names of the stages of the newest snapshot.
    stages: Vec<&'static str>,
    /// Run-time settings that have rejected requests since the start.
    limits: Vec<&'static str>,
}

impl Ring {
    /// Creates an empty ring with the memory of a full one.
    pub fn new() -> Self {
        Self {
            points: Vec::with_capacity(SNAPSHOTS_MAX),
            next: 0,
            stages: Vec::with_capacity(STAGES_MAX),
            limits: Vec::with_capacity(LIMITS_MAX),
        }
    }

    /// Adds a snapshot.
    pub fn push(&mut self, snapshot: &Snapshot) {
        let names = snapshot.stages.iter().map(|stage| stage.name);
        self.stages.clear();
        self.stages.extend(names.take(STAGES_MAX));
        let mut point = Point::of(snapshot);
        for rejection in &snapshot.rejections {
            if let Some(index) = self.index_of_limit(rejection.limit) {
                point.rejected_per_s[index] = rejection.per_s as f32;
            }
        }
        match self.points.get_mut(self.next) {
            Some(oldest) => *oldest = point,
            None => self.points.push(point),
        }
        self.next = (self.next + 1) % SNAPSHOTS_MAX;
    }

    /// Returns the index of a limit in the points, if it is a run-time setting.
    fn index_of_limit(&mut self, limit: &'static str) -> Option<usize> {
        let known = self.limits.iter().position(|of| *of == limit);
        known.or_else(|| {
            let mut settings = SETTINGS.iter();
            let is_kept = self.limits.len() < LIMITS_MAX
                && settings.any(|of| of.key == limit && of.applies == Applies::Now);
            is_kept.then(|| {
                self.limits.push(limit);
                self.limits.len() - 1
            })
        })
    }

    /// Returns what a run-time setting has rejected in snapshots after a time of the system clock,
    /// and how busy the threads of `stages` were meanwhile. Returns `None` without a rejection.
    pub fn rejected(&self, limit: &str, since_unix_ms: u64, stages: &[&str]) -> Option<Rejected> {
        let index = self.limits.iter().position(|of| *of == limit)?;
        let rejecting = self
            .points
            .iter()
            .filter(|point| point.unix_ms > since_unix_ms && point.rejected_per_s[index] > 0.0);
        let busy_permille = |point: &&Point| {
            let all = self.stages.iter().zip(&point.stages);
            let behind = all.filter(|(name, _)| stages.contains(name));
            let busy = behind.map(|(_, [busy, ..])| *busy);
            busy.filter(|busy| !busy.is_nan()).sum::<f32>()
        };
        let per_s_max = max(&mut rejecting.clone().map(|point| point.rejected_per_s[index]))?;
        let busy_permille = mean(&mut rejecting.map(|point| busy_permille(&point)))?;
        Some(Rejected {
            per_s_max: f64::from(per_s_max),
            busy_permille: busy_permille as u64,
        })
    }

    /// Returns the snapshots that are younger than `since_ms` of uptime, in `points_max` points or
    /// fewer. Each point has the mean and the maximum of equally many snapshots, the last one of
    /// those that are left.
    pub fn since(&self, since_ms: u64, points_max: usize) -> History {
        let (newer, older) = self.points.split_at(self.next.min(self.points.len()));
        let kept: Vec<_> = older
            .iter()
            .chain(newer)
            .filter(|point| point.uptime_ms > since_ms)
            .collect();
        let snapshots_per_point = kept.len().div_ceil(points_max.max(1)).max(1);
        let groups: Vec<_> = kept.chunks(snapshots_per_point).collect();
        let last = |of: &[&Point]| of.last().copied().copied();
        let series = series::infos().enumerate().map(|(index, info)| {
            let values = |combine: fn(Values<'_>) -> Option<f32>| {
                let of_group = |of: &&[&Point]| combine(&mut of.iter().map(|of| of.series[index]));
                groups.iter().map(of_group).collect()
            };
            SeriesHistory {
                info,
                mean: values(mean),
                max: values(max),
            }
        });
        let stages = self.stages.iter().enumerate().map(|(index, &name)| {
            let maxima = |value: usize| {
                let of_group =
                    |of: &&[&Point]| max(&mut of.iter().map(|of| of.stages[index][value]));
                groups.iter().map(of_group).collect()
            };
            StageHistory {
                name,
                busy_permille: maxima(0),
                waiting: maxima(1),
                rejected_per_s: maxima(2),
            }
        });
        let ends = || groups.iter().filter_map(|of| last(of));
        History {
            snapshots_per_point,
            uptime_ms: ends().map(|point| point.uptime_ms).collect(),
            unix_ms: ends().map(|point| point.unix_ms).collect(),
            limits: ends().map(|point| point.limit).collect(),
            series: series.collect(),
            stages: stages.collect(),
        }
    }
}

impl Point {
    fn of(snapshot: &Snapshot) -> Self {
        let mut point = Self {
            uptime_ms: snapshot.uptime_ms,
            unix_ms: snapshot.unix_ms,
            limit: snapshot.limit.stage.unwrap_or(match snapshot.limit.kind {
                LimitKind::Processor => "processor",
                _ => "clients",
            }),
            series: [f32::NAN; SERIES_COUNT],
            stages: [[f32::NAN; STAGE_VALUES]; STAGES_MAX],
            rejected_per_s: [0.0; LIMITS_MAX],
        };
        for (kept, value) in point.series.iter_mut().zip(&snapshot.series) {
            *kept = value.value.map_or(f32::NAN, |value| value as f32);
        }
        for (kept, stage) in point.stages.iter_mut().zip(&snapshot.stages) {
            *kept = stage_values(stage);
        }
        point
    }
}

fn stage_values(stage: &Stage) -> [f32; STAGE_VALUES] {
    let of = |value: Option<f64>| value.map_or(f32::NAN, |value| value as f32);
    let waiting = stage.queue.map(|queue| queue.waiting as f64);
    [
        of(stage.busy_permille.map(|busy| busy as f64)),
        of(waiting),
        of(stage.rejected_per_s),
    ]
}

/// The values of the snapshots of a point.
type Values<'a> = &'a mut dyn Iterator<Item = f32>;

/// Returns the mean of the values that exist.
fn mean(values: Values<'_>) -> Option<f32> {
    let (sum, count) = values
        .filter(|value| !value.is_nan())
        .fold((0.0, 0u16), |(sum, count), value| {
            (sum + f64::from(value), count + 1)
        });
    (count > 0).then(|| (sum / f64::from(count)) as f32)
}

/// Returns the largest of the values that exist.
fn max(values: Values<'_>) -> Option<f32> {
    values.filter(|value| !value.is_nan()).reduce(f32::max)
}

#[cfg(test)]
mod tests;
