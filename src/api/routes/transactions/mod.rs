//! Operations on transactions: reads, lists, submission, simulation, and encoding.

pub(super) mod auxiliary_info;
pub(super) mod batch;
mod batch_submission;
pub(super) mod encode;
pub(super) mod list;
pub(super) mod page;
pub(super) mod read;
pub(super) mod simulate;
pub(super) mod submit;
mod submit_and_wait;
pub(super) mod summaries;
pub(super) mod wait_many;

use crate::context::extract::JsonOrBcsBody;
use ledger_types::SignedTransaction;
use serde_json::{Value, json};

/// A body with a signed transaction.
type SubmissionBody = JsonOrBcsBody<SignedTransaction>;

/// Returns the committed transaction of the examples: a state checkpoint, the shortest kind.
fn committed_example() -> Value {
    let hash = |number: u64| format!("0x{number:064x}");
    json!({
        "type": "state_checkpoint_transaction",
        "version": "7",
        "hash": hash(0xa),
        "state_change_hash": hash(0xb),
        "event_root_hash": hash(0xc),
        "gas_used": "0",
        "success": true,
        "vm_status": "Executed successfully",
        "accumulator_root_hash": hash(0xd),
        "changes": [],
        "timestamp": "1767225600000000",
    })
}

/// Returns the unsigned transaction of the examples: a transfer between two accounts.
fn unsigned_example() -> Value {
    json!({
        "sender": "0x5",
        "sequence_number": "0",
        "max_gas_amount": "2000",
        "gas_unit_price": "100",
        "expiration_timestamp_secs": "1767225660",
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::coin::transfer",
            "type_arguments": ["0x1::node_coin::NodeCoin"],
            "arguments": ["0x6", "7"],
        },
    })
}

/// Returns the signed transaction of the examples. Its signature is invalid.
fn signed_example() -> Value {
    let mut example = unsigned_example();
    example["signature"] = json!({
        "type": "ed25519_signature",
        "public_key": format!("0x{:064x}", 1),
        "signature": format!("0x{:0128x}", 0),
    });
    example
}

/// Description of a [`SubmissionBody`] in BCS.
const SIGNED_BCS: &str = "A signed transaction in BCS.";
