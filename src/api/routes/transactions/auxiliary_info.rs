//! Indices of transactions in their blocks (docs/reference/reference-node.md#r5). This ledger has
//! the index of every transaction, so none is `null`.

use super::list::start_too_high;
use crate::{
    context::{
        LedgerResponse, QueryError, RequestContext,
        extract::{PageLimit, Parameter, RequiredQuery},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::DecimalText,
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        parameter::u64_text,
        schemas::schema,
    },
};
use ledger_store::{Snapshot, StoreError};
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
    const DESCRIPTION: &'static str = "The version of the first transaction.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// The place of one transaction.
#[derive(Serialize, JsonSchema)]
struct AuxiliaryInfoJson {
    /// Counted from 0, the first transaction of the block.
    transaction_index: u32,
}

/// What the reference keeps beside a transaction. The order of the variants is the wire's.
#[derive(Serialize)]
#[expect(dead_code, reason = "this ledger knows the place of every transaction")]
enum AuxiliaryInfoBcs {
    None,
    V1 { transaction_index: u32 },
}

/// `GET /v1/transactions/auxiliary_info`
pub(crate) async fn auxiliary_info(
    cx: RequestContext,
    RequiredQuery(DecimalText(start)): RequiredQuery<StartVersion>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let (ledger_info, places) = cx
        .read(move |snapshot| places(snapshot, start, limit))
        .await?;
    cx.respond(
        ledger_info,
        || {
            let all = places.iter().copied();
            all.map(|transaction_index| AuxiliaryInfoJson { transaction_index })
                .collect::<Vec<_>>()
        },
        || {
            let all = places.iter().copied();
            all.map(|transaction_index| AuxiliaryInfoBcs::V1 { transaction_index })
                .collect::<Vec<_>>()
        },
    )
}

/// Describes [`auxiliary_info`].
pub(crate) fn describe_auxiliary_info() -> Operation {
    let success =
        Success::ok("The place of each transaction in its block, from 0, ascending by version.")
            .json(
                schema::<Vec<AuxiliaryInfoJson>>(),
                json!([{"transaction_index": 0}]),
            )
            .bcs("A BCS vector of an enum whose second variant holds the place as a u32.");
    Operation::new(
        "get_auxiliary_info",
        Tag::Transactions,
        "Where transactions stand in their blocks",
        "One entry for each version from `start_version` on. The node knows the place of every transaction.",
    )
    .parameter(RequiredQuery::<StartVersion>::describe())
    .parameter(Limit::describe(
        "How many entries a page has at most; 25 without it, 100 above that.",
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
            "`start_version` is below the oldest version that the node keeps.",
        ),
    ])
}

/// Returns the indices in their blocks of up to `limit` transactions from version `start`.
fn places(snapshot: &Snapshot, start: u64, limit: usize) -> Result<Vec<u32>, QueryError> {
    let ledger_info = snapshot.ledger_info();
    let newest = ledger_info.version;
    if start > newest {
        return Err(start_too_high(start, newest).into());
    }
    if start < ledger_info.oldest_version {
        return Err(ErrorKind::VersionPruned(start).into());
    }
    let mut places = Vec::with_capacity(limit);
    let mut version = start;
    while version <= newest && places.len() < limit {
        let missing =
            || StoreError::Inconsistent(format!("the block of version {version} is missing"));
        let block = snapshot.block_of_version(version)?.ok_or_else(missing)?;
        for version in (version..=block.last_version).take(limit - places.len()) {
            // A block has far fewer transactions than a u32 can count.
            places.push(u32::try_from(version - block.first_version).unwrap_or(u32::MAX));
        }
        version = block.last_version + 1;
    }
    Ok(places)
}
