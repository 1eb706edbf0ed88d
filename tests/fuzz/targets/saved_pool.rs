//! The file of a saved mempool. An input is the content after the checksum, which the fuzzer cannot
//! compute.

use super::chain;
use ledger_actors::fuzzing::check_saved_pool;

pub fn run(input: &[u8]) {
    check_saved_pool(chain(), input);
}
