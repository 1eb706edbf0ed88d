//! Maximum memory of the node: the sum of its limits, and the memory of the machine. The start logs
//! both, and the overload test compares the process with the sum. `docs/operate/tune.md#memory` has
//! its parts.

use crate::{config::Settings, telemetry::queue::QUEUE_BYTES_MAX};
use ledger_actors::renderer_threads;
use ledger_limits::read_bounded_text;
use ledger_store::{BLOOM_BYTES_MAX, OVERLAY_BYTES_MAX, WAL_BYTES_MAX};
use std::{fs::File, path::Path};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Bytes of the mempool per transaction beside the transaction itself (`cargo bench -p
/// ledger-actors --bench pool`).
const POOL_TRANSACTION: u64 = KIB;
/// A transaction in memory is its encoded bytes and the decoded value.
const WIRE_AND_DECODED: u64 = 2;
/// A buffer that grows doubles its capacity, so it may be half empty.
const GROWTH: u64 = 2;
/// Maximum memory of parsing one JSON body, in bytes. HTTP workers parse small bodies only.
const JSON_BODY: u64 = 64 * MIB;
/// Bytes of the views of a part of a response on at most eight renderer threads, beside the values
/// and the text, which are leased from `api.answers_bytes_max`.
const VIEWS: u64 = 8 * 4 * MIB;
/// Bytes of eight compressors.
const COMPRESSORS: u64 = 8 * 4 * MIB;
/// Bytes that a connection reads ahead and buffers for writing.
const CONNECTION: u64 = 128 * KIB;
/// Bytes of a request's path (16 KiB), headers (8 KiB, `src/http/http2/connection.rs`) and task.
const REQUEST: u64 = 32 * KIB;
/// Bytes of a wait beside its request: its hash in the committer's map, and its outcome until it is
/// sent (`benches/waits`).
const WAIT: u64 = 512;
/// An executed block takes this multiple of its transactions, for write sets, events and rows.
const EXECUTED: u64 = 16;
/// Bytes of the log lines that are being written, and of as many that wait.
const LOG_LINES: u64 = 2 * QUEUE_BYTES_MAX as u64;
/// A ledger in memory grows by doubling, and its old memory is copied then.
const LEDGER_GROWTH: u64 = 3;
/// Bytes of the program, threads, newest blocks and accounts, and free memory of the allocator.
const REST: u64 = 256 * MIB;

/// Returns the maximum memory that the settings allow, in bytes, or `u64::MAX` if the sum is
/// larger.
pub fn bytes_max(settings: &Settings) -> u64 {
    let (mempool, sequencer) = (&settings.node.mempool, &settings.node.sequencer);
    let (api, listener) = (&settings.api, &settings.api_listener);
    let products = [
        (mempool.capacity_bytes as u64, WIRE_AND_DECODED),
        (mempool.capacity_transactions as u64, POOL_TRANSACTION),
        (api.bodies_bytes_max as u64, GROWTH),
        (renderer_threads() as u64, JSON_BODY),
        (api.answers_bytes_max as u64, 1),
        (api.response_cache_bytes_max as u64, 1),
        (listener.max_connections as u64, CONNECTION),
        (api.max_in_flight as u64, REQUEST),
        (settings.node.wait.capacity as u64, WAIT),
        (
            sequencer.blocks_in_flight_max as u64,
            EXECUTED.saturating_mul(sequencer.block_bytes_max as u64),
        ),
        (settings.store.cache_bytes, 1),
        (ledger_bytes_max(settings), LEDGER_GROWTH),
        (
            1,
            VIEWS
                + COMPRESSORS
                + BLOOM_BYTES_MAX
                + WAL_BYTES_MAX
                + OVERLAY_BYTES_MAX
                + LOG_LINES
                + REST,
        ),
    ];
    let sizes = products
        .into_iter()
        .map(|(count, each)| count.saturating_mul(each));
    sizes.fold(0, u64::saturating_add)
}

/// Returns the maximum size of a ledger in memory, in bytes; 0 if it is in a directory.
///
/// Without the pruner there is no maximum.
fn ledger_bytes_max(settings: &Settings) -> u64 {
    if !settings.storage.in_memory {
        return 0;
    }
    match settings.node_config().pruner.window_bytes {
        0 => u64::MAX,
        bytes => bytes,
    }
}

/// Maximum size of a file of the system that is read here, in bytes.
const SYSTEM_FILE_BYTES_MAX: usize = 64 * 1024;

/// Logs the sum of all memory limits beside the memory of the machine.
pub fn log_memory(settings: &Settings) {
    let memory_bytes_max = bytes_max(settings);
    match machine_bytes() {
        Some(machine_bytes) if machine_bytes < memory_bytes_max => tracing::info!(
            memory_bytes_max,
            machine_bytes,
            "maximum memory of all limits, which only a flood of requests comes near; it is more \
             than the machine has, and docs/operate/tune.md#memory has the settings that lower it"
        ),
        machine_bytes => tracing::info!(
            memory_bytes_max,
            machine_bytes,
            "maximum memory of all limits"
        ),
    }
}

