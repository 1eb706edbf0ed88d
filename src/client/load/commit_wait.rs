//! Waiting for a commitment by long polls, and checking what they promise: a transaction that the
//! node took is never "not found", and a wait never ends with "pending" at a moment of the ledger
//! that already has the transaction.

use super::{
    transaction_status::Seen,
    worker::{Worker, asks_to_come_again, error_code},
};
use http::StatusCode;
use ledger::HashValue;
use std::time::Duration;

/// The pause after an answer that asks to come again, or that should have taken longer.
const PAUSE: Duration = Duration::from_millis(20);

/// What an answer says about the transaction.
enum Standing {
    Committed { version: u64, success: bool },
    Pending,
    NotFound,
    ComeAgain,
}

impl From<Seen> for Standing {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Committed { version, success } => Self::Committed { version, success },
            Seen::Pending => Self::Pending,
        }
    }
}

impl Worker {
    /// Waits until the transaction is committed; false when it never will be, as far as can be told.
    pub(super) async fn wait(&mut self, hash: HashValue) -> bool {
        let wait_path = format!("/v1/transactions/wait_by_hash/{hash}");
        let look_path = format!("/v1/transactions/by_hash/{hash}");
        loop {
            let Some((standing, moment)) = self.standing(&wait_path).await else {
                return false;
            };
            match standing {
                Standing::Committed { success, .. } => return self.committed(success),
                Standing::ComeAgain => tokio::time::sleep(PAUSE).await,
                Standing::Pending => match self.standing(&look_path).await {
                    None => return false,
                    Some((Standing::Committed { version, success }, _)) => {
                        if moment.is_some_and(|moment| version <= moment) {
                            self.count(|tally| tally.waits_in_vain += 1);
                        }
                        return self.committed(success);
                    }
                    Some((Standing::NotFound, _)) => return self.not_found(&look_path).await,
                    Some(_) => {}
                },
                Standing::NotFound => return self.not_found(&look_path).await,
            }
        }
    }

    fn committed(&mut self, success: bool) -> bool {
        if !success {
            self.count(|tally| tally.failed += 1);
        }
        true
    }

    /// Looks again after a 404: was it false, or is the transaction gone?
    async fn not_found(&mut self, look_path: &str) -> bool {
        match self.standing(look_path).await {
            Some((Standing::Committed { success, .. }, _)) => {
                self.count(|tally| tally.false_not_found += 1);
                self.committed(success)
            }
            Some((Standing::Pending, _)) => {
                self.count(|tally| tally.false_not_found += 1);
                false
            }
            _ => {
                self.count(|tally| tally.lost += 1);
                false
            }
        }
    }

    /// What the node says, and at which version of the ledger; `None` when it cannot be understood.
    async fn standing(&mut self, path: &str) -> Option<(Standing, Option<u64>)> {
        let Ok(answer) = self.look(path).await else {
            self.error("no answer".to_owned());
            tokio::time::sleep(PAUSE).await;
            return Some((Standing::ComeAgain, None));
        };
        let moment = answer.number(&self.load.version_header);
        let standing = match answer.status {
            StatusCode::OK => Seen::read(&answer.body).map(Standing::from),
            StatusCode::NOT_FOUND => Some(Standing::NotFound),
            status if asks_to_come_again(status) => {
                self.error(error_code(&answer));
                Some(Standing::ComeAgain)
            }
            _ => None,
        };
        if standing.is_none() {
            self.error(error_code(&answer));
        }
        Some((standing?, moment))
    }
}
