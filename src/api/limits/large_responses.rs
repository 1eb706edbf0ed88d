//! The sizes of the parts in which responses are read and rendered.
//!
//! Rendering takes time, which would delay the other requests of an HTTP worker, and memory for the
//! values and for their text. Measured with `cargo bench -p ledger-node --bench answers` and over
//! HTTP on one core (2026-11-27): 1 MiB of content takes 3 ms in hexadecimal and up to 20 ms as
//! events and changes of small values.

use bytes::Bytes;
use ledger_limits::{Demand, SMALL_LEASE_BYTES_MAX};
use ledger_types::ExecutedTransaction;

/// Maximum size of the first part of a page of events, in bytes, which an HTTP worker may read
/// itself.
pub(crate) const INLINE_CONTENT_BYTES_MAX: usize = 64 * 1024;

/// Size of the content above which a response is large, in bytes. It is read and rendered in parts
/// of this size, each of which takes a few milliseconds, so other work is served in between.
pub(crate) const PART_BYTES_MAX: usize = 256 * 1024;

/// Demand of a part of a page, whose rows are not counted before they are read.
pub(crate) const PART_DEMAND: Demand = Demand {
    rows: 25,
    bytes: PART_BYTES_MAX as u64,
    gas: 0,
    signatures: 0,
};

/// Size of the content at which a page ends that may be shorter than its limit, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The part of the memory of all responses that one page may take, as a divisor: at least three
/// pages are sent at a time.
const BODIES_MIN: usize = 4;

/// Maximum memory of decoded values, per byte of their stored form. Their views exist only while a
/// thread renders them.
const VALUES_FACTOR: usize = 4;

/// Returns the maximum size of a page if all responses have `limit_bytes`, in bytes.
pub(crate) fn body_bytes_max(limit_bytes: usize) -> usize {
    (limit_bytes / BODIES_MIN).max(SMALL_LEASE_BYTES_MAX)
}

/// Returns the maximum memory of values with a stored form of `size_bytes`, in bytes.
pub(crate) fn values_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_mul(VALUES_FACTOR)
}

/// Returns the approximate size of a transaction, in bytes: its arguments, its output, and a
/// constant for the rest.
pub(crate) fn size_bytes(executed: &ExecutedTransaction) -> usize {
    const FIXED: usize = 512;
    let arguments = executed
        .transaction
        .as_user()
        .and_then(|transaction| transaction.raw.entry_function())
        .map_or(0, |call| call.args.iter().map(Bytes::len).sum());
    FIXED + arguments + executed.output_bytes()
}
