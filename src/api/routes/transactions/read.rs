//! Reads of one transaction: by hash, by hash with a wait for its commit, or by version.

use super::committed_example;
use crate::{
    context::{
        BodyWriter, CacheKey, LedgerResponse, QueryError, RequestContext,
        extract::{Parameter, Path, WaitTimeout},
    },
    error::{ApiError, ErrorCode, ErrorKind, TransactionName},
    limits::large_responses::{size_bytes, values_bytes},
    model::{
        DecimalText, TableTypes,
        bcs::{COMMITTED, write_executed, write_parts, write_pending, write_rows},
        format::Format,
        json::{CommittedJson, TransactionJson},
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        parameter::{hash_text, u64_text},
        schemas::schema,
    },
};
use ledger_actors::{CommittedTransaction, NodeError, TransactionContent, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_limits::{Demand, Permit, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_types::LedgerInfo;
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{io::Write as _, time::Duration};
use tokio::time::Instant;

/// The hash of a transaction.
pub(crate) enum TransactionHash {}

impl Parameter for TransactionHash {
    type Value = HashValue;
    const NAME: &'static str = "txn_hash";
    const DESCRIPTION: &'static str = "Hash of the transaction, with or without `0x`.";
    const SCHEMA: fn() -> Value = hash_text;
    const EXAMPLE: fn() -> Value = || json!(format!("0x{:064x}", 0xa));
}

/// The version of a transaction.
pub(crate) enum TransactionVersion {}

impl Parameter for TransactionVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "txn_version";
    const DESCRIPTION: &'static str = "Version of the transaction.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Adds the body and the links of a transaction.
pub(super) fn with_transaction(success: Success) -> Success {
    success
        .json(schema::<TransactionJson<'static>>(), committed_example())
        .bcs(
            "BCS enum: a committed transaction with its execution results, or a pending \
             transaction as it was signed.",
        )
        .link(
            "by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/version")],
        )
        .link(
            "its_block",
            "get_block_by_version",
            &[("version", "$response.body#/version")],
        )
        .link(
            "its_sender",
            "get_account",
            &[("address", "$response.body#/sender")],
        )
}

fn by_hash_operation(
    id: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Operation {
    Operation::new(id, Tag::Transactions, summary, description)
        .parameter(Path::<TransactionHash>::describe())
        .success(with_transaction(Success::ok(
            "The transaction, pending or committed.",
        )))
        .errors(&[
            error(
                StatusCode::NOT_FOUND,
                ErrorCode::TransactionNotFound,
                "No transaction with this hash is pending or committed. If one was pending \
                 recently, the message contains the reason for its removal: expired, evicted, \
                 replaced, or rejected with `vm_error_code`.",
            ),
            error(
                StatusCode::GONE,
                ErrorCode::VersionPruned,
                "The transaction is committed, and its version is below the oldest readable \
                 version.",
            ),
        ])
}

/// Handles `GET /v1/transactions/by_hash/{txn_hash}`.
pub(crate) async fn by_hash(
    cx: RequestContext,
    Path(hash): Path<TransactionHash>,
) -> Result<LedgerResponse, ApiError> {
    let cache_key = CacheKey::TransactionByHash(hash);
    if let Some(response) = cx.cached(cache_key) {
        return Ok(response);
    }
    let (ledger_info, lookup) = cx.node().transaction_by_hash(hash, cx.client()).await?;
    let committed_version = match &lookup {
        TransactionStatus::Committed(committed) => Some(committed.version),
        _ => None,
    };
    let response = render_status(&cx, ledger_info, hash, lookup).await?;
    if let Some(version) = committed_version {
        cx.cache(cache_key, version, &response);
    }
    Ok(response)
}

/// Describes [`by_hash`].
pub(crate) fn describe_by_hash() -> Operation {
    by_hash_operation(
        "get_transaction_by_hash",
        "Get a transaction by hash",
        "Returns the pending or committed transaction. `type` is `pending_transaction` until the \
         transaction is committed.",
    )
}

/// Minimum time until `wait_by_hash` responds with a pending transaction, in milliseconds, unless
/// the timeout of the wait is shorter. A client repeats its request then. If there is no capacity
/// for its wait, it would otherwise do so as fast as the node responds. If more than a hundred such
/// requests wait, each of them is delayed by a millisecond for each: together they take at most a
/// thousand responses per second, up to one for each during its timeout.
const PENDING_DELAY_MS: u64 = 100;

/// Handles `GET /v1/transactions/wait_by_hash/{txn_hash}`.
///
/// Waits for the requested time, at most `wait.timeout_max_ms`, or by default for
/// `wait.timeout_ms`. Responds to a `HEAD` request, and to a requested time of 0, without a wait.
pub(crate) async fn wait_by_hash(
    cx: RequestContext,
    Path(hash): Path<TransactionHash>,
    requested: WaitTimeout,
) -> Result<LedgerResponse, ApiError> {
    let config = &cx.node().config().wait;
    let default = Duration::from_millis(config.timeout_ms);
    let timeout = requested.clamped(config).unwrap_or(default);
    let (ledger_info, lookup) = if cx.is_head || timeout.is_zero() {
        cx.node().transaction_by_hash(hash, cx.client()).await?
    } else {
        wait(&cx, hash, timeout).await?
    };
    // In its own allocation, which a waiting request does not have yet: it takes 2.4 KB.
    Box::pin(render_status(&cx, ledger_info, hash, lookup)).await
}

/// Returns the status of a transaction after a wait of at most `timeout`. A status that is pending
/// takes at least [`PENDING_DELAY_MS`], or `timeout` if that is shorter.
async fn wait(
    cx: &RequestContext,
    hash: HashValue,
    timeout: Duration,
) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
    let node = cx.node();
    let begin = Instant::now();
    let end = cx.wait_end(begin + timeout).reached();
    let found = node.wait_for_commit_until(hash, cx.client(), end).await?;
    if !matches!(found.1, TransactionStatus::Pending(_)) {
        return Ok(found);
    }
    let _delayed = Permit::acquire(cx.delayed_waits());
    let not_before = begin + pending_delay(cx.delayed_waits().held(), timeout);
    if Instant::now() >= not_before {
        return Ok(found);
    }
    cx.wait_end(not_before).reached().await;
    node.transaction_by_hash(hash, cx.client()).await
}

/// Returns the minimum time until a response with a pending transaction, while `delayed` requests
/// are delayed.
fn pending_delay(delayed: usize, timeout: Duration) -> Duration {
    Duration::from_millis(PENDING_DELAY_MS.max(delayed as u64)).min(timeout)
}

/// Describes [`wait_by_hash`].
pub(crate) fn describe_wait_by_hash() -> Operation {
    by_hash_operation(
        "wait_transaction_by_hash",
        "Wait for a transaction by hash",
        "Like the lookup by hash, but if the transaction is pending, the node responds only when \
         it is committed, or after `timeout_ms`. If `type` is still `pending_transaction`, repeat \
         the request. For an unknown hash, the node responds with 404 immediately.",
    )
    .wait_parameter(WaitTimeout::describe(
        "Maximum time to wait, in milliseconds; by default `wait.timeout_ms` of the configuration, \
         1000. A larger value than `wait.timeout_max_ms` of the configuration, 60000 by default, \
         waits as long as that. With 0 the node responds immediately. A node without capacity for \
         another wait responds earlier.",
    ))
}

/// Handles `GET /v1/transactions/by_version/{txn_version}`.
pub(crate) async fn by_version(
    cx: RequestContext,
    Path(DecimalText(version)): Path<TransactionVersion>,
) -> Result<LedgerResponse, ApiError> {
    let cache_key = CacheKey::TransactionByVersion(version);
    if let Some(response) = cx.cached(cache_key) {
        return Ok(response);
    }
    let chain = cx.chain().clone();
    let format = cx.format();
    let mut body = cx.body_writer();
    let (ledger_info, (found, body)) = cx
        .read_few(move |snapshot| {
            let found = at_version(&chain, format, snapshot, version)?;
            body.lease_values(values_bytes(found.size_bytes()))?;
            Ok((found, body))
        })
        .await?;
    let response = respond(&cx, body, ledger_info, found).await?;
    cx.cache(cache_key, version, &response);
    Ok(response)
}

/// Describes [`by_version`].
pub(crate) fn describe_by_version() -> Operation {
    Operation::new(
        "get_transaction_by_version",
        Tag::Transactions,
        "Get a transaction by version",
        "Returns the committed transaction of a version. Each version of the ledger is one \
         transaction. The first version is 0.",
    )
    .parameter(Path::<TransactionVersion>::describe())
    .success(with_transaction(Success::ok("The transaction.")))
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::TransactionNotFound,
            "The version is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "The version is below the oldest readable version.",
        ),
    ])
}

