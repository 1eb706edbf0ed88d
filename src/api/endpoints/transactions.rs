//! One transaction, by hash, by hash with waiting, or by version.

use crate::{
    answer::Answer,
    call::Call,
    error::{ApiError, Problem, TransactionName},
    json::{CommittedJson, TransactionJson},
    wire::{OnChainBcs, TransactionBcs},
};
use ledger::{HashValue, LedgerInfo};
use ledger_actors::{Committed, Lookup};
use ledger_store::{Snapshot, StoreError};

/// `GET /v1/transactions/by_hash/{txn_hash}`
pub(crate) async fn by_hash(call: Call) -> Result<Answer, ApiError> {
    let hash = call.path("txn_hash")?;
    let (ledger_info, lookup) = call.node().transaction_by_hash(hash).await?;
    found(&call, ledger_info, hash, lookup)
}

/// `GET /v1/transactions/wait_by_hash/{txn_hash}`
pub(crate) async fn wait_by_hash(call: Call) -> Result<Answer, ApiError> {
    let hash = call.path("txn_hash")?;
    let (ledger_info, lookup) = call.node().wait_for_commit(hash).await?;
    found(&call, ledger_info, hash, lookup)
}

/// `GET /v1/transactions/by_version/{txn_version}`
pub(crate) async fn by_version(call: Call) -> Result<Answer, ApiError> {
    let version = call.path("txn_version")?;
    let (ledger_info, transaction) = call.read(move |snapshot| at_version(snapshot, version)).await?;
    committed(&call, ledger_info, &transaction)
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

fn found(call: &Call, ledger_info: LedgerInfo, hash: HashValue, lookup: Lookup) -> Result<Answer, ApiError> {
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
        Lookup::Committed(transaction) => committed(call, ledger_info, &transaction),
        Lookup::Pruned { version } => Err(Problem::VersionPruned(version).at(ledger_info)),
        Lookup::Left(reason) => not_found(Some(reason)),
        Lookup::Unknown => not_found(None),
    }
}

fn committed(call: &Call, ledger_info: LedgerInfo, committed: &Committed) -> Result<Answer, ApiError> {
    let executed = committed.transaction();
    let view = CommittedJson {
        version: committed.version,
        timestamp_usecs: committed.block_timestamp_usecs,
        executed,
    };
    call.answer(
        ledger_info,
        || TransactionJson::committed(call.chain(), view),
        || TransactionBcs::OnChain(OnChainBcs::new(committed.version, executed)),
    )
}
