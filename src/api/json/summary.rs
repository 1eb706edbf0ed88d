//! JSON form of the summary of an account's transaction (docs/reference/rest-contract.md#s2-8).

use super::Text;
use ledger_crypto::HashValue;
use ledger_store::TransactionSummary;
use ledger_types::{AccountAddress, ReplayProtector};
use schemars::JsonSchema;
use serde::Serialize;

/// A summary of a committed transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransactionSummary")]
pub(crate) struct SummaryJson {
    sender: Text<AccountAddress>,
    version: Text<u64>,
    transaction_hash: Text<HashValue>,
    replay_protector: ReplayProtectorJson,
}

// An object, unlike the bare string of the reference node (docs/reference/reference-node.md#r22,
// docs/interface.md#rule-6).
/// The sequence number or nonce that prevents a second commit of the transaction.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "ReplayProtector")]
enum ReplayProtectorJson {
    Nonce { nonce: Text<u64> },
    SequenceNumber { sequence_number: Text<u64> },
}

impl From<&TransactionSummary> for SummaryJson {
    fn from(summary: &TransactionSummary) -> Self {
        Self {
            sender: Text(summary.sender),
            version: Text(summary.version),
            transaction_hash: Text(summary.hash),
            replay_protector: match summary.replay_protector {
                ReplayProtector::Nonce(nonce) => ReplayProtectorJson::Nonce { nonce: Text(nonce) },
                ReplayProtector::SequenceNumber(number) => ReplayProtectorJson::SequenceNumber {
                    sequence_number: Text(number),
                },
            },
        }
    }
}