fn at_version(
    chain: &Chain,
    format: Format,
    snapshot: &Snapshot,
    version: u64,
) -> Result<LoadedTransaction, QueryError> {
    let ledger_info = snapshot.ledger_info();
    if version > ledger_info.version {
        return Err(ErrorKind::TransactionNotFound {
            name: TransactionName::Version(version),
            left: None,
        }
        .into());
    }
    if version < ledger_info.oldest_version {
        return Err(ErrorKind::VersionPruned(version).into());
    }
    let missing =
        || StoreError::Inconsistent(format!("the transaction of version {version} is missing"));
    let found = snapshot
        .transaction_in_block(version)?
        .ok_or_else(missing)?;
    let committed = CommittedTransaction::from_stored(found.transaction, &found.block);
    Ok(match format {
        Format::Bcs => LoadedTransaction::Bcs(committed),
        Format::Json => {
            let transaction = committed.content()?;
            let mut tables = TableTypes::default();
            tables.load(chain, snapshot, &transaction.writes, version)?;
            LoadedTransaction::Json(TransactionWithTables::new(&committed, transaction, tables))
        }
    })
}

/// Responds with the status of the transaction `hash` at the version of `ledger_info`.
///
/// # Errors
///
/// Returns [`ErrorKind::TransactionNotFound`] and [`ErrorKind::VersionPruned`] by the status, and
/// otherwise the errors of [`RequestContext::render`] and of reads of the store.
pub(super) async fn render_status(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    hash: HashValue,
    lookup: TransactionStatus,
) -> Result<LedgerResponse, ApiError> {
    let not_found = |left| {
        let name = TransactionName::Hash(hash);
        Err(ErrorKind::TransactionNotFound { name, left }.at(ledger_info))
    };
    match lookup {
        TransactionStatus::Pending(pending) => {
            let (chain, format, body) = (cx.chain().clone(), cx.format(), cx.body_writer());
            cx.render(pending.size_bytes(), move || match format {
                Format::Json => body.json(ledger_info, &TransactionJson::pending(&chain, &pending)),
                Format::Bcs => {
                    body.bcs_with(ledger_info, |out| write_pending(out, pending.transaction()))
                }
            })
            .await
        }
        TransactionStatus::Committed(committed) => {
            let mut body = cx.body_writer();
            // Before the types of tables are read, because that may wait.
            body.lease_values(values_bytes(size_in_bcs(&committed)))
                .map_err(|error| error.at(ledger_info))?;
            let found = match cx.format() {
                Format::Bcs => LoadedTransaction::Bcs(committed),
                Format::Json => {
                    let transaction = committed.content().map_err(NodeError::from)?;
                    let tables = tables_of(cx, committed.version, &transaction).await?;
                    LoadedTransaction::Json(TransactionWithTables::new(
                        &committed,
                        transaction,
                        tables,
                    ))
                }
            };
            respond(cx, body, ledger_info, found).await
        }
        TransactionStatus::Pruned { version } => {
            Err(ErrorKind::VersionPruned(version).at(ledger_info))
        }
        TransactionStatus::Removed(reason) => not_found(Some(reason)),
        TransactionStatus::Unknown => not_found(None),
    }
}

