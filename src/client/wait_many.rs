//! Waits for many transactions with one request.

use crate::{ClientError, NodeClient};
use ledger_crypto::HashValue;
use serde::Deserialize;
use std::{collections::HashMap, time::Duration};

/// Maximum time that one request waits. A response must arrive within twice as long.
const REQUEST_WAIT_MAX: Duration = Duration::from_secs(30);

/// The outcome of a transaction that a request waited for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum WaitOutcome {
    /// The transaction is committed.
    Committed {
        /// The version of the transaction.
        #[serde(deserialize_with = "crate::node::decimal_text")]
        version: u64,
        /// Whether the execution succeeded. The fee is charged in either case.
        success: bool,
        /// The status of the execution, in words.
        vm_status: String,
    },
    /// The mempool removed the transaction without its execution.
    Removed {
        /// The reason.
        message: String,
    },
    /// The transaction was committed at a version that is pruned.
    Pruned,
    /// The node has no record of the hash.
    Unknown,
    /// The transaction was still pending at the end of the wait.
    Pending,
}

/// A line of the response.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Outcome {
        hash: String,
        #[serde(flatten)]
        outcome: WaitOutcome,
    },
    Summary {},
}

impl NodeClient {
    /// Waits with one request until all transactions are committed or removed from the mempool, at
    /// most for `timeout`, of which 30 s are used at most. Returns the outcome of each hash.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Rejected`] if the node does not wait for so many hashes, and
    /// otherwise the same errors as [`NodeClient::ledger`]. A repetition is safe.
    pub async fn wait_for_many(
        &self,
        hashes: &[HashValue],
        timeout: Duration,
    ) -> Result<HashMap<HashValue, WaitOutcome>, ClientError> {
        let timeout_ms = timeout.min(REQUEST_WAIT_MAX).as_millis();
        let path = format!("/transactions/wait?timeout_ms={timeout_ms}");
        let body = bcs::to_bytes(hashes).expect("hashes have a BCS form");
        let (url, response) = self.post(&path, "application/x-bcs", &body).await?;
        parse(&response.body).map_err(|reason| ClientError::UnexpectedResponse { url, reason })
    }
}

/// Parses a complete response.
///
/// # Errors
///
/// Returns the reason in words if a line has another form, or if the summary is missing.
fn parse(body: &[u8]) -> Result<HashMap<HashValue, WaitOutcome>, String> {
    let mut outcomes = HashMap::new();
    let mut is_complete = false;
    let lines = body.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).map_err(|error| error.to_string())? {
            Line::Summary {} => is_complete = true,
            Line::Outcome { hash, outcome } => {
                let hash = hash.parse();
                let hash = hash.map_err(|error| format!("{error}"))?;
                outcomes.insert(hash, outcome);
            }
        }
    }
    is_complete
        .then_some(outcomes)
        .ok_or_else(|| "the response ends without a summary".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(members: &str) -> String {
        let hash = format!("0x{}", "ab".repeat(32));
        format!("{{\"type\":\"outcome\",\"hash\":\"{hash}\",{members}}}\n")
    }

    #[test]
    fn parses_each_outcome_of_a_complete_response() {
        let hash: HashValue = "ab".repeat(32).parse().unwrap();
        for (members, expected) in [
            (
                "\"status\":\"committed\",\"version\":\"7\",\"success\":false,\"vm_status\":\"a\"",
                WaitOutcome::Committed {
                    version: 7,
                    success: false,
                    vm_status: "a".to_owned(),
                },
            ),
            (
                "\"status\":\"removed\",\"message\":\"b\"",
                WaitOutcome::Removed {
                    message: "b".to_owned(),
                },
            ),
            ("\"status\":\"pruned\"", WaitOutcome::Pruned),
            ("\"status\":\"unknown\"", WaitOutcome::Unknown),
            ("\"status\":\"pending\"", WaitOutcome::Pending),
        ] {
            let body = line(members) + "{\"type\":\"summary\",\"committed\":0}\n";
            assert_eq!(
                parse(body.as_bytes()).unwrap(),
                HashMap::from([(hash, expected)])
            );
        }
    }

    #[test]
    fn rejects_a_response_that_was_cut() {
        let body = line("\"status\":\"pending\"");
        let error = parse(body.as_bytes()).unwrap_err();
        assert!(error.contains("summary"), "{error}");
    }
}
