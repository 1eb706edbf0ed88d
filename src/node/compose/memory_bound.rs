//! How much memory the node may take: the sum of its limits. The node logs it at its start, and the overload
//! test holds the process to it.
//!
//! | what | how much |
//! |---|---|
//! | the pool | `mempool.capacity_bytes` twice, on the wire and decoded, and a kilobyte for each of `mempool.capacity_transactions` |
//! | bodies of requests | `api.bodies_bytes_max` twice: a buffer that grows has up to twice the room |
//! | reading a body as JSON | 64 MiB for each HTTP worker |
//! | answers that wait for their clients | `api.answers_bytes_max` |
//! | answers for who asks next | `api.kept_answers_bytes_max` |
//! | large answers being made | 8 of 40 MiB, and 8 compressors of 4 MiB |
//! | connections | 128 KiB for each of `api.max_connections` |
//! | requests in flight and long polls | 32 KiB for each of `api.max_in_flight`: a path of 16 KiB, headers of 8 KiB, and its task |
//! | blocks on their way to the disk | `sequencer.blocks_in_flight_max` of `sequencer.block_bytes_max`, sixteen times |
//! | pages of the database | `storage.cache_bytes` |
//! | filters of the indices | 64 MiB |
//! | a record of the block log | 32 MiB |
//! | pages that a failed disk did not take | 256 MiB |
//! | lines of the log that wait for standard error | 2 MiB twice: the lines that are being written, and those appended meanwhile |
//! | the rest | 256 MiB: the program, its threads, the newest blocks and accounts, what the allocator keeps |

use super::threads::worker_threads;
use crate::{config::Settings, telemetry::queue::QUEUE_BYTES_MAX};
use ledger_store::{BLOOM_BYTES_MAX, OVERLAY_BYTES_MAX, WAL_BYTES_MAX};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// What the pool takes for a transaction beside its bytes (`cargo bench -p ledger-actors --bench pool`).
const POOL_TRANSACTION: u64 = KIB;
/// Bytes on the wire, and what they are decoded into.
const WIRE_AND_DECODED: u64 = 2;
/// A buffer that grows doubles its room.
const GROWTH: u64 = 2;
/// What one body may take while it is read as JSON.
const JSON_BODY: u64 = 64 * MIB;
/// Eight large answers, each of 8 MiB that were read and four times as much written.
const LARGE_ANSWERS: u64 = 8 * 40 * MIB;
/// Eight compressors.
const COMPRESSORS: u64 = 8 * 4 * MIB;
/// What a connection reads ahead and writes behind.
const CONNECTION: u64 = 128 * KIB;
/// A request's head (`src/http/http2/connection.rs`) and task.
const REQUEST: u64 = 32 * KIB;
/// A transaction that was executed holds its write set, events and rows.
const EXECUTED: u64 = 16;
/// Lines of the log that are being written, and as many that wait.
const LOG_LINES: u64 = 2 * QUEUE_BYTES_MAX as u64;
/// What no setting decides.
const REST: u64 = 256 * MIB;

/// The most memory that the settings allow, in bytes; a sum that does not fit counts as all that there is.
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
    fn every_limit_counts() {
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
