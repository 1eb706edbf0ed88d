//! One transaction, by hash, by hash with waiting, or by version.

use crate::{
    answer::Answer,
    call::Call,
    decimal::Decimal,
    error::{ApiError, Problem, TransactionName},
    format::Format,
    json::{CommittedJson, TransactionJson},
    large::{self, size_bytes},
    tables::TableTypes,
    wire::{OnChainBcs, TransactionBcs},
};
use ledger::{Chain, HashValue, LedgerInfo};
use ledger_actors::{Committed, Lookup};
use ledger_store::{Snapshot, StoreError};

/// `GET /v1/transactions/by_hash/{txn_hash}`
pub(crate) async fn by_hash(call: Call) -> Result<Answer, ApiError> {
    let hash = call.path("txn_hash")?;
    let (ledger_info, lookup) = call.node().transaction_by_hash(hash).await?;
    found(&call, ledger_info, hash, lookup).await
}

/// `GET /v1/transactions/wait_by_hash/{txn_hash}`
pub(crate) async fn wait_by_hash(call: Call) -> Result<Answer, ApiError> {
    let hash = call.path("txn_hash")?;
    let (ledger_info, lookup) = call.node().wait_for_commit(hash).await?;
    found(&call, ledger_info, hash, lookup).await
}

/// `GET /v1/transactions/by_version/{txn_version}`
pub(crate) async fn by_version(call: Call) -> Result<Answer, ApiError> {
    let Decimal(version) = call.path("txn_version")?;
    let chain = call.chain().clone();
    let (ledger_info, (transaction, tables)) = call
        .read_few(move |snapshot| at_version(&chain, snapshot, version))
        .await?;
    committed(&call, ledger_info, transaction, tables).await
}

fn at_version(
    chain: &Chain,
    snapshot: &Snapshot,
    version: u64,
) -> Result<Result<(Committed, TableTypes), Problem>, StoreError> {
    let ledger_info = snapshot.ledger_info();
    if version > ledger_info.version {
        return Ok(Err(Problem::TransactionNotFound {
            name: TransactionName::Version(version),
            left: None,
        }));
    }
    if version < ledger_info.oldest_version {
        return Ok(Err(Problem::VersionPruned(version)));
    }
    let missing = || StoreError::Inconsistent(format!("the transaction of version {version} is missing"));
    let (transaction, block) = snapshot.transaction_in_block(version)?.ok_or_else(missing)?;
    let mut tables = TableTypes::default();
    tables.learn_all(chain, snapshot, &transaction.executed.writes, version)?;
    Ok(Ok((Committed::stored(transaction, &block), tables)))
}

async fn found(
    call: &Call,
    ledger_info: LedgerInfo,
    hash: HashValue,
    lookup: Lookup,
) -> Result<Answer, ApiError> {
    let not_found = |left| {
        let name = TransactionName::Hash(hash);
        Err(Problem::TransactionNotFound { name, left }.at(ledger_info))
    };
    match lookup {
        Lookup::Pending(pending) => call.answer(
            ledger_info,
            || TransactionJson::pending(call.chain(), &pending),
            || TransactionBcs::Pending(pending.transaction()),
        ),
        Lookup::Committed(transaction) => {
            let tables = tables_of(call, &transaction).await?;
            committed(call, ledger_info, transaction, tables).await
        }
        Lookup::Pruned { version } => Err(Problem::VersionPruned(version).at(ledger_info)),
        Lookup::Left(reason) => not_found(Some(reason)),
        Lookup::Unknown => not_found(None),
    }
}

/// The types of the tables whose items a transaction changed; asks the store only where there are
/// some that the transaction did not make itself.
async fn tables_of(call: &Call, committed: &Committed) -> Result<TableTypes, ApiError> {
    let mut tables = TableTypes::default();
    let unknown = tables.learn(call.chain(), &committed.transaction().writes);
    if call.format() == Format::Bcs || unknown.is_empty() {
        return Ok(tables);
    }
    let (chain, version) = (call.chain().clone(), committed.version);
    let read = move |snapshot: &Snapshot| {
        tables.read(&chain, snapshot, &unknown, version)?;
        Ok(tables)
    };
    let (_, tables) = call.node().read(read).await?;
    Ok(tables)
}

async fn committed(
    call: &Call,
    ledger_info: LedgerInfo,
    committed: Committed,
    tables: TableTypes,
) -> Result<Answer, ApiError> {
    let size_bytes = size_bytes(committed.transaction());
    let place = call.state.large_answers().place_for(size_bytes)?;
    let (chain, format) = (call.chain().clone(), call.format());
    large::render(place, move || {
        let (version, executed) = (committed.version, committed.transaction());
        match format {
            Format::Json => {
                let view = CommittedJson {
                    version,
                    timestamp_usecs: committed.block_timestamp_usecs,
                    executed,
                    tables: &tables,
                };
                let view = TransactionJson::committed(&chain, view);
                Answer::json_of_about(ledger_info, &view, large::json_bytes(size_bytes))
            }
            Format::Bcs => {
                let on_chain = OnChainBcs::new(version, executed);
                Answer::bcs(ledger_info, &TransactionBcs::OnChain(on_chain))
            }
        }
    })
    .await
}
