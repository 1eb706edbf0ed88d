//! Reads of the node's ledger info, identity, health, and gas unit prices.
//!
//! A node that cannot write its ledger, because of its disk or its clock, still serves committed
//! data. It is unhealthy, so that a load balancer sends submissions to other nodes. A node that
//! accepts submissions although the system clock and the ledger's time differ is healthy, and its
//! response states the difference.

use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{Parameter, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{
        DecimalText,
        bcs::{GasEstimateBcs, IndexBcs},
        json::JsonString,
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        schemas::schema,
    },
};
use ledger_actors::{ClockState, ClockStatus, GasEstimate, engine::EngineReport};
use ledger_types::LedgerInfo;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Returns the role of a node in the terms of the REST contract. A node that orders its chain alone
/// is a validator.
fn role_name(is_full_node: bool) -> &'static str {
    match is_full_node {
        true => "full_node",
        false => "validator",
    }
}

/// Ledger info: the chain, its newest version and block, and the oldest readable ones.
#[derive(Serialize, JsonSchema)]
struct IndexJson {
    chain_id: u8,
    epoch: JsonString<u64>,
    ledger_version: JsonString<u64>,
    oldest_ledger_version: JsonString<u64>,
    ledger_timestamp: JsonString<u64>,
    node_role: &'static str,
    oldest_block_height: JsonString<u64>,
    block_height: JsonString<u64>,
    /// Commit of the node's build, empty if it is unknown.
    git_hash: &'static str,
}

impl IndexJson {
    fn new(info: &LedgerInfo, is_full_node: bool, git_hash: &'static str) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: JsonString(info.epoch),
            ledger_version: JsonString(info.version),
            oldest_ledger_version: JsonString(info.oldest_version),
            ledger_timestamp: JsonString(info.timestamp_usecs),
            node_role: role_name(is_full_node),
            oldest_block_height: JsonString(info.oldest_block_height),
            block_height: JsonString(info.block_height),
            git_hash,
        }
    }
}

/// Handles `GET /v1`.
pub(super) async fn index(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let ledger_info = cx.newest();
    let is_full_node = cx.node().is_full_node();
    cx.respond(
        ledger_info,
        || IndexJson::new(&ledger_info, is_full_node, cx.state.git_hash),
        || IndexBcs::new(&ledger_info, is_full_node),
    )
}

/// Describes [`index`].
pub(super) fn describe_index() -> Operation {
    let example = json!({
        "chain_id": 4,
        "epoch": "1",
        "ledger_version": "7",
        "oldest_ledger_version": "0",
        "ledger_timestamp": "1767225600000000",
        "node_role": "validator",
        "oldest_block_height": "0",
        "block_height": "2",
        "git_hash": "3cbf7774a1b2",
    });
    let success = Success::ok("Ledger info.")
        .json(schema::<IndexJson>(), example)
        .bcs(
            "BCS struct with the same members except `git_hash`, in the order of the REST \
             contract. Numbers other than `chain_id` are text, and `node_role` is an enum of one \
             byte.",
        )
        .link(
            "newest_block",
            "get_block_by_height",
            &[("block_height", "$response.body#/block_height")],
        )
        .link(
            "newest_transaction",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/ledger_version")],
        );
    Operation::new(
        "get_ledger_info",
        Tag::Node,
        "Get ledger info",
        "Returns the chain ID, the newest version and block, and the oldest readable version and \
         block. The ledger headers of each success have these values.",
    )
    .success(success)
}

/// Identity and software version of a node.
#[derive(Serialize, JsonSchema)]
struct NodeInfo<'a> {
    /// Chain ID, as a string.
    chain_id: String,
    /// Role of the node: `validator` if it orders blocks, `full_node` if it follows validators.
    node_type: &'static str,
    /// Vendor word in the headers, media types, and names of this chain.
    vendor: &'a str,
    /// Version of the software.
    software_version: &'static str,
}

/// Handles `GET /v1/info`.
///
/// Responds in JSON whatever the client accepts, as the reference node does. That node has other
/// members and no ledger headers (docs/reference/reference-node.md#r2).
pub(super) async fn info(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let chain = cx.chain();
    let info = NodeInfo {
        chain_id: chain.id().to_string(),
        node_type: role_name(cx.node().is_full_node()),
        vendor: chain.vendor().upper(),
        software_version: env!("CARGO_PKG_VERSION"),
    };
    LedgerResponse::json(cx.newest(), &info)
}

