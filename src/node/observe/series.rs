//! The series of the charts: their names, and their values in one interval.

use super::{
    reading::Reading,
    snapshot::{SeriesInfo, SeriesValue},
    stages::{Interval, rounded},
};
use ledger_actors::{AGE_STEPS_SECS, PRICE_STEPS};

/// Number of series.
pub const SERIES_COUNT: usize = SERIES.len();

/// A series with the function that returns its value.
type Row = (SeriesInfo, fn(&Interval<'_>) -> Option<f64>);

const fn info(
    group: &'static str,
    name: &'static str,
    title: &'static str,
    unit: &'static str,
) -> SeriesInfo {
    SeriesInfo {
        name,
        group,
        title,
        unit,
    }
}

/// All series, by chart.
const SERIES: [Row; 35] = [
    (
        info("throughput", "committed", "Committed", "per_s"),
        |of| Some(of.per_s(|of| of.meters.pool.committed)),
    ),
    (info("throughput", "admitted", "Admitted", "per_s"), |of| {
        Some(of.per_s(admitted))
    }),
    (info("throughput", "requests", "Requests", "per_s"), |of| {
        Some(of.per_s(|of| of.responses))
    }),
    (info("latency", "latency_p50", "Median", "us"), |of| {
        latency(of, 500)
    }),
    (
        info("latency", "latency_p99", "99th percentile", "us"),
        |of| latency(of, 990),
    ),
    (
        info("pool", "pool_transactions", "Pending", "transactions"),
        |of| Some(of.now.meters.pool.transactions as f64),
    ),
    (
        info("pool", "pool_parked", "Parked", "transactions"),
        |of| Some(of.now.meters.pool.parked as f64),
    ),
    (
        info("pool_age", "age_0", "Below 2 s", "transactions"),
        |of| Some(of.now.meters.pool.by_age[0] as f64),
    ),
    (
        info("pool_age", "age_2", "2 s to 10 s", "transactions"),
        |of| Some(of.now.meters.pool.by_age[1] as f64),
    ),
    (
        info("pool_age", "age_10", "10 s to 60 s", "transactions"),
        |of| Some(of.now.meters.pool.by_age[2] as f64),
    ),
    (
        info("pool_age", "age_60", "60 s and above", "transactions"),
        |of| Some(of.now.meters.pool.by_age[3] as f64),
    ),
    (
        info("pool_price", "price_0", "Below 150", "transactions"),
        |of| Some(of.now.meters.pool.by_price[0] as f64),
    ),
    (
        info("pool_price", "price_150", "150 to 999", "transactions"),
        |of| Some(of.now.meters.pool.by_price[1] as f64),
    ),
    (
        info("pool_price", "price_1000", "1,000 to 9,999", "transactions"),
        |of| Some(of.now.meters.pool.by_price[2] as f64),
    ),
    (
        info(
            "pool_price",
            "price_10000",
            "10,000 and above",
            "transactions",
        ),
        |of| Some(of.now.meters.pool.by_price[3] as f64),
    ),
    (
        info("pool_time", "pool_time", "Time of the pool in blocks", "ms"),
        |of| Some(rounded(of.now.meters.pool.usecs as f64 / 1e3)),
    ),
    (info("waits", "waits", "Waiting clients", "waits"), |of| {
        Some(of.now.meters.waits.waiting as f64)
    }),
    (
        info("rejections", "rejected_http", "HTTP limits", "per_s"),
        |of| Some(rejected(of, |limit| limit.starts_with("api."))),
    ),
    (
        info("rejections", "rejected_mailboxes", "Mailboxes", "per_s"),
        |of| Some(rejected(of, |limit| limit.starts_with("actors."))),
    ),
    (info("rejections", "rejected_pool", "Pool", "per_s"), |of| {
        Some(rejected(of, |limit| limit.starts_with("mempool.")))
    }),
    (
        info("rejections", "rejected_signatures", "Signatures", "per_s"),
        |of| Some(rejected(of, |limit| limit.starts_with("signatures."))),
    ),
    (
        info(
            "rejections",
            "rejected_work",
            "Reads and renderings",
            "per_s",
        ),
        |of| Some(rejected(of, is_of_work)),
    ),
    (
        info("rejections", "rejected_waits", "Waits", "per_s"),
        |of| Some(rejected(of, |limit| limit.starts_with("wait."))),
    ),
    (
        info("rejections", "rejected_other", "Other limits", "per_s"),
        |of| Some(rejected(of, is_other)),
    ),
    (info("disk", "syncs", "Syncs", "per_s"), |of| {
        Some(of.per_s(|of| of.meters.syncs.count))
    }),
    (
        info("disk_time", "sync_ms", "Mean of a sync", "ms"),
        mean_sync_ms,
    ),
    (info("blocks", "blocks", "Blocks", "per_s"), |of| {
        Some(of.per_s(|of| of.height))
    }),
    (info("height", "height", "Height", "blocks"), |of| {
        Some(of.now.height as f64)
    }),
    (
        info("memory", "memory_resident", "Resident", "bytes"),
        |of| of.now.memory.resident.map(|bytes| bytes as f64),
    ),
    (info("memory", "memory_pool", "Pool", "bytes"), |of| {
        Some(of.now.meters.pool.bytes as f64)
    }),
    (
        info("memory", "memory_answers", "Responses", "bytes"),
        |of| Some(of.now.memory.answers as f64),
    ),
    (
        info("memory", "memory_bodies", "Request bodies", "bytes"),
        |of| Some(of.now.memory.bodies as f64),
    ),
    (
        info("memory", "memory_cache", "Response cache", "bytes"),
        |of| Some(of.now.memory.cache as f64),
    ),
    (
        info("processor", "processor_busy", "Processor time", "permille"),
        |of| processor(of, |processor| processor.busy_permille),
    ),
    (
        info(
            "processor",
            "processor_wait",
            "Waiting for a core",
            "permille",
        ),
        |of| processor(of, |processor| processor.core_wait_permille),
    ),
];

// The names and titles above.
const _: () = assert!(matches!(AGE_STEPS_SECS, [2, 10, 60]));
const _: () = assert!(matches!(PRICE_STEPS, [150, 1_000, 10_000]));

/// Returns what the series are.
pub fn infos() -> impl Iterator<Item = SeriesInfo> {
    SERIES.iter().map(|(info, _)| *info)
}

/// Returns the value of each series.
pub(super) fn values(interval: &Interval<'_>) -> Vec<SeriesValue> {
    let value = |(info, read): &Row| SeriesValue {
        name: info.name,
        value: read(interval),
    };
    SERIES.iter().map(value).collect()
}

/// Returns the number of transactions that entered the pool, of those that left it or are in it.
fn admitted(reading: &Reading) -> u64 {
    let pool = &reading.meters.pool;
    let left = pool.committed + pool.expired + pool.evicted + pool.replaced + pool.rejected;
    left + pool.transactions as u64
}

fn latency(of: &Interval<'_>, permille: u64) -> Option<f64> {
    let latency = |reading: &Reading| reading.meters.pool.latency.clone();
    let recorded = latency(of.now).since(&latency(of.before));
    recorded.quantile(permille).map(|usecs| usecs as f64)
}

fn rejected(of: &Interval<'_>, is_counted: fn(&str) -> bool) -> f64 {
    of.per_s(|reading| reading.rejections_of(is_counted))
}

fn is_of_work(limit: &str) -> bool {
    ["work.", "storage.", "waiting renderings"]
        .iter()
        .any(|start| limit.starts_with(start))
}

fn is_other(limit: &str) -> bool {
    let named = ["api.", "actors.", "mempool.", "signatures.", "wait."];
    !is_of_work(limit) && !named.iter().any(|start| limit.starts_with(start))
}

fn mean_sync_ms(of: &Interval<'_>) -> Option<f64> {
    let syncs = of.now.meters.syncs.count - of.before.meters.syncs.count;
    let nanos = of.now.meters.syncs.nanos - of.before.meters.syncs.nanos;
    (syncs > 0).then(|| rounded(nanos as f64 / syncs as f64 / 1e6))
}

fn processor(
    of: &Interval<'_>,
    value: fn(&super::snapshot::Processor) -> Option<u64>,
) -> Option<f64> {
    value(&of.processor()).map(|permille| permille as f64)
}