/// Returns the types of the tables whose items a transaction changed. Reads the store only for
/// tables that the transaction did not create.
async fn tables_of(
    cx: &RequestContext,
    version: u64,
    transaction: &TransactionContent,
) -> Result<TableTypes, ApiError> {
    let mut tables = TableTypes::default();
    let unknown = tables.add_from_writes(cx.chain(), &transaction.writes);
    if unknown.is_empty() {
        return Ok(tables);
    }
    let chain = cx.chain().clone();
    let work = cx.work(WorkKind::PointRead, Demand::rows(unknown.len()));
    let read = move |snapshot: &Snapshot| {
        tables.read(&chain, snapshot, &unknown, version)?;
        Ok(tables)
    };
    let (_, tables) = cx.node().read(work, read).await?;
    Ok(tables)
}

/// A committed transaction, in the form that the format of the response needs.
enum LoadedTransaction {
    Json(TransactionWithTables),
    Bcs(CommittedTransaction),
}

/// A committed transaction, with the data that its JSON needs.
struct TransactionWithTables {
    version: u64,
    /// Time of the block, in microseconds since the Unix epoch.
    timestamp_usecs: u64,
    transaction: TransactionContent,
    /// Types of the tables whose items the transaction changed.
    tables: TableTypes,
}

impl LoadedTransaction {
    /// Returns the approximate size of the content, in bytes.
    fn size_bytes(&self) -> usize {
        match self {
            Self::Json(loaded) => size_bytes(&loaded.transaction),
            Self::Bcs(committed) => size_in_bcs(committed),
        }
    }
}

