//! Entry point of the fuzzer for the decoder of the saved pool.
//!
//! The node reads the saved pool only at the start, from its own directory, so no public function
//! takes the bytes. The fuzzer would have to start a node for each input. This module is not part
//! of the public interface of the crate.

use crate::mempool::persistence::file::{HEADER_BYTES, decode_content, encode};
use ledger_vm::Chain;

/// Decodes `content`, the part of a saved pool after the checksum.
///
/// # Panics
///
/// Panics if the decoder accepts `content`, and encoding the result again yields other bytes.
pub fn check_saved_pool(chain: &Chain, content: &[u8]) {
    if let Ok(pending) = decode_content(content, chain) {
        let written = encode(chain, &pending).expect("what was read can be written");
        assert_eq!(&written[HEADER_BYTES..], content, "a pool has two forms");
    }
}
