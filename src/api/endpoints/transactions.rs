//! One transaction, by hash, by hash with waiting, or by version.

use crate::{
    answer::Answer,
    call::Call,
    decimal::Decimal,
    error::{ApiError, Problem, TransactionName},
    format::Format,
    json::{CommittedJson, TransactionJson},
    large::{self, size_bytes},
    wire::{OnChainBcs, TransactionBcs},
};
use ledger::{HashValue, LedgerInfo};
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
    let (ledger_info, transaction) = call.read(move |snapshot| at_version(snapshot, version)).await?;
    committed(&call, ledger_info, transaction).await
}

fn at_version(snapshot: &Snapshot, version: u64) -> Result<Result<Committed, Problem>, StoreError> {
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
    let missing = |what: &str| StoreError::Inconsistent(format!("{what} of version {version} is missing"));
    let transaction = snapshot
        .transaction(version)?
        .ok_or_else(|| missing("the transaction"))?;
    let block = snapshot
        .block_of_version(version)?
        .ok_or_else(|| missing("the block"))?;
    Ok(Ok(Committed::stored(transaction, &block)))
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
        Lookup::Committed(transaction) => committed(call, ledger_info, transaction).await,
        Lookup::Pruned { version } => Err(Problem::VersionPruned(version).at(ledger_info)),
        Lookup::Left(reason) => not_found(Some(reason)),
        Lookup::Unknown => not_found(None),
    }
}

async fn committed(call: &Call, ledger_info: LedgerInfo, committed: Committed) -> Result<Answer, ApiError> {
    let place = call
        .state
        .large_answers()
        .place_for(size_bytes(committed.transaction()))?;
    let (chain, format) = (call.chain().clone(), call.format());
    large::render(place, move || {
        let (version, executed) = (committed.version, committed.transaction());
        match format {
            Format::Json => {
                let view = CommittedJson {
                    version,
                    timestamp_usecs: committed.block_timestamp_usecs,
                    executed,
                };
                Answer::json(ledger_info, &TransactionJson::committed(&chain, view))
            }
            Format::Bcs => {
                let on_chain = OnChainBcs::new(version, executed);
                Answer::bcs(ledger_info, &TransactionBcs::OnChain(on_chain))
            }
        }
    })
    .await
}
