//! The file in which a stopped node keeps its pool. An input is what follows the checksum, so that the
//! checksum is no wall to the fuzzer.

use super::chain;
use ledger_actors::fuzzing::check_saved_pool;

pub fn run(input: &[u8]) {
    check_saved_pool(chain(), input);
}
