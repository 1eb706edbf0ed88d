//! The facts about the ledger.

use crate::{answer::Answer, call::Call, error::ApiError, json::Text, wire::IndexBcs};
use ledger_types::LedgerInfo;
use schemars::JsonSchema;
use serde::Serialize;

/// What this node is in the words of the interface: it orders blocks itself.
pub(super) const NODE_ROLE: &str = "validator";

/// The ledger at one moment.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IndexJson {
    chain_id: u8,
    epoch: Text<u64>,
    ledger_version: Text<u64>,
    oldest_ledger_version: Text<u64>,
    ledger_timestamp: Text<u64>,
    node_role: &'static str,
    oldest_block_height: Text<u64>,
    block_height: Text<u64>,
}

impl From<&LedgerInfo> for IndexJson {
    fn from(info: &LedgerInfo) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: Text(info.epoch),
            ledger_version: Text(info.version),
            oldest_ledger_version: Text(info.oldest_version),
            ledger_timestamp: Text(info.timestamp_usecs),
            node_role: NODE_ROLE,
            oldest_block_height: Text(info.oldest_block_height),
            block_height: Text(info.block_height),
        }
    }
}

/// `GET /v1`
pub(crate) async fn index(call: Call) -> Result<Answer, ApiError> {
    let ledger_info = *call.node().head().ledger_info();
    call.answer(
        ledger_info,
        || IndexJson::from(&ledger_info),
        || IndexBcs::from(&ledger_info),
    )
}
