//! A block, with or without its transactions (docs/reference/rest-contract.md#s4-2).

use crate::{
    context::{CacheKey, LedgerResponse, RequestContext, readable_version},
    error::{ApiError, ErrorKind},
    limits::large_responses::{self, LargeResponsePermit, LargeResponses, VALUE_BYTES_MAX},
    model::{
        DecimalText, TableTypes,
        bcs::{ListBcs, block_bytes},
        format::Format,
        json::BlockJson,
    },
};
use ledger_store::{Snapshot, StoreError, StoredTransaction};
use ledger_types::{BlockInfo, ExecutedTransaction, LedgerInfo};
use ledger_vm::Chain;

/// The most transactions of a block in one answer; the reference's number. The first ones are
/// given; a client sees by the last one's version that there are more.
const TRANSACTIONS_MAX: usize = 10_000;

/// What was read of a block.
struct LoadedBlock {
    block: BlockInfo,
    transactions: Option<Transactions>,
    /// How many bytes the rows of the transactions have.
    read_bytes: usize,
    /// Taken where that is large.
    permit: Option<LargeResponsePermit>,
}

/// The transactions of a block, as far as the form of the answer needs them.
enum Transactions {
    Json {
        /// Those of the block's first versions, ascending.
        all: Vec<ExecutedTransaction>,
        /// The types of the tables whose items they changed.
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

    /// Reads the block's transactions. What is read without a place of the large answers is no more than what
    /// a page of a listing reads without one; what that is of all requests is bounded as there.
    fn read_transactions(
        &mut self,
        reader: &Reader,
        snapshot: &Snapshot,
    ) -> Result<Result<(), ErrorKind>, StoreError> {
        let (first, last) = (self.block.first_version, self.block.last_version);
        let mut transactions = Transactions::none_of(reader.format);
        for rows in snapshot.transactions(first..=last)?.take(TRANSACTIONS_MAX) {
            let rows = rows?;
            self.read_bytes += rows.size_bytes();
            transactions.push(&reader.chain, snapshot, &rows)?;
            if self.permit.is_none() {
                match reader.large_responses.acquire_for(self.read_bytes) {
                    Ok(permit) => self.permit = permit,
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

    /// Adds the next one.
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

/// What reading a block needs beside a snapshot.
struct Reader {
    chain: Chain,
    format: Format,
    large_responses: LargeResponses,
}

/// `GET /v1/blocks/by_height/{block_height}`
pub(crate) async fn by_height(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let DecimalText(height) = cx.path("block_height")?;
    let subject = |with_transactions| CacheKey::BlockByHeight {
        height,
        with_transactions,
    };
    answer(&cx, subject, move |snapshot| at_height(snapshot, height)).await
}

/// `GET /v1/blocks/by_version/{version}`
///
/// Responds with the block that contains the version (docs/reference/reference-node.md#r6).
pub(crate) async fn by_version(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let DecimalText(version) = cx.path("version")?;
    let subject = |with_transactions| CacheKey::BlockByVersion {
        version,
        with_transactions,
    };
    answer(&cx, subject, move |snapshot| of_version(snapshot, version)).await
}

/// Answers with the block that `find` finds; `subject` is what the answer shows with or without transactions.
async fn answer<F>(
    cx: &RequestContext,
    subject: impl FnOnce(bool) -> CacheKey,
    find: F,
) -> Result<LedgerResponse, ApiError>
where
    F: FnOnce(&Snapshot) -> Result<Result<BlockInfo, ErrorKind>, StoreError> + Send + 'static,
{
    let with_transactions = cx.query("with_transactions")?.unwrap_or(false);
    let subject = subject(with_transactions);
    if let Some(answer) = cx.kept(subject) {
        return Ok(answer);
    }
    let chain = cx.chain().clone();
    let reader = Reader {
        chain: chain.clone(),
        format: cx.format(),
        large_responses: cx.state.large_responses().clone(),
    };
    let question = move |snapshot: &Snapshot| {
        let mut found = match find(snapshot)? {
            Ok(block) => LoadedBlock::new(block),
            Err(problem) => return Ok(Err(problem)),
        };
        if with_transactions && let Err(problem) = found.read_transactions(&reader, snapshot)? {
            return Ok(Err(problem));
        }
        Ok(Ok(found))
    };
    let format = cx.format();
    let (ledger_info, mut found) = match with_transactions {
        true => cx.read(question).await?,
        false => cx.read_few(question).await?,
    };
    let permit = found.permit.take();
    let first_version = found.block.first_version;
    let answer = large_responses::render(cx.node(), permit, move || {
        render(&chain, format, ledger_info, &found)
    })
    .await?;
    cx.keep(subject, first_version, &answer);
    Ok(answer)
}

fn render(
    chain: &Chain,
    format: Format,
    ledger_info: LedgerInfo,
    found: &LoadedBlock,
) -> Result<LedgerResponse, ApiError> {
    let json = |transactions| {
        // Beside its transactions a block is small.
        const FRAME_BYTES: usize = 512;
        LedgerResponse::json_of_about(
            ledger_info,
            &BlockJson::new(chain, &found.block, transactions),
            FRAME_BYTES + large_responses::json_bytes(found.read_bytes),
        )
    };
    let bcs = |transactions| {
        LedgerResponse::bcs_bytes(ledger_info, block_bytes(&found.block, transactions))
    };
    match &found.transactions {
        Some(Transactions::Json { all, tables }) => json(Some((all, tables))),
        Some(Transactions::Bcs(list)) => bcs(Some(list)),
        None if format == Format::Json => json(None),
        None => bcs(None),
    }
}

fn at_height(snapshot: &Snapshot, height: u64) -> Result<Result<BlockInfo, ErrorKind>, StoreError> {
    let ledger_info = snapshot.ledger_info();
    if height > ledger_info.block_height {
        return Ok(Err(ErrorKind::BlockNotFound(height)));
    }
    if height < ledger_info.oldest_block_height {
        return Ok(Err(ErrorKind::BlockPruned(height)));
    }
    let missing = || StoreError::Inconsistent(format!("block {height} is missing"));
    snapshot.block(height)?.ok_or_else(missing).map(Ok)
}

fn of_version(
    snapshot: &Snapshot,
    version: u64,
) -> Result<Result<BlockInfo, ErrorKind>, StoreError> {
    if let Err(problem) = readable_version(Some(version), snapshot.ledger_info()) {
        return Ok(Err(problem));
    }
    let missing = || StoreError::Inconsistent(format!("the block of version {version} is missing"));
    snapshot
        .block_of_version(version)?
        .ok_or_else(missing)
        .map(Ok)
}
