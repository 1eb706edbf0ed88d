//! Lists of committed transactions: of the ledger by version, of an account by sequence number
//! (docs/reference/reference-node.md#r3). Neither list has a cursor: the next page starts one after
//! the last transaction. Unlike on the reference node, a pruned `start` is 410
//! (docs/interface.md#rule-12).

use super::committed_example;
use crate::{
    context::{
        LedgerResponse, QueryError, RequestContext, block_of_version,
        extract::{PageLimit, Parameter, Path, Query},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::{
        self, LargeResponsePermit, LargeResponses, VALUE_BYTES_MAX, size_bytes,
    },
    model::{
        DecimalText, TableTypes,
        bcs::OnChainBcs,
        format::Format,
        json::{CommittedJson, TransactionJson},
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        parameter::u64_text,
        schemas::schema,
    },
    routes::accounts::Address,
};
use ledger_framework::modules::account::Account;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, BlockInfo, ExecutedTransaction, LedgerInfo, StateKey};
use ledger_vm::Chain;
use serde_json::{Value, json};

/// Maximum number of transactions in a page, as on the reference node.
type Limit = PageLimit<25, 100>;

/// Description of [`Limit`].
const LIMIT: &str = "Maximum number of transactions in the page: 25 by default, values above 100 \
                     count as 100. A page of large transactions may have fewer.";

/// Version of the first transaction of a page.
pub(crate) enum StartVersion {}

impl Parameter for StartVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "start";
    const DESCRIPTION: &'static str =
        "Version of the first transaction. Without it, the page contains the newest transactions.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Sequence number of the first transaction of a page.
pub(crate) enum StartSequenceNumber {}

