//! Lists of committed transactions: of the ledger by version, of an account by sequence number
//! (docs/reference/reference-node.md#r3). Neither list has a cursor: the next page starts one after
//! the last transaction. Unlike on the reference node, a pruned `start` is 410
//! (docs/use/interface.md#pruned-reads).

use super::{committed_example, page::TransactionPage};
use crate::{
    context::{
        LedgerResponse, PartOrder, RequestContext,
        extract::{PageLimit, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{DecimalText, json::TransactionJson},
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
use ledger_types::{AccountAddress, LedgerInfo, StateKey};
use ledger_vm::Chain;
use serde_json::{Value, json};

/// Maximum number of transactions in a page, as on the reference node.
type Limit = PageLimit<25, 100>;

/// Description of [`Limit`].
const LIMIT: &str = "Number of transactions in the page: 25 by default, values above 100 count as \
                     100. A page has fewer only if the list ends.";

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
    QueryParameter(start): QueryParameter<StartVersion>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let start = start.map(|DecimalText(start)| start);
    let page = TransactionPage::new(&cx, PartOrder::of_start(start));
    page.respond(&cx, move |_, snapshot| {
        let ledger_info = snapshot.ledger_info();
        let (oldest, newest) = (ledger_info.oldest_version, ledger_info.version);
        Ok(match start {
            Some(start) => {
                check_start(start, ledger_info)?;
                (start..=newest).take(limit).collect()
            }
            None => {
                let before = newest.saturating_sub(limit as u64 - 1);
                (before.max(oldest)..=newest).collect()
            }
        })
    })
    .await
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
    .parameter(QueryParameter::<StartVersion>::describe())
    .parameter(Limit::describe(LIMIT))
    .success(with_page(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(errors::PAGE)
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
    QueryParameter(start): QueryParameter<StartSequenceNumber>,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let start = start.map(|DecimalText(start)| start);
    let page = TransactionPage::new(&cx, PartOrder::of_start(start));
    page.respond(&cx, move |chain, snapshot| {
        if let Some(start) = start {
            let end = first_readable_sequence_number(chain, snapshot, &address)?;
            if start < end {
                return Err(ErrorKind::AccountTransactionPruned { start, end }.into());
            }
        }
        let versions = snapshot.account_transactions(&address, start, limit)?;
        Ok(versions.into())
    })
    .await
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
    .parameter(QueryParameter::<StartSequenceNumber>::describe())
    .parameter(Limit::describe(LIMIT))
    .success(with_page(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(errors::PAGE)
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
