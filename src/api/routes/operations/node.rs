//! The node: its ledger, its health, its prices.

use super::{ErrorCode, Operation, StatusCode, Success, Tag, error, json, parameter, schema};
use crate::routes::{gas::GasEstimateJson, health::Health, index::IndexJson, info::NodeInfo};

/// `GET /v1`
pub(crate) fn index() -> Operation {
    let example = json!({
        "chain_id": 4,
        "epoch": "1",
        "ledger_version": "7",
        "oldest_ledger_version": "0",
        "ledger_timestamp": "1767225600000000",
        "node_role": "validator",
        "oldest_block_height": "0",
        "block_height": "2",
    });
    let success = Success::ok("The facts about the ledger.")
        .json(schema::<IndexJson>(), example)
        .bcs("The same facts as a BCS struct, in the order of the interface; `node_role` is an enum of one byte.")
        .link("newest_block", "get_block_by_height", &[("block_height", "$response.body#/block_height")])
        .link("newest_transaction", "get_transaction_by_version", &[("txn_version", "$response.body#/ledger_version")]);
    Operation::new(
        "get_ledger_info",
        Tag::Node,
        "Facts about the ledger",
        "The chain, the newest version and block, and the oldest that the node still keeps: the same facts that \
         stand in the headers of every answer.",
    )
    .success(success)
}

/// `GET /v1/info`
pub(crate) fn info() -> Operation {
    let example = json!({
        "chain_id": "4",
        "node_type": "validator",
        "vendor": "NODE",
        "software_version": "0.1.0",
    });
    let success = Success::ok("The facts about the node.")
        .json(schema::<NodeInfo<'static>>(), example)
        .bcs("The same facts as a BCS struct of strings.");
    Operation::new(
        "get_node_info",
        Tag::Node,
        "Facts about the node",
        "What the node is and runs; it does not change while the node runs. `vendor` is the word that stands in \
         the names of headers, media types and signing prefixes of this chain.",
    )
    .always_answers()
    .success(success)
}

/// `GET /v1/-/healthy`
pub(crate) fn healthy() -> Operation {
    let age = parameter::query(
        "duration_secs",
        "How old the newest block may be, in seconds; without it, that the node answers is enough.",
        json!({"type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX}),
        4_000_000_000_u32,
    );
    let success = Success::ok("The node is healthy.")
        .json(schema::<Health>(), json!({"message": "node-node:ok"}))
        .bcs("The message as a BCS struct of one string.");
    Operation::new(
        "check_health",
        Tag::Node,
        "Whether the node is healthy",
        "For load balancers and monitors. A chain that is idle writes no blocks unless the node is told to, so \
         `duration_secs` makes sense where blocks come regularly.",
    )
    .always_answers()
    .parameter(age)
    .success(success)
    .errors(&[error(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::HealthCheckFailed,
        "The newest block is older than `duration_secs`. Carries no `Retry-After`.",
    )])
}

/// `GET /v1/estimate_gas_price`
pub(crate) fn gas_price() -> Operation {
    let example = json!({
        "deprioritized_gas_estimate": 100,
        "gas_estimate": 100,
        "prioritized_gas_estimate": 150,
    });
    let success = Success::ok("The prices, in the coin's smallest unit per gas unit.")
        .json(schema::<GasEstimateJson>(), example)
        .bcs("A BCS struct of one u64: `gas_estimate`.");
    Operation::new(
        "estimate_gas_price",
        Tag::Node,
        "What to pay for a gas unit",
        "Prices with which a transaction gets into one of the next blocks, estimated from what recent blocks \
         took. The three are for who can wait, who cannot wait long, and who cannot wait; numbers, not text.",
    )
    .success(success)
}
