//! Reads of a block, with or without its transactions (docs/reference/rest-contract.md#s4-2).

use crate::{
    context::{
        CacheKey, LedgerResponse, QueryError, RequestContext, block_of_version,
        extract::{AtVersion, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::PART_DEMAND,
    model::{DecimalText, bcs::encode_block, format::Format, json::BlockJson},
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        parameter::{flag, u64_number},
        schemas::schema,
    },
    routes::transactions::page::TransactionPage,
};
use ledger_limits::WorkKind;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{BlockInfo, LedgerInfo};
use serde_json::{Value, json};

/// Maximum number of transactions of a block in a response, as on the reference node. The response
/// has the first transactions of a larger block. A client detects this by the version of the last
/// one.
const TRANSACTIONS_MAX: usize = 10_000;

/// The query parameter that includes the transactions of the block in the response.
pub(super) enum WithTransactions {}

impl Parameter for WithTransactions {
    type Value = bool;
    const NAME: &'static str = "with_transactions";
    const DESCRIPTION: &'static str =
        "Whether the block includes its transactions; false by default.";
    const SCHEMA: fn() -> Value = flag;
    const EXAMPLE: fn() -> Value = || json!(true);
}

/// The height of a block.
pub(super) enum BlockHeight {}

impl Parameter for BlockHeight {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "block_height";
    const DESCRIPTION: &'static str = "Height of the block.";
    const SCHEMA: fn() -> Value = u64_number;
    const EXAMPLE: fn() -> Value = || json!(0);
}

/// Version of a transaction in a block.
pub(super) enum BlockVersion {}

impl Parameter for BlockVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "version";
    const DESCRIPTION: &'static str = "Version of a transaction in the block.";
    const SCHEMA: fn() -> Value = u64_number;
    const EXAMPLE: fn() -> Value = || json!(0);
}

fn operation(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let example = json!({
        "block_height": "0",
        "block_hash": format!("0x{:064x}", 0xb10c),
        "block_timestamp": "1767225600000000",
        "first_version": "0",
        "last_version": "0",
    });
    let success = Success::ok("The block.")
        .json(schema::<BlockJson<'static>>(), example)
        .bcs(
            "BCS struct with the same members. `transactions` is an option of a vector of \
             committed transactions.",
        )
        .link(
            "first_transaction",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/first_version")],
        )
        .link(
            "its_transactions",
            "get_transactions",
            &[("start", "$response.body#/first_version")],
        )
        .link(
            "its_places",
            "get_auxiliary_info",
            &[("start_version", "$response.body#/first_version")],
        );
    Operation::new(id, Tag::Blocks, summary, description)
        .parameter(QueryParameter::<WithTransactions>::describe())
        .success(success)
}

/// Handles `GET /v1/blocks/by_height/{block_height}`.
pub(super) async fn by_height(
    cx: RequestContext,
    Path(DecimalText(height)): Path<BlockHeight>,
    QueryParameter(with_transactions): QueryParameter<WithTransactions>,
) -> Result<LedgerResponse, ApiError> {
    let with_transactions = with_transactions.unwrap_or(false);
    let cache_key = CacheKey::BlockByHeight {
        height,
        with_transactions,
    };
    let find = move |snapshot: &Snapshot| at_height(snapshot, height);
    let page =
        with_transactions.then(|| TransactionPage::of_block(&cx, ErrorKind::BlockPruned(height)));
    respond(&cx, page, cache_key, find).await
}

/// Describes [`by_height`].
pub(super) fn describe_by_height() -> Operation {
    operation(
        "get_block_by_height",
        "Get a block by height",
        "Returns the block at a height. The first block has height 0. With `with_transactions`, \
         the block includes its first 10,000 transactions, or fewer if they reach 8 MiB. If the \
         version of the last one is below `last_version`, the list of transactions has the \
         remaining ones.",
    )
    .parameter(Path::<BlockHeight>::describe())
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::BlockNotFound,
            "The height is above the newest block height.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::BlockPruned,
            "The height is below the oldest readable block height.",
        ),
    ])
}

/// Handles `GET /v1/blocks/by_version/{version}`.
///
/// Responds with the block that contains the version (docs/reference/reference-node.md#r6).
pub(super) async fn by_version(
    cx: RequestContext,
    Path(DecimalText(version)): Path<BlockVersion>,
    QueryParameter(with_transactions): QueryParameter<WithTransactions>,
) -> Result<LedgerResponse, ApiError> {
    let with_transactions = with_transactions.unwrap_or(false);
    let cache_key = CacheKey::BlockByVersion {
        version,
        with_transactions,
    };
    let find = move |snapshot: &Snapshot| of_version(snapshot, version);
    let page = with_transactions
        .then(|| TransactionPage::of_block(&cx, ErrorKind::VersionPruned(version)));
    respond(&cx, page, cache_key, find).await
}