/// Describes [`info`].
pub(super) fn describe_info() -> Operation {
    let example = json!({
        "chain_id": "4",
        "node_type": "validator",
        "vendor": "NODE",
        "software_version": "0.1.0",
    });
    let success = Success::ok("Node info.").json(schema::<NodeInfo<'static>>(), example);
    Operation::new(
        "get_node_info",
        Tag::Node,
        "Get node info",
        "Returns the identity and the software version of the node, which are constant while it \
         runs. `vendor` is the vendor word in the names of headers, media types, and signing \
         prefixes of this chain.",
    )
    .always_answers()
    .success(success)
}

/// The response of a healthy node.
#[derive(Serialize, JsonSchema)]
struct Health {
    /// Vendor word of the chain, followed by `-node:ok`.
    message: String,
    /// Difference of the system clock from the ledger's time. Absent if they agree, and in BCS.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
    /// Absent on a chain of one node, and in BCS.
    #[serde(skip_serializing_if = "Option::is_none")]
    consensus: Option<ConsensusHealth>,
}

/// The consensus engine of a node.
#[derive(Serialize, JsonSchema)]
struct ConsensusHealth {
    /// Height that the engine works on, or has decided last.
    height: JsonString<u64>,
    /// Round of the height.
    round: u32,
    /// Number of connected peers.
    peers: u32,
    /// Number of validators of the chain.
    validators: u32,
    /// Number of validators that stated their height within the last 10 seconds, this node included
    /// if it votes.
    in_contact: u32,
    /// Whether the node votes.
    is_voting: bool,
    /// Reason for which a validator does not vote. Absent if it votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    following: Option<&'static str>,
}

impl From<&EngineReport> for ConsensusHealth {
    fn from(report: &EngineReport) -> Self {
        // Both are at most a few hundred.
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            height: JsonString(report.height),
            round: report.round,
            peers: count(report.peers),
            validators: count(report.validators.len()),
            in_contact: count(report.validators_in_contact()),
            is_voting: report.is_signer,
            following: (report.is_validator && !report.is_signer).then_some(FOLLOWING),
        }
    }
}

/// The reason for which a validator follows the others. The log of the start has the heights.
const FOLLOWING: &str = "this validator may have signed for a height that its files do not have, so \
                         it follows without votes; see docs/operate/recover.md#validators";

/// Maximum time without a block while a transaction waits, in seconds.
pub(super) enum DurationSecs {}

