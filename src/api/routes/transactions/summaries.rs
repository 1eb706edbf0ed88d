//! Summaries of an account's committed transactions, with sequence numbers and orderless, ascending by
//! version (docs/reference/rest-contract.md#s4-6).

use crate::{
    context::{LedgerResponse, PageSize, RequestContext},
    error::{ApiError, ErrorKind},
    model::{DecimalText, bcs::SummaryBcs, json::SummaryJson},
};
use ledger_store::PageEnd;
use ledger_types::{AccountAddress, LedgerInfo};
use std::ops::RangeInclusive;

/// The reference's numbers.
const PAGE: PageSize = PageSize {
    default: 100,
    max: 100,
};

/// `GET /v1/accounts/{address}/transaction_summaries`
///
/// Nothing is said about accounts that do not exist: they have no transactions.
pub(crate) async fn of_account(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let address: AccountAddress = cx.path("address")?;
    let bounds = Bounds::asked_by(&cx)?;
    let limit = cx.limit(PAGE)?;
    let (ledger_info, summaries) = cx
        .read(move |snapshot| match bounds.check(snapshot.ledger_info()) {
            Ok(()) => {
                let (versions, take) = bounds.page();
                snapshot
                    .transaction_summaries(&address, versions, take, limit)
                    .map(Ok)
            }
            Err(problem) => Ok(Err(problem)),
        })
        .await?;
    cx.answer(
        ledger_info,
        || summaries.iter().map(SummaryJson::from).collect::<Vec<_>>(),
        || summaries.iter().map(SummaryBcs::from).collect::<Vec<_>>(),
    )
}

/// Inclusive bounds of the versions of a page of summaries (docs/interface.md#rule-8).
#[derive(Clone, Copy)]
struct Bounds {
    start: Option<u64>,
    end: Option<u64>,
}

impl Bounds {
    fn asked_by(cx: &RequestContext) -> Result<Self, ErrorKind> {
        let version =
            |name| Ok::<_, ErrorKind>(cx.query(name)?.map(|DecimalText(version)| version));
        let (start, end) = (version("start_version")?, version("end_version")?);
        match (start, end) {
            (Some(start), Some(end)) if start > end => Err(ErrorKind::InvalidInput(format!(
                "Given start version ({start}) is higher than the given end version ({end})"
            ))),
            _ => Ok(Self { start, end }),
        }
    }

    /// Whether none of them is pruned. Above the newest version there is nothing yet, which is no
    /// mistake.
    fn check(self, ledger_info: &LedgerInfo) -> Result<(), ErrorKind> {
        let mut given = self.start.into_iter().chain(self.end);
        match given.find(|version| *version < ledger_info.oldest_version) {
            Some(pruned) => Err(ErrorKind::VersionPruned(pruned)),
            None => Ok(()),
        }
    }

    /// The versions, and which end of them the page has.
    fn page(self) -> (RangeInclusive<u64>, PageEnd) {
        let take = if self.start.is_some() {
            PageEnd::Oldest
        } else {
            PageEnd::Newest
        };
        (self.start.unwrap_or(0)..=self.end.unwrap_or(u64::MAX), take)
    }
}
