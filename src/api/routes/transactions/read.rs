//! One transaction, by hash, by hash with waiting, or by version.

use crate::{
    context::{CacheKey, LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind, TransactionName},
    limits::large_responses::{self, size_bytes},
    model::{
        DecimalText, TableTypes,
        bcs::{OnChainBcs, TransactionBcs, logged_bytes, on_chain_bytes},
        format::Format,
        json::{CommittedJson, TransactionJson},
    },
};
use ledger_actors::{CommittedTransaction, NodeError, TransactionContent, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_store::{Snapshot, StoreError};
use ledger_types::LedgerInfo;
use ledger_vm::Chain;

/// `GET /v1/transactions/by_hash/{txn_hash}`
pub(crate) async fn by_hash(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let hash = cx.path("txn_hash")?;
    let subject = CacheKey::TransactionByHash(hash);
    if let Some(answer) = cx.kept(subject) {
        return Ok(answer);
    }
    let (ledger_info, lookup) = cx.node().transaction_by_hash(hash).await?;
    let committed_version = match &lookup {
        TransactionStatus::Committed(committed) => Some(committed.version),
        _ => None,
    };
    let answer = render_status(&cx, ledger_info, hash, lookup).await?;
    if let Some(version) = committed_version {
        cx.keep(subject, version, &answer);
    }
    Ok(answer)
}

/// `GET /v1/transactions/wait_by_hash/{txn_hash}`
pub(crate) async fn wait_by_hash(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let hash = cx.path("txn_hash")?;
    let (ledger_info, lookup) = match cx.is_head {
        true => cx.node().transaction_by_hash(hash).await?,
        false => cx.node().wait_for_commit(hash).await?,
    };
    render_status(&cx, ledger_info, hash, lookup).await
}

/// `GET /v1/transactions/by_version/{txn_version}`
pub(crate) async fn by_version(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let DecimalText(version) = cx.path("txn_version")?;
    let subject = CacheKey::TransactionByVersion(version);
    if let Some(answer) = cx.kept(subject) {
        return Ok(answer);
    }
    let chain = cx.chain().clone();
    let format = cx.format();
    let (ledger_info, found) = cx
        .read_few(move |snapshot| at_version(&chain, format, snapshot, version))
        .await?;
    let answer = answer(&cx, ledger_info, found).await?;
    cx.keep(subject, version, &answer);
    Ok(answer)
}

fn at_version(
    chain: &Chain,
    format: Format,
    snapshot: &Snapshot,
    version: u64,
) -> Result<Result<LoadedTransaction, ErrorKind>, StoreError> {
    let ledger_info = snapshot.ledger_info();
    if version > ledger_info.version {
        return Ok(Err(ErrorKind::TransactionNotFound {
            name: TransactionName::Version(version),
            left: None,
        }));
    }
    if version < ledger_info.oldest_version {
        return Ok(Err(ErrorKind::VersionPruned(version)));
    }
    let missing =
        || StoreError::Inconsistent(format!("the transaction of version {version} is missing"));
    let found = snapshot
        .transaction_in_block(version)?
        .ok_or_else(missing)?;
    let committed = CommittedTransaction::from_stored(found.transaction, &found.block);
    Ok(Ok(match format {
        Format::Bcs => LoadedTransaction::Bcs(committed),
        Format::Json => {
            let transaction = committed.content()?;
            let mut tables = TableTypes::default();
            tables.load(chain, snapshot, &transaction.writes, version)?;
            LoadedTransaction::Json(TransactionWithTables::new(&committed, transaction, tables))
        }
    }))
}

async fn render_status(
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
        TransactionStatus::Pending(pending) => cx.answer(
            ledger_info,
            || TransactionJson::pending(cx.chain(), &pending),
            || TransactionBcs::Pending(pending.transaction()),
        ),
        TransactionStatus::Committed(committed) => {
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
            answer(cx, ledger_info, found).await
        }
        TransactionStatus::Pruned { version } => {
            Err(ErrorKind::VersionPruned(version).at(ledger_info))
        }
        TransactionStatus::Removed(reason) => not_found(Some(reason)),
        TransactionStatus::Unknown => not_found(None),
    }
}

/// The types of the tables whose items a transaction changed; asks the store only where there are
/// some that the transaction did not make itself.
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
    let read = move |snapshot: &Snapshot| {
        tables.read(&chain, snapshot, &unknown, version)?;
        Ok(tables)
    };
    let (_, tables) = cx.node().read(read).await?;
    Ok(tables)
}

/// A committed transaction, as far as the form of the answer needs it.
enum LoadedTransaction {
    Json(TransactionWithTables),
    Bcs(CommittedTransaction),
}

/// A committed transaction with what is needed to show it.
struct TransactionWithTables {
    version: u64,
    /// The time of its block, in microseconds since the Unix epoch.
    timestamp_usecs: u64,
    transaction: TransactionContent,
    /// The types of the tables whose items it changed.
    tables: TableTypes,
}

async fn answer(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    found: LoadedTransaction,
) -> Result<LedgerResponse, ApiError> {
    match found {
        LoadedTransaction::Json(shown) => {
            let size_bytes = size_bytes(&shown.transaction);
            let permit = cx.state.large_responses().acquire_for(size_bytes)?;
            let chain = cx.chain().clone();
            large_responses::render(cx.node(), permit, move || {
                shown.answer(&chain, ledger_info, size_bytes)
            })
            .await
        }
        LoadedTransaction::Bcs(committed) => {
            let size_bytes = match (committed.wal_transaction(), committed.stored()) {
                (Some(logged), _) => logged.size_bytes(),
                (None, Some(rows)) => rows.size_bytes(),
                (None, None) => {
                    let transaction = committed.content().map_err(NodeError::from)?;
                    size_bytes(&transaction)
                }
            };
            let permit = cx.state.large_responses().acquire_for(size_bytes)?;
            large_responses::render(cx.node(), permit, move || {
                answer_bcs(ledger_info, &committed, size_bytes)
            })
            .await
        }
    }
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

    fn answer(
        &self,
        chain: &Chain,
        ledger_info: LedgerInfo,
        size_bytes: usize,
    ) -> Result<LedgerResponse, ApiError> {
        let view = CommittedJson {
            version: self.version,
            timestamp_usecs: self.timestamp_usecs,
            executed: &self.transaction,
            tables: &self.tables,
        };
        let view = TransactionJson::committed(chain, view);
        LedgerResponse::json_of_about(ledger_info, &view, large_responses::json_bytes(size_bytes))
    }
}

fn answer_bcs(
    ledger_info: LedgerInfo,
    committed: &CommittedTransaction,
    size_bytes: usize,
) -> Result<LedgerResponse, ApiError> {
    if let Some(logged) = committed.wal_transaction() {
        let body = logged_bytes(committed.version, &logged);
        return Ok(LedgerResponse::bytes(ledger_info, Format::Bcs, body.into()));
    }
    if let Some(rows) = committed.stored() {
        return LedgerResponse::bcs_bytes(ledger_info, on_chain_bytes(rows));
    }
    let transaction = committed.content().map_err(NodeError::from)?;
    let on_chain = OnChainBcs::new(committed.version, &transaction);
    LedgerResponse::bcs_of_about(ledger_info, &TransactionBcs::OnChain(on_chain), size_bytes)
}
