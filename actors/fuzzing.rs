//! The decoder of the saved pool, for the fuzzer.
//!
//! The file is read at start only, from the node's own directory, so no public function takes its bytes; the
//! fuzzer would have to start a node for each input. No part of the interface of this crate.

use crate::mempool::persistence::file::{HEADER_BYTES, decode_content, encode};
use ledger_vm::Chain;

/// Reads `content` as what follows the checksum of a saved pool.
///
/// # Panics
/// When content that is accepted has another form when it is written again.
pub fn check_saved_pool(chain: &Chain, content: &[u8]) {
    if let Ok(pending) = decode_content(content, chain) {
        let written = encode(chain, &pending).expect("what was read can be written");
        assert_eq!(&written[HEADER_BYTES..], content, "a pool has two forms");
    }
}
