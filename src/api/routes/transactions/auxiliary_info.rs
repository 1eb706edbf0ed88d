//! Indices of transactions in their blocks (docs/reference/reference-node.md#r5). This ledger has
//! the index of every transaction, so none is `null`.

use crate::{
    context::{LedgerResponse, PageSize, RequestContext},
    error::{ApiError, ErrorKind},
    model::DecimalText,
    routes::transactions::list::start_too_high,
};
use ledger_store::{Snapshot, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// Page size of all lists of transactions (docs/reference/reference-node.md#r4).
const PAGE: PageSize = PageSize {
    default: 25,
    max: 100,
};

/// The place of one transaction.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuxiliaryInfoJson {
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
pub(crate) async fn auxiliary_info(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let start = cx.query("start_version")?;
    let Some(DecimalText(start)) = start else {
        let missing = "failed to parse parameter `start_version`: it is missing";
        return Err(ErrorKind::Syntax(missing.to_owned()).into());
    };
    let limit = cx.limit(PAGE)?;
    let (ledger_info, places) = cx
        .read(move |snapshot| places(snapshot, start, limit))
        .await?;
    cx.answer(
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

/// The places of up to `limit` transactions from version `start` on, each counted from its block's first.
fn places(
    snapshot: &Snapshot,
    start: u64,
    limit: usize,
) -> Result<Result<Vec<u32>, ErrorKind>, StoreError> {
    let ledger_info = snapshot.ledger_info();
    let newest = ledger_info.version;
    if start > newest {
        return Ok(Err(start_too_high(start, newest)));
    }
    if start < ledger_info.oldest_version {
        return Ok(Err(ErrorKind::VersionPruned(start)));
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
    Ok(Ok(places))
}
