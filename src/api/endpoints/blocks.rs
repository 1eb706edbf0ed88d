//! A block, with or without its transactions (interface section 4.2).

use crate::{
    answer::Answer,
    call::{Call, readable_version},
    decimal::Decimal,
    error::{ApiError, Problem},
    format::Format,
    json::BlockJson,
    large::{self, LargeAnswerPlace, LargeAnswers, VALUE_BYTES_MAX, size_bytes},
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
    /// About how many bytes the transactions hold.
    read_bytes: usize,
    /// Taken where that is large.
    place: Option<LargeAnswerPlace>,
}

impl Found {
    fn new(block: BlockInfo) -> Self {
        Self {
            block,
            transactions: None,
            tables: TableTypes::default(),
            read_bytes: 0,
            place: None,
        }
    }

    /// Reads the block's transactions. What is read without a place of the large answers is no more than what
    /// a page of a listing reads without one; what that is of all requests is bounded as there.
    fn read_transactions(
        &mut self,
        snapshot: &Snapshot,
        places: &LargeAnswers,
    ) -> Result<Result<(), Problem>, StoreError> {
        let (first, last) = (self.block.first_version, self.block.last_version);
        let mut transactions = Vec::new();
        for transaction in snapshot.transactions(first..=last)?.take(TRANSACTIONS_MAX) {
            let transaction = transaction?;
            self.read_bytes += size_bytes(&transaction.executed);
            transactions.push(transaction);
            if self.place.is_none() {
                match places.place_for(self.read_bytes) {
                    Ok(place) => self.place = place,
                    Err(problem) => return Ok(Err(problem)),
                }
            }
            if self.read_bytes >= VALUE_BYTES_MAX {
                break;
            }
        }
        self.transactions = Some(transactions);
        Ok(Ok(()))
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
    let (chain, format) = (call.chain().clone(), call.format());
    let (reading, places) = (chain.clone(), call.state.large_answers().clone());
    let question = move |snapshot: &Snapshot| {
        let mut found = match find(snapshot)? {
            Ok(block) => Found::new(block),
            Err(problem) => return Ok(Err(problem)),
        };
        if with_transactions && let Err(problem) = found.read_transactions(snapshot, &places)? {
            return Ok(Err(problem));
        }
        if format == Format::Json {
            found.learn_tables(&reading, snapshot)?;
        }
        Ok(Ok(found))
    };
    let (ledger_info, mut found) = match with_transactions {
        true => call.read(question).await?,
        false => call.read_few(question).await?,
    };
    let place = found.place.take();
    large::render(place, move || render(&chain, format, ledger_info, &found)).await
}

fn render(chain: &Chain, format: Format, ledger_info: LedgerInfo, found: &Found) -> Result<Answer, ApiError> {
    let transactions = found.transactions.as_deref();
    match format {
        Format::Json => {
            // Beside its transactions a block is small.
            const FRAME_BYTES: usize = 512;
            Answer::json_of_about(
                ledger_info,
                &BlockJson::new(chain, &found.block, transactions, &found.tables),
                FRAME_BYTES + large::json_bytes(found.read_bytes),
            )
        }
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
