//! The maximum memory of the node: the sum of its limits.
//!
//! The node logs the sum at its start, and the overload test compares the process with it.
//!
//! | part | maximum |
//! |---|---|
//! | mempool | `mempool.capacity_bytes` twice, encoded and decoded, and 1 KiB per transaction of `mempool.capacity_transactions` |
//! | request bodies | `api.bodies_bytes_max` twice: a buffer that grows has up to twice the capacity |
//! | JSON parsing of a body | 64 MiB per HTTP worker |
//! | responses that wait for their clients | `api.answers_bytes_max` |
//! | response cache | `api.kept_answers_bytes_max` |
//! | large responses in preparation | 8 of 40 MiB, and 8 compressors of 4 MiB |
//! | connections | 128 KiB per connection of `api.max_connections` |
//! | requests in flight and long polls | 32 KiB per request of `api.max_in_flight`: a path of 16 KiB, headers of 8 KiB, and the task |
//! | blocks in flight | `sequencer.blocks_in_flight_max` times `sequencer.block_bytes_max`, sixteen times |
//! | database pages | `storage.cache_bytes` |
//! | bloom filters of the indices | 64 MiB |
//! | a record of the write-ahead log | 32 MiB |
//! | pages after a failed write | 256 MiB |
//! | log lines that wait for standard error | 2 MiB twice: the lines being written, and those appended meanwhile |
//! | rest | 256 MiB: the program, its threads, the newest blocks and accounts, memory that the allocator retains |

use super::threads::worker_threads;
use crate::{config::Settings, telemetry::queue::QUEUE_BYTES_MAX};
use ledger_store::{BLOOM_BYTES_MAX, OVERLAY_BYTES_MAX, WAL_BYTES_MAX};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Memory of a pending transaction beside its bytes (`cargo bench -p ledger-actors --bench pool`).
const POOL_TRANSACTION: u64 = KIB;
/// Factor of the encoded and the decoded form.
const WIRE_AND_DECODED: u64 = 2;
/// Factor of a growing buffer, which doubles its capacity.
const GROWTH: u64 = 2;
/// Memory of one body while it is parsed as JSON.
const JSON_BODY: u64 = 64 * MIB;
/// Memory of eight large responses, each of 8 MiB read and four times as much written.
const LARGE_ANSWERS: u64 = 8 * 40 * MIB;
/// Memory of eight compressors.
const COMPRESSORS: u64 = 8 * 4 * MIB;
/// Read-ahead and write buffers of a connection.
const CONNECTION: u64 = 128 * KIB;
/// Head (`src/http/http2/connection.rs`) and task of a request.
const REQUEST: u64 = 32 * KIB;
/// Factor of an executed transaction, which holds its write set, events and rows.
const EXECUTED: u64 = 16;
/// Log lines being written, and as many that wait.
const LOG_LINES: u64 = 2 * QUEUE_BYTES_MAX as u64;
/// Memory that no setting limits.
const REST: u64 = 256 * MIB;

/// Returns the maximum memory that the settings allow, in bytes. Saturates at [`u64::MAX`].
pub fn bytes_max(settings: &Settings) -> u64 {
    let workers = worker_threads(settings.api_listener.workers);
    let (mempool, sequencer) = (&settings.node.mempool, &settings.node.sequencer);
    let (api, listener) = (&settings.api, &settings.api_listener);
    let products = [
        (mempool.capacity_bytes as u64, WIRE_AND_DECODED),
        (mempool.capacity_transactions as u64, POOL_TRANSACTION),
        (api.bodies_bytes_max as u64, GROWTH),
        (workers as u64, JSON_BODY),
        (api.answers_bytes_max as u64, 1),
        (api.kept_answers_bytes_max as u64, 1),
        (listener.max_connections as u64, CONNECTION),
        (api.max_in_flight as u64, REQUEST),
        (
            sequencer.blocks_in_flight_max as u64,
            EXECUTED.saturating_mul(sequencer.block_bytes_max as u64),
        ),
        (settings.store.cache_bytes, 1),
        (
            1,
            LARGE_ANSWERS
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_with_every_limit() {
        let settings = Settings::default();
        let sum = bytes_max(&settings);
        let changes: [fn(&mut Settings); 6] = [
            |settings| settings.api.bodies_bytes_max += 1,
            |settings| settings.api.answers_bytes_max += 1,
            |settings| settings.api.kept_answers_bytes_max += 1,
            |settings| settings.node.mempool.capacity_bytes += 1,
            |settings| settings.node.mempool.capacity_transactions += 1,
            |settings| settings.store.cache_bytes += 1,
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
}
