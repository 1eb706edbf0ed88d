//! Waits for the commits of several transfers with one request, and the checks of
//! [`commit_wait`](super::commit_wait).

use super::{
    commit_wait::{count_commit, wait_for_commit},
    rejection::{error_code, is_retryable},
    requests::BCS,
    session::Session,
};
use crate::http::{Endpoint, Request};
use bytes::Bytes;
use http::{
    Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use ledger_crypto::HashValue;
use serde::Deserialize;
use std::{collections::HashMap, time::Duration};

/// Time for which the node waits for the transactions of a request, in milliseconds. A response
/// must arrive within twice as long.
const TIMEOUT_MS: u64 = 30_000;

/// Maximum number of hashes of a request: the default of `wait.hashes_max`.
const HASHES_MAX: usize = 10_000;

/// Pause after a response with a retryable status, and after a failed request.
const PAUSE: Duration = Duration::from_millis(20);

/// A frame of the response.
#[derive(Deserialize)]
enum Frame {
    Outcome {
        hash: HashValue,
        status: Status,
    },
    Summary {
        ledger_version: u64,
        _ledger_timestamp_usec: u64,
        _counts: [u64; 5],
    },
}

/// The outcome of a hash.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
enum Status {
    Committed {
        version: u64,
        success: bool,
        _vm_status: String,
    },
    Removed {
        _message: String,
    },
    Pruned,
    Unknown,
    Pending,
}

/// Waits until all of the accepted transactions are committed. The requests have at most
/// [`HASHES_MAX`] of them.
///
/// Returns for each transaction, in order, whether it is committed. It is not if the transaction is
/// lost, or if its state cannot be determined.
pub(super) async fn wait_for_commits(session: &mut Session, hashes: &[HashValue]) -> Vec<bool> {
    let mut committed = Vec::with_capacity(hashes.len());
    for part in hashes.chunks(HASHES_MAX) {
        committed.extend(wait_for_part(session, part).await);
    }
    committed
}

async fn wait_for_part(session: &mut Session, hashes: &[HashValue]) -> Vec<bool> {
    let mut outcomes: HashMap<HashValue, Status> = HashMap::new();
    let mut pending = hashes.to_vec();
    while !pending.is_empty() {
        let request = request(session.run().endpoint(), &pending);
        let Some(received) = exchange(session, request).await else {
            break;
        };
        outcomes.extend(received);
        pending.retain(|hash| matches!(outcomes.get(hash), None | Some(Status::Pending)));
    }
    let mut committed = Vec::with_capacity(hashes.len());
    for hash in hashes {
        committed.push(match outcomes.get(hash) {
            Some(Status::Committed { success, .. }) => count_commit(session, *success),
            // A request of its own counts a false outcome, or the loss of the transaction.
            Some(Status::Unknown | Status::Removed { .. } | Status::Pruned) => {
                wait_for_commit(session, *hash).await
            }
            Some(Status::Pending) | None => false,
        });
    }
    committed
}

/// Returns the request that waits for `hashes`.
fn request(endpoint: &Endpoint, hashes: &[HashValue]) -> Request {
    let body = bcs::to_bytes(hashes).expect("hashes have a BCS form");
    let path = format!("/v1/transactions/wait?timeout_ms={TIMEOUT_MS}");
    endpoint
        .request(Method::POST, &path)
        .header(CONTENT_TYPE, BCS)
        .header(ACCEPT, BCS)
        .body(Bytes::from(body).into())
        .expect("a valid path and fields")
}

/// Sends the current request until the node accepts it, and returns the outcomes. Returns `None` if
/// the response is in an unknown form.
async fn exchange(session: &mut Session, request: Request) -> Option<HashMap<HashValue, Status>> {
    loop {
        match session.exchange(request.clone()).await {
            Ok(response) if response.status() == StatusCode::OK => {
                let Some(received) = parse(response.body()) else {
                    session.count_error("an incomplete wait".to_owned());
                    return None;
                };
                let in_vain = received.waits_in_vain();
                session.update_tally(|tally| tally.waits_in_vain += in_vain);
                return Some(received.outcomes);
            }
            Ok(response) => {
                session.count_error(error_code(&response));
                if !is_retryable(response.status()) {
                    return None;
                }
            }
            Err(_) => session.count_error("no response".to_owned()),
        }
        if session.run().is_commit_abandoned() {
            return None;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A complete response.
#[derive(Debug)]
struct Received {
    outcomes: HashMap<HashValue, Status>,
    ledger_version: u64,
}

impl Received {
    /// Returns the number of commits above the version at the end of the response, which break the
    /// promise of the summary.
    fn waits_in_vain(&self) -> u64 {
        let statuses = self.outcomes.values();
        let above = statuses.filter(|status| match status {
            Status::Committed { version, .. } => *version > self.ledger_version,
            _ => false,
        });
        above.count() as u64
    }
}

/// Parses the frames of a response. Returns `None` if it is incomplete or malformed.
fn parse(mut body: &[u8]) -> Option<Received> {
    let mut outcomes = HashMap::new();
    loop {
        let (length, rest) = body.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        body = rest;
        match bcs::from_bytes(value).ok()? {
            Frame::Outcome { hash, status } => {
                outcomes.insert(hash, status);
            }
            Frame::Summary { ledger_version, .. } => {
                return Some(Received {
                    outcomes,
                    ledger_version,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a frame with this value.
    fn frame(value: &[u8]) -> Vec<u8> {
        [&(value.len() as u32).to_le_bytes(), value].concat()
    }

    /// Returns the frame of an outcome of the hash of zeros.
    fn outcome(status: &[u8]) -> Vec<u8> {
        frame(&[&[0], &[0; 32][..], status].concat())
    }

    fn summary(ledger_version: u64) -> Vec<u8> {
        frame(&[&[1], &ledger_version.to_le_bytes()[..], &[0; 48]].concat())
    }

    fn committed(version: u64) -> Vec<u8> {
        outcome(&[&[0], &version.to_le_bytes()[..], &[1, 1, b'a']].concat())
    }

    #[test]
    fn parses_the_outcomes_of_a_complete_response() {
        for (sent, expected) in [
            (
                outcome(&[1, 1, b'b']),
                Status::Removed {
                    _message: "b".to_owned(),
                },
            ),
            (outcome(&[2]), Status::Pruned),
            (outcome(&[3]), Status::Unknown),
            (outcome(&[4]), Status::Pending),
        ] {
            let received = parse(&[sent, summary(9)].concat()).unwrap();
            let outcomes: Vec<_> = received.outcomes.into_values().collect();
            assert_eq!((outcomes, received.ledger_version), (vec![expected], 9));
        }
    }

    #[test]
    fn counts_commits_above_the_version_of_the_summary() {
        for (version, expected) in [(8, 0), (9, 0), (10, 1)] {
            let received = parse(&[committed(version), summary(9)].concat()).unwrap();
            assert_eq!(received.waits_in_vain(), expected);
        }
    }

    #[test]
    fn rejects_a_response_that_was_cut() {
        let whole = [committed(1), summary(9)].concat();
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_none(), "{length} bytes");
        }
    }
}
