//! Waits for commits by long polls, and checks of two promises of the node.
//!
//! A transaction that the node accepted is never reported as not found, and a wait never ends as
//! pending at a ledger version that includes the transaction.

use super::{
    rejection::{error_code, is_retryable},
    session::Session,
    transaction_status::TransactionStatus,
};
use http::StatusCode;
use ledger_crypto::HashValue;
use std::time::Duration;

/// Pause after a response with a retryable status, and after a failed request.
const PAUSE: Duration = Duration::from_millis(20);

/// The outcome of one request for a transaction.
enum LookupOutcome {
    Committed { version: u64, success: bool },
    Pending,
    NotFound,
    Retry,
}

/// The response to one request for a transaction.
struct Lookup {
    outcome: LookupOutcome,
    /// The ledger version of the response, if the response has one.
    ledger_version: Option<u64>,
}

impl From<TransactionStatus> for LookupOutcome {
    fn from(status: TransactionStatus) -> Self {
        match status {
            TransactionStatus::Committed { version, success } => {
                Self::Committed { version, success }
            }
            TransactionStatus::Pending => Self::Pending,
        }
    }
}

/// Waits until an accepted transaction is committed.
///
/// Returns `false` if the transaction is lost, or if its state cannot be determined.
pub(super) async fn wait_for_commit(session: &mut Session, hash: HashValue) -> bool {
    let wait_path = format!("/v1/transactions/wait_by_hash/{hash}");
    let lookup_path = format!("/v1/transactions/by_hash/{hash}");
    loop {
        let Some(waited) = look_up(session, &wait_path).await else {
            return false;
        };
        match waited.outcome {
            LookupOutcome::Committed { success, .. } => return count_commit(session, success),
            LookupOutcome::Retry => tokio::time::sleep(PAUSE).await,
            LookupOutcome::Pending => {
                let Some(found) = look_up(session, &lookup_path).await else {
                    return false;
                };
                match found.outcome {
                    LookupOutcome::Committed { version, success } => {
                        if waited.ledger_version.is_some_and(|at| version <= at) {
                            session.update_tally(|tally| tally.waits_in_vain += 1);
                        }
                        return count_commit(session, success);
                    }
                    LookupOutcome::NotFound => {
                        return check_not_found(session, &lookup_path).await;
                    }
                    LookupOutcome::Pending | LookupOutcome::Retry => {}
                }
            }
            LookupOutcome::NotFound => return check_not_found(session, &lookup_path).await,
        }
    }
}

/// Counts a commit that failed. Returns `true`.
pub(super) fn count_commit(session: &Session, success: bool) -> bool {
    if !success {
        session.update_tally(|tally| tally.failed += 1);
    }
    true
}

/// Repeats a request after a 404, and counts the 404 as false or the transaction as lost.
///
/// Returns whether the transaction is committed.
async fn check_not_found(session: &mut Session, lookup_path: &str) -> bool {
    let lookup = look_up(session, lookup_path).await;
    match lookup.map(|lookup| lookup.outcome) {
        Some(LookupOutcome::Committed { success, .. }) => {
            session.update_tally(|tally| tally.false_not_found += 1);
            count_commit(session, success)
        }
        Some(LookupOutcome::Pending) => {
            session.update_tally(|tally| tally.false_not_found += 1);
            false
        }
        _ => {
            session.update_tally(|tally| tally.lost += 1);
            false
        }
    }
}

/// Requests a transaction. Returns `None` if the response is in an unknown form.
async fn look_up(session: &mut Session, path: &str) -> Option<Lookup> {
    let request = session.run().requests().transaction_get(path);
    let Ok(response) = session.exchange(request).await else {
        session.count_error("no response".to_owned());
        tokio::time::sleep(PAUSE).await;
        return Some(Lookup {
            outcome: LookupOutcome::Retry,
            ledger_version: None,
        });
    };
    let ledger_version = response.headers().get(session.run().version_header());
    let ledger_version = ledger_version.and_then(|value| value.to_str().ok()?.parse().ok());
    let outcome = match response.status() {
        StatusCode::OK => TransactionStatus::parse(response.body()).map(LookupOutcome::from),
        StatusCode::NOT_FOUND => Some(LookupOutcome::NotFound),
        status if is_retryable(status) => {
            session.count_error(error_code(&response));
            Some(LookupOutcome::Retry)
        }
        _ => None,
    };
    if outcome.is_none() {
        session.count_error(error_code(&response));
    }
    Some(Lookup {
        outcome: outcome?,
        ledger_version,
    })
}
