//! Pages of committed transactions, which are read and rendered in parts.

use crate::{
    context::{LedgerResponse, PageBody, PartOrder, QueryError, RequestContext, block_of_version},
    error::{ApiError, ErrorKind},
    limits::large_responses::{PART_BYTES_MAX, PART_DEMAND, VALUE_BYTES_MAX, values_bytes},
    model::{
        TableTypes,
        bcs::write_rows,
        format::Format,
        json::{CommittedJson, TransactionJson},
    },
};
use ledger_limits::WorkKind;
use ledger_store::{Snapshot, StoreError, StoredTransaction};
use ledger_types::{BlockInfo, ExecutedTransaction, LedgerInfo};
use ledger_vm::Chain;
use std::collections::VecDeque;

/// A page of transactions that is being made.
pub(crate) struct TransactionPage {
    chain: Chain,
    /// Versions of the transactions that are not read yet, ascending.
    versions: VecDeque<u64>,
    /// Whether the page may end before its last version.
    may_be_short: bool,
    /// The error if a transaction is pruned before it is read, [`ErrorKind::VersionPruned`] by
    /// default.
    pruned: Option<ErrorKind>,
    /// Size of the rows of all parts, in bytes.
    read_bytes: usize,
    body: PageBody,
}

/// Transactions in ascending order, in the form that the format of the response needs.
enum Part {
    Json {
        transactions: Vec<Listed>,
        /// Types of the tables whose items the transactions changed.
        tables: TableTypes,
    },
    Bcs(Vec<StoredTransaction>),
}

/// A transaction with the time of its block, in microseconds since the Unix epoch.
struct Listed {
    version: u64,
    executed: ExecutedTransaction,
    timestamp_usecs: u64,
}

/// A part of a page, with the rest of the page.
pub(crate) struct ReadPart {
    page: TransactionPage,
    part: Part,
    /// Size of the rows of the part, in bytes.
    read_bytes: usize,
}

impl TransactionPage {
    /// Creates a page whose parts are made in this order.
    pub fn new(cx: &RequestContext, order: PartOrder) -> Self {
        Self {
            chain: cx.chain().clone(),
            versions: VecDeque::new(),
            may_be_short: false,
            pruned: None,
            read_bytes: 0,
            body: cx.page_body(order),
        }
    }

    /// Creates the page of a block. It ends with the transaction that reaches [`VALUE_BYTES_MAX`],
    /// or with the part that exceeds the maximum size of a page. `pruned` is the error if a
    /// transaction is pruned before it is read.
    pub fn of_block(cx: &RequestContext, pruned: ErrorKind) -> Self {
        Self {
            may_be_short: true,
            pruned: Some(pruned),
            ..Self::new(cx, PartOrder::Ascending)
        }
    }

    /// Responds with the list of the transactions of the versions that `find` returns. They must be
    /// readable and ascending.
    ///
    /// # Errors
    ///
    /// Returns the error of `find` and the errors of [`Self::make`].
    pub async fn respond<F>(self, cx: &RequestContext, find: F) -> Result<LedgerResponse, ApiError>
    where
        F: FnOnce(&Chain, &Snapshot) -> Result<VecDeque<u64>, QueryError> + Send + 'static,
    {
        let (ledger_info, first) = cx
            .read(WorkKind::Page, PART_DEMAND, move |snapshot| {
                let versions = find(&self.chain, snapshot)?;
                self.begin(snapshot, versions)
            })
            .await?;
        let body = Self::make(cx, ledger_info, first).await?;
        body.respond(ledger_info)
    }

    /// Reads the first part of a page of `versions`.
    pub fn begin(
        mut self,
        snapshot: &Snapshot,
        versions: VecDeque<u64>,
    ) -> Result<ReadPart, QueryError> {
        self.versions = versions;
        self.read_part(snapshot)
    }

    /// Returns the body of the page that begins with the part `first`.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if the page is too large and may not be short,
    /// [`ErrorKind::VersionPruned`] or the error of [`Self::of_block`] if a transaction is pruned
    /// before it is read, and [`ErrorKind::Overloaded`] if the budget has no capacity.
    pub async fn make(
        cx: &RequestContext,
        ledger_info: LedgerInfo,
        first: ReadPart,
    ) -> Result<PageBody, ApiError> {
        let mut next = first;
        let mut is_first = true;
        loop {
            let mut page = cx
                .render_part(is_first, next.read_bytes, move || {
                    next.render().map_err(|error| error.at(ledger_info))
                })
                .await?;
            if page.versions.is_empty() {
                return Ok(page.body);
            }
            if is_first {
                let further_bytes = page.body.further_bytes(page.versions.len());
                cx.reserve(ledger_info, &mut page.body.writer, further_bytes)
                    .await?;
            }
            is_first = false;
            (_, next) = cx
                .read_next(move |snapshot| page.read_part(snapshot))
                .await?;
        }
    }