/// Describes [`by_version`].
pub(super) fn describe_by_version() -> Operation {
    operation(
        "get_block_by_version",
        "Get a block by version",
        "Returns the block that contains the transaction of a version. `with_transactions` has the \
         same effect as for a block by height.",
    )
    .parameter(Path::<BlockVersion>::describe())
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::VersionNotFound,
            "The version is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "The version is below the oldest readable version.",
        ),
    ])
}

/// Responds with the block that `find` returns, from the response cache or from the store. `page`
/// is that of its transactions, if they are requested.
async fn respond<F>(
    cx: &RequestContext,
    page: Option<TransactionPage>,
    cache_key: CacheKey,
    find: F,
) -> Result<LedgerResponse, ApiError>
where
    F: FnOnce(&Snapshot) -> Result<BlockInfo, QueryError> + Send + 'static,
{
    if let Some(response) = cx.cached(cache_key) {
        return Ok(response);
    }
    let (block, response) = match page {
        Some(page) => respond_with_transactions(cx, page, find).await?,
        None => {
            let (ledger_info, block) = cx.read_few(find).await?;
            let response = respond_without_transactions(cx, ledger_info, &block)?;
            (block, response)
        }
    };
    cx.cache(cache_key, block.first_version, &response);
    Ok(response)
}

fn respond_without_transactions(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    block: &BlockInfo,
) -> Result<LedgerResponse, ApiError> {
    match cx.format() {
        Format::Json => LedgerResponse::json(ledger_info, &BlockJson::new(block)),
        Format::Bcs => {
            let body = encode_block(block, None).map_err(|cause| {
                ErrorKind::internal("writing a block as BCS failed", &cause).at(ledger_info)
            })?;
            Ok(LedgerResponse::bytes(ledger_info, Format::Bcs, body.into()))
        }
    }
}

/// Responds with the block that `find` returns and its first transactions.
///
/// # Errors
///
/// Returns the errors of `find` and of [`TransactionPage::make`].
async fn respond_with_transactions<F>(
    cx: &RequestContext,
    page: TransactionPage,
    find: F,
) -> Result<(BlockInfo, LedgerResponse), ApiError>
where
    F: FnOnce(&Snapshot) -> Result<BlockInfo, QueryError> + Send + 'static,
{
    let (ledger_info, (block, first)) = cx
        .read(WorkKind::Page, PART_DEMAND, move |snapshot| {
            let block = find(snapshot)?;
            let versions = block.first_version..=block.last_version;
            let first = page.begin(snapshot, versions.take(TRANSACTIONS_MAX).collect())?;
            Ok((block, first))
        })
        .await?;
    let body = TransactionPage::make(cx, ledger_info, first).await?;
    let response = match cx.format() {
        Format::Json => {
            let begin = BlockJson::begin(&block).map_err(|cause| {
                ErrorKind::internal("writing a block as JSON failed", &cause).at(ledger_info)
            })?;
            body.respond_between(ledger_info, &begin, BlockJson::END)
        }
        Format::Bcs => {
            let head = encode_block(&block, Some(body.item_count())).map_err(|cause| {
                ErrorKind::internal("writing a block as BCS failed", &cause).at(ledger_info)
            })?;
            body.respond_between(ledger_info, &head, b"")
        }
    };
    Ok((block, response))
}

/// Returns the block at a height.
///
/// # Errors
///
/// Returns [`ErrorKind::BlockNotFound`] above the newest block and [`ErrorKind::BlockPruned`] below
/// the oldest, and the errors of the store.
pub(super) fn at_height(snapshot: &Snapshot, height: u64) -> Result<BlockInfo, QueryError> {
    let ledger_info = snapshot.ledger_info();
    if height > ledger_info.block_height {
        return Err(ErrorKind::BlockNotFound(height).into());
    }
    if height < ledger_info.oldest_block_height {
        return Err(ErrorKind::BlockPruned(height).into());
    }
    let missing = || StoreError::Inconsistent(format!("block {height} is missing"));
    Ok(snapshot.block(height)?.ok_or_else(missing)?)
}

fn of_version(snapshot: &Snapshot, version: u64) -> Result<BlockInfo, QueryError> {
    AtVersion::from(version).resolve(snapshot)?;
    Ok(block_of_version(snapshot, version)?)
}
