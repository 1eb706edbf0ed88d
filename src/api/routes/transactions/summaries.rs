//! Summaries of an account's committed transactions, both with sequence numbers and orderless, in
//! ascending order of version (docs/reference/rest-contract.md#s4-6).

use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{Combine, PageLimit, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    model::{DecimalText, bcs::SummaryBcs, json::SummaryJson},
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success, Tag},
        parameter::u64_text,
        schemas::schema,
    },
    routes::accounts::Address,
};
use ledger_limits::{Demand, WorkKind};
use ledger_store::PageEnd;
use ledger_types::LedgerInfo;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Maximum number of summaries in a page, as on the reference node.
type Limit = PageLimit<100, 100>;

/// Lowest version of a page.
pub(crate) enum LowestVersion {}

impl Parameter for LowestVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "start_version";
    const DESCRIPTION: &'static str = "Lowest version of the page, inclusive.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Highest version of a page.
pub(crate) enum HighestVersion {}

impl Parameter for HighestVersion {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "end_version";
    const DESCRIPTION: &'static str = "Highest version of the page, inclusive. It may be above the \
                                       newest version.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("1000000");
}

/// Handles `GET /v1/accounts/{address}/transaction_summaries`.
///
/// Responds with an empty list for an account that does not exist.
pub(crate) async fn summaries(
    cx: RequestContext,
    Path(address): Path<Address>,
    bounds: Bounds,
    PageLimit(limit): Limit,
) -> Result<LedgerResponse, ApiError> {
    let (ledger_info, summaries) = cx
        .read(WorkKind::Page, Demand::rows(limit), move |snapshot| {
            bounds.check(snapshot.ledger_info())?;
            let (versions, take) = bounds.page();
            Ok(snapshot.transaction_summaries(&address, versions, take, limit)?)
        })
        .await?;
    cx.respond(
        ledger_info,
        || summaries.iter().map(SummaryJson::from).collect::<Vec<_>>(),
        || summaries.iter().map(SummaryBcs::from).collect::<Vec<_>>(),
    )
}

/// Describes [`summaries`].
pub(crate) fn describe_summaries() -> Operation {
    let example = json!([{
        "sender": "0x5",
        "version": "5",
        "transaction_hash": format!("0x{:064x}", 0xa),
        "replay_protector": {"type": "sequence_number", "sequence_number": "0"},
    }]);
    let success = Success::ok("The summaries.")
        .json(schema::<Vec<SummaryJson>>(), example)
        .bcs("BCS vector of enums with one variant, which has the same members.")
        .link(
            "first_by_hash",
            "get_transaction_by_hash",
            &[("txn_hash", "$response.body#/0/transaction_hash")],
        )
        .link(
            "first_by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        );
    Operation::new(
        "get_account_transaction_summaries",
        Tag::Accounts,
        "List transaction summaries of an account",
        "Lists committed transactions that the account sent, both with sequence numbers and \
         orderless, in ascending order of version. If both bounds are given, both apply. Without \
         `start_version`, the page contains the newest transactions up to `end_version`.",
    )
    .parameter(Path::<Address>::describe())
    .parameter(QueryParameter::<LowestVersion>::describe())
    .parameter(QueryParameter::<HighestVersion>::describe())
    .parameter(Limit::describe(
        "Maximum number of summaries in the page: 100 by default, higher values count as 100.",
    ))
    .success(success)
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start_version` is above `end_version`.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "A bound is below the oldest readable version.",
        ),
    ])
}

/// Inclusive bounds of the versions of a page of summaries
/// (docs/use/interface.md#bounds-of-summaries).
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    start: Option<u64>,
    end: Option<u64>,
}

impl Combine for Bounds {
    type Parts = (
        QueryParameter<LowestVersion>,
        QueryParameter<HighestVersion>,
    );

    fn combine(
        (QueryParameter(start), QueryParameter(end)): Self::Parts,
    ) -> Result<Self, ErrorKind> {
        let version = |DecimalText(version)| version;
        match (start.map(version), end.map(version)) {
            (Some(start), Some(end)) if start > end => Err(ErrorKind::InvalidInput(format!(
                "Given start version ({start}) is higher than the given end version ({end})"
            ))),
            (start, end) => Ok(Self { start, end }),
        }
    }
}

impl Bounds {
    /// Checks that no bound is pruned. A bound above the newest version is valid.
    fn check(self, ledger_info: &LedgerInfo) -> Result<(), ErrorKind> {
        let mut given = self.start.into_iter().chain(self.end);
        match given.find(|version| *version < ledger_info.oldest_version) {
            Some(pruned) => Err(ErrorKind::VersionPruned(pruned)),
            None => Ok(()),
        }
    }

    /// Returns the range of versions, and the end of the range at which the page starts.
    fn page(self) -> (RangeInclusive<u64>, PageEnd) {
        let take = if self.start.is_some() {
            PageEnd::Oldest
        } else {
            PageEnd::Newest
        };
        (self.start.unwrap_or(0)..=self.end.unwrap_or(u64::MAX), take)
    }
}
