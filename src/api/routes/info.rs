//! Information about the node that does not change while it runs. The reference node has other
//! members and no ledger headers (docs/reference/reference-node.md#r2).

use super::index::NODE_ROLE;
use crate::{
    context::{LedgerResponse, RequestContext},
    error::ApiError,
};
use schemars::JsonSchema;
use serde::Serialize;

/// What a node is and runs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NodeInfo<'a> {
    /// The number of the chain, as text.
    chain_id: String,
    /// What the node does: it orders blocks itself.
    node_type: &'static str,
    /// The word that stands in headers, media types and names of this chain.
    vendor: &'a str,
    /// The version of the software.
    software_version: &'static str,
}

/// `GET /v1/info`
pub(crate) async fn info(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let chain = cx.chain();
    let info = NodeInfo {
        chain_id: chain.id().to_string(),
        node_type: NODE_ROLE,
        vendor: chain.vendor().upper(),
        software_version: env!("CARGO_PKG_VERSION"),
    };
    let ledger_info = *cx.node().head().ledger_info();
    cx.answer(ledger_info, || &info, || &info)
}