/// Returns the memory of the machine, or the limit of the process's cgroup if that is lower, in
/// bytes. Returns `None` if the system does not tell it; only Linux does.
pub fn machine_bytes() -> Option<u64> {
    machine_bytes_below(Path::new("/"))
}

fn machine_bytes_below(root: &Path) -> Option<u64> {
    let read = |path: &str| {
        let file = File::open(root.join(path)).ok()?;
        read_bounded_text(file, SYSTEM_FILE_BYTES_MAX).ok()
    };
    let memory = read("proc/meminfo")?;
    let total = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.split_whitespace().next()?.parse().ok()?;
    let cgroups = read("proc/self/cgroup").unwrap_or_default();
    let limits = cgroups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // A limit of any group above applies too. The text `max` is none.
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        let limits = groups.filter_map(|group| {
            let path = Path::new(folder).join(group).join(file);
            read(path.to_str()?)?.trim().parse::<u64>().ok()
        });
        limits.min()
    });
    let machine = kibibytes.saturating_mul(KIB);
    Some(limits.fold(machine, u64::min))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns the memory of a machine with these files.
    fn machine_with(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        machine_bytes_below(root.path())
    }

    #[test]
    fn machine_memory_is_that_of_the_lowest_limit_of_its_cgroups() {
        let memory = ("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
        assert_eq!(machine_with(&[]), None);
        assert_eq!(machine_with(&[("proc/meminfo", "MemTotal: x")]), None);
        assert_eq!(machine_with(&[memory]), Some(1_024_000));
        let second = ("proc/self/cgroup", "0::/a/b\n");
        let limited = [
            memory,
            second,
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory.max", "70000\n"),
        ];
        assert_eq!(machine_with(&limited), Some(5_000));
        let first = [
            memory,
            ("proc/self/cgroup", "4:cpu:/x\n3:memory,hugetlb:/x\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "7000\n"),
        ];
        assert_eq!(machine_with(&first), Some(7_000));
        let unlimited = [
            memory,
            second,
            ("sys/fs/cgroup/memory.max", "99999999999\n"),
        ];
        assert_eq!(machine_with(&unlimited), Some(1_024_000));
    }

    #[test]
    fn grows_with_every_limit() {
        let settings = Settings::default();
        let sum = bytes_max(&settings);
        let changes: [fn(&mut Settings); 7] = [
            |settings| settings.api.bodies_bytes_max += 1,
            |settings| settings.api.answers_bytes_max += 1,
            |settings| settings.api.response_cache_bytes_max += 1,
            |settings| settings.node.mempool.capacity_bytes += 1,
            |settings| settings.node.mempool.capacity_transactions += 1,
            |settings| settings.store.cache_bytes += 1,
            |settings| settings.node.wait.capacity += 1,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = settings.clone();
            change(&mut changed);
            assert!(bytes_max(&changed) > sum, "change {number}");
        }
        let mut endless = settings;
        endless.api.bodies_bytes_max = usize::MAX;
        assert_eq!(bytes_max(&endless), u64::MAX);
    }

    /// Computes a maximum of the document, such as 128 KiB × `api.max_connections`.
    fn evaluate(maximum: &str, settings: &toml::Table, renderers: usize) -> u64 {
        let factors = maximum.split(" × ").map(|factor| {
            if let Some(setting) = factor.strip_prefix('`') {
                let (section, key) = setting.trim_end_matches('`').split_once('.').unwrap();
                return settings[section][key].as_integer().unwrap() as u64;
            }
            let (number, unit) = factor.split_once(' ').unwrap_or((factor, "bytes"));
            match unit {
                "threads" => renderers as u64,
                "MiB" => number.parse::<u64>().unwrap() * MIB,
                "KiB" => number.parse::<u64>().unwrap() * KIB,
                _ => number.parse().unwrap(),
            }
        });
        factors.product()
    }

    #[test]
    fn the_documented_parts_have_the_sum() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let (page, settings) = (read("docs/operate/tune.md"), read("config/node.toml"));
        let settings = settings.parse().unwrap();
        let (_, section) = page.split_once("| memory | maximum |").unwrap();
        let rows = section
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let mut rows: Vec<Vec<_>> = rows
            .map(|row| row.split('|').map(str::trim).collect())
            .collect();
        let last = rows.pop().unwrap();

        let gigabytes = |bytes: u64| format!("{:.2} GB", bytes as f64 / 1e9);
        for row in &rows {
            assert_eq!(row[3], gigabytes(evaluate(row[2], &settings, 2)), "{row:?}");
        }
        let sum = |renderers| -> u64 {
            let sizes = rows
                .iter()
                .map(|row| evaluate(row[2], &settings, renderers));
            sizes.sum()
        };
        assert_eq!(last[3], gigabytes(sum(2)), "{last:?}");
        assert_eq!(sum(renderer_threads()), bytes_max(&Settings::default()));
    }
}
