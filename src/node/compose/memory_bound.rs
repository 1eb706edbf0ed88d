//! Maximum memory of the node: the sum of its limits. The start logs it, and the overload test
//! compares the process with it.
//!
//! | memory | maximum |
//! |---|---|
//! | mempool | `mempool.capacity_bytes` twice, encoded and decoded, and 1 KiB for each of `mempool.capacity_transactions` |
//! | request bodies | `api.bodies_bytes_max` twice, because a growing buffer may be half empty |
//! | parsing a JSON body | 64 MiB for each renderer thread; HTTP workers parse small bodies only |
//! | responses that are made or unread, and the values that they show | `api.answers_bytes_max` |
//! | cached responses | `api.response_cache_bytes_max` |
//! | views that renderer threads render | 8 of 4 MiB, and 8 compressors of 4 MiB |
//! | connections | 128 KiB for each of `api.max_connections` |
//! | waits for a commit | 512 bytes for each of `wait.capacity` |
//! | requests in flight and long polls | 32 KiB for each of `api.max_in_flight`: path (16 KiB), headers (8 KiB) and task |
//! | blocks in flight | `sequencer.blocks_in_flight_max` of `sequencer.block_bytes_max`, 16 times |
//! | page cache of the database | `storage.cache_bytes` |
//! | Bloom filters of the indices | 64 MiB |
//! | a record of the write-ahead log | 32 MiB |
//! | pages that a failed disk rejected | 256 MiB |
//! | log lines that wait for standard error | 2 MiB twice: the lines being written, and those appended meanwhile |
//! | other | 256 MiB: program, threads, newest blocks and accounts, free memory of the allocator |

use crate::{config::Settings, telemetry::queue::QUEUE_BYTES_MAX};
use ledger_actors::renderer_threads;
use ledger_store::{BLOOM_BYTES_MAX, OVERLAY_BYTES_MAX, WAL_BYTES_MAX};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Bytes of the mempool per transaction beside the transaction itself (`cargo bench -p
/// ledger-actors --bench pool`).
const POOL_TRANSACTION: u64 = KIB;
/// A transaction in memory is its encoded bytes and the decoded value.
const WIRE_AND_DECODED: u64 = 2;
/// A buffer that grows doubles its capacity.
const GROWTH: u64 = 2;
/// Maximum memory of parsing one JSON body, in bytes.
const JSON_BODY: u64 = 64 * MIB;
/// Bytes of the views of a part of a response on at most eight renderer threads, beside the values
/// and the text, which are leased from `api.answers_bytes_max`.
const VIEWS: u64 = 8 * 4 * MIB;
/// Bytes of eight compressors.
const COMPRESSORS: u64 = 8 * 4 * MIB;
/// Bytes that a connection reads ahead and buffers for writing.
const CONNECTION: u64 = 128 * KIB;
/// Bytes of a request's head (`src/http/http2/connection.rs`) and task.
const REQUEST: u64 = 32 * KIB;
/// Bytes of a wait beside its request: its hash in the committer's map, and its outcome until it is
/// sent (`benches/waits`).
const WAIT: u64 = 512;
/// An executed block takes this multiple of its transactions, for write sets, events and rows.
const EXECUTED: u64 = 16;
/// Bytes of the log lines that are being written, and of as many that wait.
const LOG_LINES: u64 = 2 * QUEUE_BYTES_MAX as u64;
/// Bytes that no setting determines.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
