//! Reads of a block, with or without its transactions (docs/reference/rest-contract.md#s4-2).

use crate::{
    context::{
        CacheKey, LedgerResponse, QueryError, RequestContext, block_of_version,
        extract::{AtVersion, Parameter, Path, Query},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::{self, LargeResponsePermit, LargeResponses, VALUE_BYTES_MAX},
    model::{
        DecimalText, TableTypes,
        bcs::{ListBcs, encode_block},
        format::Format,
        json::BlockJson,
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        parameter::{flag, u64_number},
        schemas::schema,
    },
};
use ledger_store::{Snapshot, StoreError, StoredTransaction};
use ledger_types::{BlockInfo, ExecutedTransaction, LedgerInfo};
use ledger_vm::Chain;
use serde_json::{Value, json};

/// Maximum number of transactions of a block in a response, as on the reference node. The response
/// has the first transactions of a larger block. A client detects this by the version of the last
/// one.
const TRANSACTIONS_MAX: usize = 10_000;

/// The parts of a block that the response needs.
struct LoadedBlock {
    block: BlockInfo,
    transactions: Option<Transactions>,
    /// Size of the rows of the transactions, in bytes.
    read_bytes: usize,
    /// Present if the rows are large.
    permit: Option<LargeResponsePermit>,
}

/// The transactions of a block, in the form that the format of the response needs.
enum Transactions {
    Json {
        /// The first transactions of the block, ascending by version.
        all: Vec<ExecutedTransaction>,
        /// Types of the tables whose items the transactions changed.
        tables: TableTypes,
    },
    Bcs(ListBcs),
}

impl LoadedBlock {
    fn new(block: BlockInfo) -> Self {
        Self {
            block,
            transactions: None,
            read_bytes: 0,
            permit: None,
        }
    }

    /// Reads the block's transactions. Acquires the permit of a large response as soon as they are
    /// large, like a page of a list.
    fn read_transactions(
        &mut self,
        reader: &Reader,
        snapshot: &Snapshot,
    ) -> Result<(), QueryError> {
        let (first, last) = (self.block.first_version, self.block.last_version);
        let mut transactions = Transactions::none_of(reader.format);
        for rows in snapshot.transactions(first..=last)?.take(TRANSACTIONS_MAX) {
            let rows = rows?;
            self.read_bytes += rows.size_bytes();
            transactions.push(&reader.chain, snapshot, &rows)?;
            if self.permit.is_none() {
                self.permit = reader.large_responses.acquire_for(self.read_bytes)?;
            }
            if self.read_bytes >= VALUE_BYTES_MAX {
                break;
            }
        }
        self.transactions = Some(transactions);
        Ok(())
    }
}

impl Transactions {
    fn none_of(format: Format) -> Self {
        match format {
            Format::Json => Self::Json {
                all: Vec::new(),
                tables: TableTypes::default(),
            },
            Format::Bcs => Self::Bcs(ListBcs::default()),
        }
    }

    /// Adds the next transaction.
    fn push(
        &mut self,
        chain: &Chain,
        snapshot: &Snapshot,
        rows: &StoredTransaction,
    ) -> Result<(), StoreError> {
        match self {
            Self::Json { all, tables } => {
                let executed = rows.decode()?;
                tables.load(chain, snapshot, &executed.writes, rows.version())?;
                all.push(executed);
            }
            Self::Bcs(list) => list
                .push_rows(rows)
                .map_err(|error| StoreError::Inconsistent(error.to_string()))?,
        }
        Ok(())
    }
}

/// The context of reads of a block from a snapshot.
struct Reader {
    chain: Chain,
    format: Format,
    large_responses: LargeResponses,
}

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
        .parameter(Query::<WithTransactions>::describe())
        .success(success)
}

/// Handles `GET /v1/blocks/by_height/{block_height}`.
pub(super) async fn by_height(
    cx: RequestContext,
    Path(DecimalText(height)): Path<BlockHeight>,
    Query(with_transactions): Query<WithTransactions>,
) -> Result<LedgerResponse, ApiError> {
    let with_transactions = with_transactions.unwrap_or(false);
    let cache_key = CacheKey::BlockByHeight {
        height,
        with_transactions,
    };
    let find = move |snapshot: &Snapshot| at_height(snapshot, height);
    respond(&cx, with_transactions, cache_key, find).await
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
    Query(with_transactions): Query<WithTransactions>,
) -> Result<LedgerResponse, ApiError> {
    let with_transactions = with_transactions.unwrap_or(false);
    let cache_key = CacheKey::BlockByVersion {
        version,
        with_transactions,
    };
    let find = move |snapshot: &Snapshot| of_version(snapshot, version);
    respond(&cx, with_transactions, cache_key, find).await
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

/// Responds with the block that `find` returns, from the response cache or from the store.
async fn respond<F>(
    cx: &RequestContext,
    with_transactions: bool,
    cache_key: CacheKey,
    find: F,
) -> Result<LedgerResponse, ApiError>
where
    F: FnOnce(&Snapshot) -> Result<BlockInfo, QueryError> + Send + 'static,
{
    if let Some(response) = cx.cached(cache_key) {
        return Ok(response);
    }
    let chain = cx.chain().clone();
    let reader = Reader {
        chain: chain.clone(),
        format: cx.format(),
        large_responses: cx.state.large_responses.clone(),
    };
    let query = move |snapshot: &Snapshot| {
        let mut found = LoadedBlock::new(find(snapshot)?);
        if with_transactions {
            found.read_transactions(&reader, snapshot)?;
        }
        Ok(found)
    };
    let format = cx.format();
    let (ledger_info, mut found) = match with_transactions {
        true => cx.read(query).await?,
        false => cx.read_few(query).await?,
    };
    let permit = found.permit.take();
    let first_version = found.block.first_version;
    let response = large_responses::render(cx.node(), permit, move || {
        render(&chain, format, ledger_info, &found)
    })
    .await?;
    cx.cache(cache_key, first_version, &response);
    Ok(response)
}

fn render(
    chain: &Chain,
    format: Format,
    ledger_info: LedgerInfo,
    found: &LoadedBlock,
) -> Result<LedgerResponse, ApiError> {
    let json = |transactions| {
        /// Approximate size of a block besides its transactions, in bytes.
        const FRAME_BYTES: usize = 512;
        LedgerResponse::json_of_about(
            ledger_info,
            &BlockJson::new(chain, &found.block, transactions),
            FRAME_BYTES + large_responses::json_bytes(found.read_bytes),
        )
    };
    let bcs = |transactions| {
        LedgerResponse::bcs_bytes(ledger_info, encode_block(&found.block, transactions))
    };
    match &found.transactions {
        Some(Transactions::Json { all, tables }) => json(Some((all, tables))),
        Some(Transactions::Bcs(list)) => bcs(Some(list)),
        None if format == Format::Json => json(None),
        None => bcs(None),
    }
}

fn at_height(snapshot: &Snapshot, height: u64) -> Result<BlockInfo, QueryError> {
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