/// Returns the size of a transaction in BCS, in bytes, or that of its decoded form if it is only in
/// memory.
fn size_in_bcs(committed: &CommittedTransaction) -> usize {
    match (committed.wal_transaction(), committed.stored()) {
        (Some(logged), _) => logged.size_bytes(),
        (None, Some(rows)) => rows.size_bytes(),
        (None, None) => committed
            .content()
            .map_or(0, |content| size_bytes(&content)),
    }
}

/// Renders a transaction. `body` has leased the memory of its values.
async fn respond(
    cx: &RequestContext,
    body: BodyWriter,
    ledger_info: LedgerInfo,
    found: LoadedTransaction,
) -> Result<LedgerResponse, ApiError> {
    let size_bytes = found.size_bytes();
    let chain = cx.chain().clone();
    cx.render(size_bytes, move || match found {
        LoadedTransaction::Json(loaded) => loaded.respond(&chain, body, ledger_info),
        LoadedTransaction::Bcs(committed) => respond_in_bcs(body, ledger_info, &committed),
    })
    .await
}

impl TransactionWithTables {
    fn new(
        committed: &CommittedTransaction,
        transaction: TransactionContent,
        tables: TableTypes,
    ) -> Self {
        Self {
            version: committed.version,
            timestamp_usecs: committed.block_timestamp_usecs,
            transaction,
            tables,
        }
    }

    fn respond(
        &self,
        chain: &Chain,
        body: BodyWriter,
        ledger_info: LedgerInfo,
    ) -> Result<LedgerResponse, ApiError> {
        let view = CommittedJson {
            version: self.version,
            timestamp_usecs: self.timestamp_usecs,
            executed: &self.transaction,
            tables: &self.tables,
        };
        body.json(ledger_info, &TransactionJson::committed(chain, view))
    }
}

fn respond_in_bcs(
    body: BodyWriter,
    ledger_info: LedgerInfo,
    committed: &CommittedTransaction,
) -> Result<LedgerResponse, ApiError> {
    let version = committed.version;
    if let Some(logged) = committed.wal_transaction() {
        return body.bcs_with(ledger_info, |out| {
            out.write_all(&[COMMITTED])?;
            write_parts(out, version, &logged)
        });
    }
    if let Some(rows) = committed.stored() {
        return body.bcs_with(ledger_info, |out| {
            out.write_all(&[COMMITTED])?;
            write_rows(out, rows)
        });
    }
    let content = committed.content().map_err(NodeError::from)?;
    body.bcs_with(ledger_info, |out| {
        out.write_all(&[COMMITTED])?;
        write_executed(out, version, &content)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_delayed_requests_take_at_most_a_thousand_responses_per_second() {
        for (delayed, timeout_ms, expected) in [
            (1, 1_000, PENDING_DELAY_MS),
            (100, 1_000, 100),
            (700, 1_000, 700),
            (5_000, 1_000, 1_000),
            (1, 20, 20),
        ] {
            let timeout = Duration::from_millis(timeout_ms);
            let expected = Duration::from_millis(expected);
            assert_eq!(pending_delay(delayed, timeout), expected);
        }
    }
}