impl Parameter for StartSequenceNumber {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "start";
    const DESCRIPTION: &'static str = "Sequence number of the first transaction. Without it, the \
                                       page contains the newest transactions.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Adds the body and the links of a page.
fn with_page(success: Success) -> Success {
    success
        .json(
            schema::<Vec<TransactionJson<'static>>>(),
            json!([committed_example()]),
        )
        .bcs("BCS vector of committed transactions.")
        .link(
            "first_by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        )
        .link(
            "first_by_hash",
            "get_transaction_by_hash",
            &[("txn_hash", "$response.body#/0/hash")],
        )
        .link(
            "block_of_first",
            "get_block_by_version",
            &[("version", "$response.body#/0/version")],
        )
}

/// Handles `GET /v1/transactions`.
///
/// Lists transactions from version `start`, or the newest ones without `start`, in ascending order.
pub(crate) async fn transactions(
    cx: RequestContext,
    Query(start): Query<StartVersion>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let start = start.map(|DecimalText(start)| start);
    let reader = Reader::for_request(&cx);
    let (ledger_info, listing) = cx
        .read(move |snapshot| {
            let ledger_info = snapshot.ledger_info();
            let (oldest, newest) = (ledger_info.oldest_version, ledger_info.version);
            match start {
                Some(start) => {
                    check_start(start, ledger_info)?;
                    reader.read(snapshot, (start..=newest).take(limit))
                }
                None => reader.read_descending(snapshot, (oldest..=newest).rev().take(limit)),
            }
        })
        .await?;
    listing.respond(&cx, ledger_info).await
}

/// Describes [`transactions`].
pub(crate) fn describe_transactions() -> Operation {
    Operation::new(
        "get_transactions",
        Tag::Transactions,
        "List committed transactions",
        "Lists transactions in ascending order of version. There is no cursor: `start` of the next \
         page is the last version plus one.",
    )
    .parameter(Query::<StartVersion>::describe())
    .parameter(Limit::describe(LIMIT))
    .success(with_page(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start` is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start` is below the oldest readable version.",
        ),
    ])
}

/// Handles `GET /v1/accounts/{address}/transactions`.
///
/// Lists transactions from sequence number `start`, or the newest ones without `start`, in
/// ascending order. Orderless transactions have no sequence number and are not listed. The list of
/// an account that does not exist is empty.
pub(crate) async fn of_account(
    cx: RequestContext,
    Path(address): Path<Address>,
    Query(start): Query<StartSequenceNumber>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let start = start.map(|DecimalText(start)| start);
    let reader = Reader::for_request(&cx);
    let (ledger_info, listing) = cx
        .read(move |snapshot| {
            if let Some(start) = start {
                let end = first_readable_sequence_number(&reader.chain, snapshot, &address)?;
                if start < end {
                    return Err(ErrorKind::AccountTransactionPruned { start, end }.into());
                }
            }
            let versions = snapshot
                .account_transactions(&address, start, limit)?
                .into_iter();
            match start {
                Some(_) => reader.read(snapshot, versions),
                None => reader.read_descending(snapshot, versions.rev()),
            }
        })
        .await?;
    listing.respond(&cx, ledger_info).await
}

/// Describes [`of_account`].
pub(crate) fn describe_of_account() -> Operation {
    Operation::new(
        "get_account_transactions",
        Tag::Accounts,
        "List transactions of an account by sequence number",
        "Lists committed transactions that the account sent, in ascending order of sequence \
         number. Orderless transactions have no sequence number and are not listed. Summaries list \
         both kinds. There is no cursor: `start` of the next page is the last sequence number plus \
         one.",
    )
    .parameter(Path::<Address>::describe())
    .parameter(Query::<StartSequenceNumber>::describe())
    .parameter(Limit::describe(LIMIT))
    .success(with_page(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[error(
        StatusCode::GONE,
        ErrorCode::VersionPruned,
        "`start` is below the first readable transaction of the account.",
    )])
}

/// Checks that the first version of a page is readable.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] above the newest version, with the message of the reference
/// node, and [`ErrorKind::VersionPruned`] below the oldest version.
pub(crate) fn check_start(start: u64, ledger_info: &LedgerInfo) -> Result<(), ErrorKind> {
    if start > ledger_info.version {
        let bound = u128::from(ledger_info.version) + 1;
        return Err(ErrorKind::InvalidInput(format!(
            "Given start value ({start}) is higher than the current ledger version, it must be < \
             {bound}"
        )));
    }
    if start < ledger_info.oldest_version {
        return Err(ErrorKind::VersionPruned(start));
    }
    Ok(())
}

/// Returns the first sequence number of an account that is not pruned, or its next one if all are
/// pruned.
fn first_readable_sequence_number(
    chain: &Chain,
    snapshot: &Snapshot,
    address: &AccountAddress,
) -> Result<u64, StoreError> {
    if let Some(first) = snapshot.first_account_transaction(address)? {
        return Ok(first);
    }
    let key = StateKey::resource(address, &chain.registry().tag_of::<Account>(&[]));
    let Some(bytes) = snapshot.state_value(&key, snapshot.ledger_info().version)? else {
        return Ok(0);
    };
    let account: Account = bcs::from_bytes(&bytes)
        .map_err(|cause| StoreError::Inconsistent(format!("the account {address}: {cause}")))?;
    Ok(account.sequence_number)
}

/// Transactions, with the data that their JSON needs.
struct Listing {
    transactions: Vec<Listed>,
    /// Types of the tables whose items the transactions changed, for a response in JSON.
    tables: TableTypes,
    /// Approximate size of the transactions, in bytes.
    read_bytes: usize,
    /// Present if the transactions are large.
    permit: Option<LargeResponsePermit>,
}

/// A transaction with the time of its block, in microseconds since the Unix epoch.
struct Listed {
    version: u64,
    executed: ExecutedTransaction,
    timestamp_usecs: u64,
}

impl Listing {
    async fn respond(
        self,
        cx: &RequestContext,
        ledger_info: LedgerInfo,
    ) -> Result<LedgerResponse, ApiError> {
        let Self {
            transactions,
            tables,
            read_bytes,
            permit,
        } = self;
        let (chain, format) = (cx.chain().clone(), cx.format());
        large_responses::render(cx.node(), permit, move || match format {
            Format::Json => {
                let committed = transactions.iter().map(|listed| CommittedJson {
                    version: listed.version,
                    timestamp_usecs: listed.timestamp_usecs,
                    executed: &listed.executed,
                    tables: &tables,
                });
                let views = TransactionJson::all_committed(&chain, committed);
                LedgerResponse::json_of_about(
                    ledger_info,
                    &views,
                    large_responses::json_bytes(read_bytes),
                )
            }
            Format::Bcs => {
                let views = transactions
                    .iter()
                    .map(|listed| OnChainBcs::new(listed.version, &listed.executed));
                LedgerResponse::bcs(ledger_info, &views.collect::<Vec<_>>())
            }
        })
        .await
    }
}

/// The context of reads of a list from a snapshot.
struct Reader {
    chain: Chain,
    format: Format,
    large_responses: LargeResponses,
}

impl Reader {
    fn for_request(cx: &RequestContext) -> Self {
        Self {
            chain: cx.chain().clone(),
            format: cx.format(),
            large_responses: cx.state.large_responses.clone(),
        }
    }

    /// Reads the transactions of `versions`, which must be readable. Stops after the transaction
    /// that reaches [`VALUE_BYTES_MAX`], as if the limit were lower. The next page starts after the
    /// last transaction of this one.
    fn read(
        &self,
        snapshot: &Snapshot,
        versions: impl Iterator<Item = u64>,
    ) -> Result<Listing, QueryError> {
        let mut listing = Listing {
            transactions: Vec::new(),
            tables: TableTypes::default(),
            read_bytes: 0,
            permit: None,
        };
        // Cached, because adjacent transactions are mostly in one block.
        let mut last_block: Option<BlockInfo> = None;
        for version in versions {
            let missing = || {
                StoreError::Inconsistent(format!("the transaction of version {version} is missing"))
            };
            let executed = snapshot
                .transaction(version)?
                .ok_or_else(missing)?
                .decode()?;
            let block = match last_block.take() {
                Some(block) if (block.first_version..=block.last_version).contains(&version) => {
                    block
                }
                _ => block_of_version(snapshot, version)?,
            };
            let block = last_block.insert(block);
            if self.format == Format::Json {
                let writes = &executed.writes;
                listing
                    .tables
                    .load(&self.chain, snapshot, writes, version)?;
            }
            listing.read_bytes += size_bytes(&executed);
            listing.transactions.push(Listed {
                version,
                executed,
                timestamp_usecs: block.header.timestamp_usecs,
            });
            if listing.permit.is_none() {
                listing.permit = self.large_responses.acquire_for(listing.read_bytes)?;
            }
            if listing.read_bytes >= VALUE_BYTES_MAX {
                break;
            }
        }
        Ok(listing)
    }

    /// Reads like [`Self::read`], but in descending order of version, so that a shorter page still
    /// ends with the newest transaction. The page is ascending.
    fn read_descending(
        &self,
        snapshot: &Snapshot,
        descending: impl Iterator<Item = u64>,
    ) -> Result<Listing, QueryError> {
        let mut listing = self.read(snapshot, descending)?;
        listing.transactions.reverse();
        Ok(listing)
    }
}