impl Parameter for DurationSecs {
    type Value = DecimalText<u32>;
    const NAME: &'static str = "duration_secs";
    const DESCRIPTION: &'static str = "Maximum time without a block while a transaction waits, in seconds. Without it, the time \
         is not checked.";
    const SCHEMA: fn() -> Value =
        || json!({"type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX});
    const EXAMPLE: fn() -> Value = || json!(4_000_000_000_u32);
}

/// Handles `GET /v1/-/healthy`.
///
/// Responds with 503 if the node cannot write its ledger, if an actor or thread on the path of a
/// commit is stalled, if validators have something to decide and decide nothing, if too few of them
/// are in contact or they are far ahead, or if a transaction waits and neither it nor the newest
/// block is at most `duration_secs` old. Unlike on the reference node, an idle chain is healthy,
/// because it writes no blocks.
pub(super) async fn healthy(
    cx: RequestContext,
    QueryParameter(age_max_secs): QueryParameter<DurationSecs>,
) -> Result<LedgerResponse, ApiError> {
    let ledger_info = cx.newest();
    let mut problems = cx.node().health_checks().into_iter();
    if let Some(problem) = problems.find_map(|check| check.problem) {
        return Err(ErrorKind::HealthCheck(problem).at(ledger_info));
    }
    let waiting_secs = cx.node().oldest_waiting_secs();
    if let (Some(DecimalText(age_max_secs)), Some(waiting_secs)) = (age_max_secs, waiting_secs) {
        let now_usecs = cx.node().now_usecs();
        let age = idle_time(now_usecs, ledger_info.timestamp_usecs, waiting_secs);
        check_age(age, age_max_secs).map_err(|problem| problem.at(ledger_info))?;
    }
    let health = |clock, consensus| Health {
        message: format!("{}-node:ok", cx.chain().vendor().lower()),
        clock,
        consensus,
    };
    let json = || {
        let engine = cx.node().engine_report();
        health(
            describe_drift(cx.node().clock_status()),
            engine.as_ref().map(ConsensusHealth::from),
        )
    };
    cx.respond(ledger_info, json, || health(None, None))
}

/// Describes [`healthy`].
pub(super) fn describe_healthy() -> Operation {
    let success = Success::ok("The node is healthy.")
        .json(schema::<Health>(), json!({"message": "node-node:ok"}))
        .bcs("BCS struct of one string: the message.");
    Operation::new(
        "check_health",
        Tag::Node,
        "Check the health of the node",
        "For load balancers and monitors. An idle chain is healthy, whatever `duration_secs` is: \
         the age of the newest block counts only while a transaction waits to be committed.",
    )
    .always_answers()
    .parameter(QueryParameter::<DurationSecs>::describe())
    .success(success)
    .errors(&[error(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::HealthCheckFailed,
        "A transaction waits and no block was committed for `duration_secs`, the node cannot write \
         its ledger, no block is committed although there is work, or the node is cut off from the \
         validators or far behind them. The response has no `Retry-After`.",
    )])
}

/// Describes the difference of the system clock from the ledger's time. Returns `None` if they
/// agree, and if no reading of the clock was trustworthy, because the node is unhealthy then.
fn describe_drift(status: ClockStatus) -> Option<String> {
    let secs = status.drift_usecs.unsigned_abs() / 1_000_000;
    match status.state {
        ClockState::InStep | ClockState::Untrusted => None,
        ClockState::Ahead => Some(format!(
            "the system clock is {secs} s ahead of block time; block time follows it if the lead \
             lasts"
        )),
        ClockState::TooFarAhead => Some(format!(
            "the system clock is {secs} s ahead of block time, more than \
             sequencer.clock_jump_max_secs: block time advances without it"
        )),
        ClockState::Behind => Some(format!("the system clock is {secs} s behind block time")),
    }
}

/// Returns the time without a block while a transaction waits. A block ahead of the clock is new:
/// the clock of the node may be behind those of the validators.
fn idle_time(now_usecs: u64, block_usecs: u64, waiting_secs: u64) -> Duration {
    let block_age = Duration::from_micros(now_usecs.saturating_sub(block_usecs));
    block_age.min(Duration::from_secs(waiting_secs))
}

/// Checks the time without a block while a transaction waits.
fn check_age(age: Duration, age_max_secs: u32) -> Result<(), ErrorKind> {
    if age <= Duration::from_secs(u64::from(age_max_secs)) {
        return Ok(());
    }
    Err(ErrorKind::HealthCheck(format!(
        "a transaction waits, and no block has been committed for {} seconds, more than \
         {age_max_secs}",
        age.as_secs()
    )))
}

/// Gas unit prices, in the coin's smallest unit. JSON numbers, as on the reference node.
#[derive(Serialize, JsonSchema)]
struct GasEstimateJson {
    /// Price of a transaction of low priority.
    deprioritized_gas_estimate: u64,
    /// Price of a transaction of normal priority.
    gas_estimate: u64,
    /// Price of a transaction of high priority.
    prioritized_gas_estimate: u64,
}

impl From<GasEstimate> for GasEstimateJson {
    fn from(estimate: GasEstimate) -> Self {
        Self {
            deprioritized_gas_estimate: estimate.deprioritized_gas_estimate,
            gas_estimate: estimate.gas_estimate,
            prioritized_gas_estimate: estimate.prioritized_gas_estimate,
        }
    }
}

/// Handles `GET /v1/estimate_gas_price`.
pub(super) async fn estimate_gas_price(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let estimate = cx.node().gas_estimate().await?;
    let ledger_info = cx.newest();
    let bcs = || GasEstimateBcs {
        gas_estimate: estimate.gas_estimate,
    };
    cx.respond(ledger_info, || GasEstimateJson::from(estimate), bcs)
}

/// Describes [`estimate_gas_price`].
pub(super) fn describe_estimate_gas_price() -> Operation {
    let example = json!({
        "deprioritized_gas_estimate": 100,
        "gas_estimate": 100,
        "prioritized_gas_estimate": 150,
    });
    let success = Success::ok("Gas unit prices, in the coin's smallest unit per gas unit.")
        .json(schema::<GasEstimateJson>(), example)
        .bcs("BCS struct of one u64: `gas_estimate`.");
    Operation::new(
        "estimate_gas_price",
        Tag::Node,
        "Estimate gas unit prices",
        "Returns prices at which a transaction is included in one of the next blocks, estimated \
         from recent blocks. The three prices are for low, normal, and high priority. They are \
         JSON numbers, not strings.",
    )
    .success(success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_the_drift_of_the_clock() {
        let words = |state, drift_usecs| describe_drift(ClockStatus { state, drift_usecs });
        assert_eq!(words(ClockState::InStep, 4_000_000), None);
        for (state, drift_usecs, part) in [
            (ClockState::Ahead, 3_600_000_000, "3600 s ahead"),
            (
                ClockState::TooFarAhead,
                3_600_000_000,
                "clock_jump_max_secs",
            ),
            (ClockState::Behind, -7_000_000, "7 s behind"),
        ] {
            let words = words(state, drift_usecs).unwrap();
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn counts_from_the_later_of_the_newest_block_and_the_oldest_transaction() {
        let secs = |now: u64, block: u64, waiting| {
            idle_time(now * 1_000_000, block * 1_000_000, waiting).as_secs()
        };
        assert_eq!(secs(100, 90, 20), 10);
        assert_eq!(secs(100, 70, 20), 20);
        assert_eq!(secs(100, 160, 20), 0, "a block ahead of the clock");
    }

    #[test]
    fn accepts_a_wait_up_to_the_maximum_age() {
        let secs = Duration::from_secs;
        assert!(check_age(secs(10), 10).is_ok());
        let problem = check_age(secs(11), 10).unwrap_err();
        assert!(
            problem.to_string().contains("11 seconds, more than 10"),
            "{problem}"
        );
    }
}
