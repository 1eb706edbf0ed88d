//! JSON form of the summary of an account's transaction (docs/reference/rest-contract.md#s2-8).

use super::JsonString;
use ledger_crypto::HashValue;
use ledger_store::TransactionSummary;
use ledger_types::{AccountAddress, ReplayProtector};
use schemars::JsonSchema;
use serde::Serialize;

/// A summary of a committed transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransactionSummary")]
pub(crate) struct SummaryJson {
    sender: JsonString<AccountAddress>,
    version: JsonString<u64>,
    transaction_hash: JsonString<HashValue>,
    replay_protector: ReplayProtectorJson,
}

// An object, unlike the bare string of the reference node (docs/reference/reference-node.md#r22,
// docs/use/interface.md#replay-protector).
/// The sequence number or nonce that prevents a second commit of the transaction.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "ReplayProtector")]
enum ReplayProtectorJson {
    Nonce { nonce: JsonString<u64> },
    SequenceNumber { sequence_number: JsonString<u64> },
}

impl From<&TransactionSummary> for SummaryJson {
    fn from(summary: &TransactionSummary) -> Self {
        Self {
            sender: JsonString(summary.sender),
            version: JsonString(summary.version),
            transaction_hash: JsonString(summary.hash),
            replay_protector: match summary.replay_protector {
                ReplayProtector::Nonce(nonce) => ReplayProtectorJson::Nonce {
                    nonce: JsonString(nonce),
                },
                ReplayProtector::SequenceNumber(number) => ReplayProtectorJson::SequenceNumber {
                    sequence_number: JsonString(number),
                },
            },
        }
    }
}