    /// Reads the next transactions, up to the one that reaches [`PART_BYTES_MAX`].
    fn read_part(mut self, snapshot: &Snapshot) -> Result<ReadPart, QueryError> {
        let oldest = snapshot.ledger_info().oldest_version;
        if let Some(version) = self.versions.front().filter(|first| **first < oldest) {
            let pruned = self.pruned.unwrap_or(ErrorKind::VersionPruned(*version));
            return Err(pruned.into());
        }
        let mut part = Part::none_of(self.body.format);
        let mut read_bytes = 0;
        // Cached, because adjacent transactions are mostly in one block.
        let mut block = None;
        let mut rows = self.rows(snapshot)?;
        while read_bytes < PART_BYTES_MAX && !self.is_short() {
            let Some(stored) = rows.next() else { break };
            let stored = stored?;
            match self.body.order {
                PartOrder::Ascending => self.versions.pop_front(),
                PartOrder::Descending => self.versions.pop_back(),
            };
            read_bytes += stored.size_bytes();
            self.read_bytes += stored.size_bytes();
            self.push(&mut part, snapshot, stored, &mut block)?;
        }
        drop(rows);
        if self.body.order == PartOrder::Descending {
            part.reverse();
        }
        Ok(ReadPart {
            page: self,
            part,
            read_bytes,
        })
    }

    /// Returns whether the page ends before its last version.
    fn is_short(&self) -> bool {
        self.may_be_short && (self.read_bytes >= VALUE_BYTES_MAX || self.body.is_full())
    }

    /// Returns the rows of the transactions that are not read yet, in the order of the parts.
    fn rows(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Box<dyn Iterator<Item = Result<StoredTransaction, StoreError>>>, StoreError> {
        let (Some(first), Some(last)) = (self.versions.front(), self.versions.back()) else {
            return Ok(Box::new(std::iter::empty()));
        };
        let is_ascending = self.body.order == PartOrder::Ascending;
        if is_ascending && last - first == self.versions.len() as u64 - 1 {
            // A scan is cheaper than a search per version.
            return Ok(Box::new(snapshot.transactions(*first..=*last)?));
        }
        let versions = self.versions.clone().into_iter();
        let snapshot = snapshot.clone();
        let read = move |version| {
            let missing = || {
                StoreError::Inconsistent(format!("the transaction of version {version} is missing"))
            };
            snapshot.transaction(version)?.ok_or_else(missing)
        };
        Ok(match is_ascending {
            true => Box::new(versions.map(read)),
            false => Box::new(versions.rev().map(read)),
        })
    }

    /// Adds a transaction to a part. `block` is that of the transaction before.
    fn push(
        &mut self,
        part: &mut Part,
        snapshot: &Snapshot,
        stored: StoredTransaction,
        block: &mut Option<BlockInfo>,
    ) -> Result<(), QueryError> {
        let (version, size_bytes) = (stored.version(), stored.size_bytes());
        match part {
            Part::Bcs(rows) => {
                self.body.writer.lease_values(size_bytes)?;
                rows.push(stored);
            }
            Part::Json {
                transactions,
                tables,
            } => {
                self.body.writer.lease_values(values_bytes(size_bytes))?;
                let executed = stored.decode()?;
                tables.load(&self.chain, snapshot, &executed.writes, version)?;
                let is_in = |block: &BlockInfo| {
                    (block.first_version..=block.last_version).contains(&version)
                };
                let block = match block.take_if(|block| is_in(block)) {
                    Some(known) => block.insert(known),
                    None => block.insert(block_of_version(snapshot, version)?),
                };
                transactions.push(Listed {
                    version,
                    executed,
                    timestamp_usecs: block.header.timestamp_usecs,
                });
            }
        }
        Ok(())
    }
}

impl Part {
    fn none_of(format: Format) -> Self {
        match format {
            Format::Json => Self::Json {
                transactions: Vec::new(),
                tables: TableTypes::default(),
            },
            Format::Bcs => Self::Bcs(Vec::new()),
        }
    }

    fn reverse(&mut self) {
        match self {
            Self::Json { transactions, .. } => transactions.reverse(),
            Self::Bcs(rows) => rows.reverse(),
        }
    }
}

impl ReadPart {
    /// Renders the part, drops it, and returns the rest of the page.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`TransactionPage::make`].
    fn render(self) -> Result<TransactionPage, ErrorKind> {
        let Self { mut page, part, .. } = self;
        match &part {
            Part::Json {
                transactions,
                tables,
            } => {
                let committed = transactions.iter().map(|listed| CommittedJson {
                    version: listed.version,
                    timestamp_usecs: listed.timestamp_usecs,
                    executed: &listed.executed,
                    tables,
                });
                let views = TransactionJson::all_committed(&page.chain, committed);
                page.body.push_json(views.into_iter())?;
            }
            Part::Bcs(rows) => page.body.push_part(rows.iter(), |writer, rows| {
                writer.write_bcs_with(|writer| write_rows(writer, rows))
            })?,
        }
        drop(part);
        page.body.writer.release_values();
        if page.is_short() {
            page.versions.clear();
        }
        if !page.may_be_short {
            page.body.check_size()?;
        }
        Ok(page)
    }
}
