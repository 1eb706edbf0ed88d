//! The facts about the ledger.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::ApiError,
    model::{bcs::IndexBcs, json::JsonString},
};
use ledger_types::LedgerInfo;
use schemars::JsonSchema;
use serde::Serialize;

/// What this node is in the words of the interface: it orders blocks itself.
pub(crate) const NODE_ROLE: &str = "validator";

/// The ledger at one moment.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IndexJson {
    chain_id: u8,
    epoch: JsonString<u64>,
    ledger_version: JsonString<u64>,
    oldest_ledger_version: JsonString<u64>,
    ledger_timestamp: JsonString<u64>,
    node_role: &'static str,
    oldest_block_height: JsonString<u64>,
    block_height: JsonString<u64>,
}

impl From<&LedgerInfo> for IndexJson {
    fn from(info: &LedgerInfo) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: JsonString(info.epoch),
            ledger_version: JsonString(info.version),
            oldest_ledger_version: JsonString(info.oldest_version),
            ledger_timestamp: JsonString(info.timestamp_usecs),
            node_role: NODE_ROLE,
            oldest_block_height: JsonString(info.oldest_block_height),
            block_height: JsonString(info.block_height),
        }
    }
}

/// `GET /v1`
pub(crate) async fn index(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let ledger_info = *cx.node().head().ledger_info();
    cx.answer(
        ledger_info,
        || IndexJson::from(&ledger_info),
        || IndexBcs::from(&ledger_info),
    )
}
