use super::*;
use crate::observe::snapshot::{Limit, Processor, Queue, Rejection, SeriesValue, StageKind};

/// Returns a snapshot with one stage, in which all figures are `value`.
fn snapshot(uptime_ms: u64, value: u64) -> Snapshot {
    let stage = Stage {
        name: "executor",
        title: "Executor",
        kind: StageKind::Threads,
        is_on_path: true,
        thread: Some("executor"),
        threads: 1,
        busy_permille: Some(value),
        core_wait_permille: None,
        occupied_permille: None,
        in_per_s: None,
        out_per_s: None,
        rejected_per_s: None,
        queue: Some(Queue {
            waiting: value,
            ..Queue::default()
        }),
        sync: None,
    };
    let series = series::infos().map(|info| SeriesValue {
        name: info.name,
        value: (info.name != "sync_ms").then_some(value as f64),
    });
    Snapshot {
        sequence: 1,
        uptime_ms,
        unix_ms: 1_000_000 + uptime_ms,
        interval_ms: 1_000,
        height: 0,
        version: 0,
        limit: Limit {
            kind: LimitKind::Clients,
            stage: None,
            sentence: String::new(),
            remedy: String::new(),
            setting: None,
            consumers: Vec::new(),
            since_ms: 0,
        },
        processor: Processor::default(),
        stages: vec![stage],
        edges: Vec::new(),
        series: series.collect(),
        rejections: Vec::new(),
        threads: Vec::new(),
    }
}

/// Returns a ring to which a snapshot per second was added, each with its number as figures.
fn ring(snapshots: u64) -> Ring {
    let mut ring = Ring::new();
    for number in 1..=snapshots {
        ring.push(&snapshot(number * 1_000, number));
    }
    ring
}

#[test]
fn keeps_15_minutes_in_the_memory_of_the_first_snapshot() {
    let mut ring = ring(1);
    let memory = (ring.points.as_ptr(), ring.points.capacity());
    for number in 2..=3 * SNAPSHOTS_MAX as u64 + 7 {
        ring.push(&snapshot(number * 1_000, number));
    }
    assert_eq!((ring.points.as_ptr(), ring.points.capacity()), memory);
    assert_eq!(memory.1, SNAPSHOTS_MAX);
    let history = ring.since(0, SNAPSHOTS_MAX);
    assert_eq!(history.uptime_ms.len(), SNAPSHOTS_MAX);
    assert!(history.uptime_ms.is_sorted());
    assert_eq!(history.uptime_ms.last(), Some(&2_707_000));
}

#[test]
fn combines_snapshots_to_their_mean_and_maximum() {
    let history = ring(10).since(0, 4);
    assert_eq!(history.snapshots_per_point, 3);
    assert_eq!(history.uptime_ms, [3_000, 6_000, 9_000, 10_000]);
    assert_eq!(history.limits, ["clients"; 4]);
    let committed = &history.series[0];
    let values = |values: [f32; 4]| values.map(Some).to_vec();
    assert_eq!(committed.mean, values([2.0, 5.0, 8.0, 10.0]));
    assert_eq!(committed.max, values([3.0, 6.0, 9.0, 10.0]));
    let executor = &history.stages[0];
    assert_eq!(executor.busy_permille, committed.max);
    assert_eq!(executor.waiting, committed.max);
    assert_eq!(executor.rejected_per_s, [None; 4]);
    let syncs = history.series.iter().find(|of| of.info.name == "sync_ms");
    assert_eq!(syncs.unwrap().mean, [None; 4]);
}

#[test]
fn returns_only_newer_snapshots() {
    let ring = ring(SNAPSHOTS_MAX as u64 + 5);
    let newest = ring.since(903_000, 300);
    assert_eq!(newest.uptime_ms, [904_000, 905_000]);
    assert!(ring.since(u64::MAX, 300).uptime_ms.is_empty());
    assert!(Ring::new().since(0, 300).uptime_ms.is_empty());
}

#[test]
fn keeps_what_a_run_time_setting_has_rejected_and_how_busy_its_threads_were() {
    const LIMIT: &str = "api.max_in_flight";
    let mut ring = Ring::new();
    for (number, limit, per_s) in [
        (1, LIMIT, 9.0),
        (2, LIMIT, 5.0),
        (3, LIMIT, 7.0),
        // Neither of them is kept.
        (4, "mempool.capacity_per_account", 8.0),
        (5, "waiting renderings", 8.0),
        (6, LIMIT, 0.0),
    ] {
        let mut snapshot = snapshot(number * 1_000, number);
        snapshot.rejections.push(Rejection {
            limit,
            value: 1,
            per_s,
            total: 1,
        });
        ring.push(&snapshot);
    }
    let rejected = |per_s_max, busy_permille| {
        Some(Rejected {
            per_s_max,
            busy_permille,
        })
    };
    let since = |unix_ms, stages| ring.rejected(LIMIT, unix_ms, stages);
    assert_eq!(since(0, &["executor"]), rejected(9.0, 2));
    assert_eq!(since(0, &["http"]), rejected(9.0, 0));
    assert_eq!(since(1_001_000, &["executor"]), rejected(7.0, 2));
    assert_eq!(since(1_003_000, &["executor"]), None);
    assert_eq!(ring.limits, [LIMIT]);
}

#[test]
fn writes_points_with_two_decimal_places_at_most() {
    let series = SeriesHistory {
        info: series::infos().next().unwrap(),
        mean: vec![Some(0.0), Some(2.0 / 3.0), None],
        max: vec![Some(56_320_000.0), Some(-0.004), Some(7.0)],
    };
    let json = serde_json::to_value(series).unwrap();
    assert_eq!(json["mean"].to_string(), "[0,0.67,null]");
    assert_eq!(json["max"].to_string(), "[56320000,0,7]");
}
