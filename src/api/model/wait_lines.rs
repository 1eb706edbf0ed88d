//! The response to a wait for many transactions: a line of JSON for each outcome, or a frame with
//! the same content in BCS (docs/use/interface.md#wait-for-many).
//!
//! A frame is the length of a value as a `u32` in little-endian order, then the value.

use super::json::JsonString;
use ledger_actors::HashOutcome;
use ledger_crypto::HashValue;
use ledger_types::{ExecutionStatus, LedgerInfo};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of a request to wait for many transactions.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WaitRequest")]
pub(crate) struct WaitManyRequest {
    /// Hashes of transactions, with or without `0x`. A hash counts once.
    pub hashes: Vec<JsonString<HashValue>>,
}

/// A line in JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "WaitLine")]
pub(crate) enum WaitLineJson {
    Outcome(OutcomeJson),
    Summary(SummaryJson),
}

/// The outcome of one hash.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WaitOutcome", inline)]
pub(crate) struct OutcomeJson {
    hash: JsonString<HashValue>,
    status: StatusName,
    /// Version of a committed transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonString<u64>")]
    version: Option<JsonString<u64>>,
    /// Whether the execution of a committed transaction succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    success: Option<bool>,
    /// Status of the execution of a committed transaction, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    vm_status: Option<String>,
    /// Reason for which the mempool removed the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    message: Option<String>,
}

/// The kind of an outcome.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WaitStatus")]
enum StatusName {
    /// The transaction is committed.
    Committed,
    /// The mempool removed the transaction without its execution.
    Removed,
    /// The transaction was committed at a version that is pruned.
    Pruned,
    /// The node has no record of the hash.
    Unknown,
    /// The transaction was still pending at the end of the wait.
    Pending,
}

/// The last line: the ledger at the end of the wait, and the number of hashes with each outcome.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WaitSummary", inline)]
pub(crate) struct SummaryJson {
    ledger_version: JsonString<u64>,
    /// Time of the newest block, in microseconds since the Unix epoch.
    ledger_timestamp_usec: JsonString<u64>,
    #[serde(flatten)]
    counts: OutcomeCounts,
}

/// A line in BCS.
#[derive(Serialize)]
pub(crate) enum WaitLineBcs {
    Outcome {
        hash: HashValue,
        status: StatusBcs,
    },
    Summary {
        ledger_version: u64,
        ledger_timestamp_usec: u64,
        counts: OutcomeCounts,
    },
}

/// The outcome of one hash in BCS.
#[derive(Serialize)]
pub(crate) enum StatusBcs {
    Committed {
        version: u64,
        success: bool,
        vm_status: String,
    },
    Removed {
        message: String,
    },
    Pruned,
    Unknown,
    Pending,
}

/// Number of hashes with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WaitCounts")]
pub(crate) struct OutcomeCounts {
    committed: u64,
    removed: u64,
    pruned: u64,
    unknown: u64,
    pending: u64,
}

impl OutcomeCounts {
    /// Counts an outcome.
    pub fn count(&mut self, outcome: &HashOutcome) {
        *match outcome {
            HashOutcome::Committed { .. } => &mut self.committed,
            HashOutcome::Removed(_) => &mut self.removed,
            HashOutcome::Pruned => &mut self.pruned,
            HashOutcome::Unknown => &mut self.unknown,
            HashOutcome::Pending => &mut self.pending,
        } += 1;
    }
}

/// Returns whether an execution with this failure succeeded, and its status in words.
fn execution(chain: &Chain, failure: Option<&ExecutionStatus>) -> (bool, String) {
    let status = failure.unwrap_or(&ExecutionStatus::Success);
    (status.is_success(), chain.vm_status(status))
}

impl WaitLineJson {
    /// Creates the line of an outcome.
    pub fn outcome(chain: &Chain, hash: HashValue, outcome: &HashOutcome) -> Self {
        let mut line = OutcomeJson {
            hash: JsonString(hash),
            status: StatusName::Pending,
            version: None,
            success: None,
            vm_status: None,
            message: None,
        };
        match outcome {
            HashOutcome::Committed { version, failure } => {
                let (success, vm_status) = execution(chain, failure.as_deref());
                line.status = StatusName::Committed;
                line.version = Some(JsonString(*version));
                line.success = Some(success);
                line.vm_status = Some(vm_status);
            }
            HashOutcome::Removed(reason) => {
                line.status = StatusName::Removed;
                line.message = Some(reason.to_string());
            }
            HashOutcome::Pruned => line.status = StatusName::Pruned,
            HashOutcome::Unknown => line.status = StatusName::Unknown,
            HashOutcome::Pending => {}
        }
        Self::Outcome(line)
    }

    /// Creates the last line.
    pub fn summary(ledger_info: &LedgerInfo, counts: OutcomeCounts) -> Self {
        Self::Summary(SummaryJson {
            ledger_version: JsonString(ledger_info.version),
            ledger_timestamp_usec: JsonString(ledger_info.timestamp_usecs),
            counts,
        })
    }

    /// Appends the line.
    ///
    /// # Panics
    ///
    /// Never panics: every line has a JSON form, and writing to a vector does not fail.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, self).expect("a line has a JSON form");
        out.push(b'\n');
    }
}

impl WaitLineBcs {
    /// Creates the value of an outcome.
    pub fn outcome(chain: &Chain, hash: HashValue, outcome: &HashOutcome) -> Self {
        let status = match outcome {
            HashOutcome::Committed { version, failure } => {
                let (success, vm_status) = execution(chain, failure.as_deref());
                StatusBcs::Committed {
                    version: *version,
                    success,
                    vm_status,
                }
            }
            HashOutcome::Removed(reason) => StatusBcs::Removed {
                message: reason.to_string(),
            },
            HashOutcome::Pruned => StatusBcs::Pruned,
            HashOutcome::Unknown => StatusBcs::Unknown,
            HashOutcome::Pending => StatusBcs::Pending,
        };
        Self::Outcome { hash, status }
    }

    /// Creates the last value.
    pub fn summary(ledger_info: &LedgerInfo, counts: OutcomeCounts) -> Self {
        Self::Summary {
            ledger_version: ledger_info.version,
            ledger_timestamp_usec: ledger_info.timestamp_usecs,
            counts,
        }
    }

    /// Appends the frame of the value.
    ///
    /// # Panics
    ///
    /// Never panics: every value has a BCS form, of less than 4 GiB.
    pub fn write(&self, out: &mut Vec<u8>) {
        let value = bcs::to_bytes(self).expect("a value has a BCS form");
        let length = u32::try_from(value.len()).expect("a value has a short BCS form");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&value);
    }
}
