//! The mempool that a stopped node has saved.
//!
//! An input is the content of the file after the checksum, because the fuzzer could not find a
//! valid checksum.

use super::chain;
use ledger_actors::fuzzing::check_saved_pool;

/// Checks the content of a saved mempool.
///
/// # Panics
///
/// Panics if the decoder accepts the content, and encoding the result yields other bytes.
pub fn run(input: &[u8]) {
    check_saved_pool(chain(), input);
}
