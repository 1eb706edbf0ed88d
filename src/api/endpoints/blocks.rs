//! A block, with or without its transactions (interface section 4.2).

use crate::{
    answer::Answer,
    call::{Call, readable_version},
    decimal::Decimal,
    error::{ApiError, Problem},
    format::Format,
    json::BlockJson,
    large::{self, VALUE_BYTES_MAX, size_bytes},
    tables::TableTypes,
    wire::BlockBcs,
};
use ledger::{BlockInfo, Chain, LedgerInfo};
use ledger_store::{Snapshot, StoreError, StoredTransaction};

/// The most transactions of a block in one answer; the reference's number. The first ones are
/// given; a client sees by the last one's version that there are more.
const TRANSACTIONS_MAX: usize = 10_000;

/// What was read of a block.
struct Found {
    block: BlockInfo,
    transactions: Option<Vec<StoredTransaction>>,
    /// The types of the tables whose items the transactions changed, where they are shown.
    tables: TableTypes,
}

impl Found {
    fn read(snapshot: &Snapshot, block: BlockInfo, with_transactions: bool) -> Result<Self, StoreError> {
        let transactions = if with_transactions {
            Some(transactions_of(snapshot, &block)?)
        } else {
            None
        };
        Ok(Self {
            block,
            transactions,
            tables: TableTypes::default(),
        })
    }

    fn learn_tables(&mut self, chain: &Chain, snapshot: &Snapshot) -> Result<(), StoreError> {
        for StoredTransaction { version, executed } in self.transactions.iter().flatten() {
            self.tables
                .learn_all(chain, snapshot, &executed.writes, *version)?;
        }
        Ok(())
    }
}

/// `GET /v1/blocks/by_height/{block_height}`
pub(crate) async fn by_height(call: Call) -> Result<Answer, ApiError> {
    let Decimal(height) = call.path("block_height")?;
    answer(&call, move |snapshot| at_height(snapshot, height)).await
}

/// `GET /v1/blocks/by_version/{version}`: the block that holds a version (rest-behaviour section 1).
pub(crate) async fn by_version(call: Call) -> Result<Answer, ApiError> {
    let Decimal(version) = call.path("version")?;
    answer(&call, move |snapshot| of_version(snapshot, version)).await
}

/// Answers with the block that `find` finds.
async fn answer<F>(call: &Call, find: F) -> Result<Answer, ApiError>
where
    F: FnOnce(&Snapshot) -> Result<Result<BlockInfo, Problem>, StoreError> + Send + 'static,
{
    let with_transactions = call.query("with_transactions")?.unwrap_or(false);
    let place = if with_transactions {
        Some(call.state.large_answers().place()?)
    } else {
        None
    };
    let (chain, format) = (call.chain().clone(), call.format());
    let reading = chain.clone();
    let (ledger_info, (found, place)) = call
        .read(move |snapshot| {
            let block = match find(snapshot)? {
                Ok(block) => block,
                Err(problem) => return Ok(Err(problem)),
            };
            let mut found = Found::read(snapshot, block, with_transactions)?;
            if format == Format::Json {
                found.learn_tables(&reading, snapshot)?;
            }
            Ok(Ok((found, place)))
        })
        .await?;
    large::render(place, move || render(&chain, format, ledger_info, &found)).await
}

fn render(chain: &Chain, format: Format, ledger_info: LedgerInfo, found: &Found) -> Result<Answer, ApiError> {
    let transactions = found.transactions.as_deref();
    match format {
        Format::Json => Answer::json(
            ledger_info,
            &BlockJson::new(chain, &found.block, transactions, &found.tables),
        ),
        Format::Bcs => Answer::bcs(ledger_info, &BlockBcs::new(&found.block, transactions)),
    }
}

fn at_height(snapshot: &Snapshot, height: u64) -> Result<Result<BlockInfo, Problem>, StoreError> {
    let ledger_info = snapshot.ledger_info();
    if height > ledger_info.block_height {
        return Ok(Err(Problem::BlockNotFound(height)));
    }
    if height < ledger_info.oldest_block_height {
        return Ok(Err(Problem::BlockPruned(height)));
    }
    let missing = || StoreError::Inconsistent(format!("block {height} is missing"));
    snapshot.block(height)?.ok_or_else(missing).map(Ok)
}

fn of_version(snapshot: &Snapshot, version: u64) -> Result<Result<BlockInfo, Problem>, StoreError> {
    if let Err(problem) = readable_version(Some(version), snapshot.ledger_info()) {
        return Ok(Err(problem));
    }
    let missing = || StoreError::Inconsistent(format!("the block of version {version} is missing"));
    snapshot.block_of_version(version)?.ok_or_else(missing).map(Ok)
}

fn transactions_of(snapshot: &Snapshot, block: &BlockInfo) -> Result<Vec<StoredTransaction>, StoreError> {
    let mut transactions = Vec::new();
    let mut bytes = 0;
    for version in (block.first_version..=block.last_version).take(TRANSACTIONS_MAX) {
        let missing = || StoreError::Inconsistent(format!("the transaction of version {version} is missing"));
        let transaction = snapshot.transaction(version)?.ok_or_else(missing)?;
        bytes += size_bytes(&transaction.executed);
        transactions.push(transaction);
        if bytes >= VALUE_BYTES_MAX {
            break;
        }
    }
    Ok(transactions)
}
