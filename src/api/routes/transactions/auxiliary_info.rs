//! Indices of transactions in their blocks (docs/reference/reference-node.md#r5). This ledger has
//! the index of every transaction, so none is `null`.

use super::list::check_start;
use crate::{
    context::{
        LedgerResponse, QueryError, RequestContext, block_of_version,
        extract::{PageLimit, Parameter, RequiredQueryParameter},
    },
    error::{ApiError, ErrorCode},
    model::DecimalText,
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        parameter::u64_text,
        schemas::schema,
    },
};
use ledger_limits::{Demand, WorkKind};
use ledger_store::Snapshot;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Maximum number of entries in a page, as for all lists of transactions
/// (docs/reference/reference-node.md#r4).
type Limit = PageLimit<25, 100>;

/// Version of the first transaction of a page.
pub(crate) enum StartVersion {}

impl Parameter for StartVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "start_version";
    const DESCRIPTION: &'static str = "Version of the first transaction.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Auxiliary information of a transaction.
#[derive(Serialize, JsonSchema)]
struct AuxiliaryInfoJson {
    /// Index in the block. The first transaction has index 0.
    transaction_index: u32,
}

/// Auxiliary information of a transaction on the reference node. BCS numbers the variants in this
/// order.
#[derive(Serialize)]
#[expect(dead_code, reason = "this ledger knows the place of every transaction")]
enum AuxiliaryInfoBcs {
    None,
    V1 { transaction_index: u32 },
}

/// Handles `GET /v1/transactions/auxiliary_info`.
pub(crate) async fn auxiliary_info(
    cx: RequestContext,
    RequiredQueryParameter(DecimalText(start)): RequiredQueryParameter<StartVersion>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let (ledger_info, block_indices) = cx
        .read(WorkKind::Page, Demand::rows(limit), move |snapshot| {
            block_indices(snapshot, start, limit)
        })
        .await?;
    cx.respond(
        ledger_info,
        || {
            let all = block_indices.iter().copied();
            all.map(|transaction_index| AuxiliaryInfoJson { transaction_index })
                .collect::<Vec<_>>()
        },
        || {
            let all = block_indices.iter().copied();
            all.map(|transaction_index| AuxiliaryInfoBcs::V1 { transaction_index })
                .collect::<Vec<_>>()
        },
    )
}

/// Describes [`auxiliary_info`].
pub(crate) fn describe_auxiliary_info() -> Operation {
    let success = Success::ok(
        "Index of each transaction in its block, from 0, in ascending order of version.",
    )
    .json(
        schema::<Vec<AuxiliaryInfoJson>>(),
        json!([{"transaction_index": 0}]),
    )
    .bcs("BCS vector of enums whose second variant has the index as a u32.");
    Operation::new(
        "get_auxiliary_info",
        Tag::Transactions,
        "List indices of transactions in their blocks",
        "Returns one entry for each version from `start_version`. The node has the index of every \
         transaction.",
    )
    .parameter(RequiredQueryParameter::<StartVersion>::describe())
    .parameter(Limit::describe(
        "Maximum number of entries in the page: 25 by default, values above 100 count as 100.",
    ))
    .success(success)
    .errors(errors::LIMIT)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::WebFrameworkError,
            "`start_version` is missing.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start_version` is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start_version` is below the oldest readable version.",
        ),
    ])
}

/// Returns the indices in their blocks of up to `limit` transactions from version `start`.
fn block_indices(snapshot: &Snapshot, start: u64, limit: usize) -> Result<Vec<u32>, QueryError> {
    let newest = snapshot.ledger_info().version;
    check_start(start, snapshot.ledger_info())?;
    let mut block_indices = Vec::with_capacity(limit);
    let mut version = start;
    while version <= newest && block_indices.len() < limit {
        let block = block_of_version(snapshot, version)?;
        for version in (version..=block.last_version).take(limit - block_indices.len()) {
            // A block has far fewer transactions than `u32::MAX`.
            block_indices.push(u32::try_from(version - block.first_version).unwrap_or(u32::MAX));
        }
        version = block.last_version + 1;
    }
    Ok(block_indices)
}
