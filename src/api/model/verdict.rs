//! JSON and BCS forms of the verdict about a transaction (docs/use/interface.md#verdicts).

use super::json::JsonString;
use ledger_crypto::HashValue;
use ledger_execution::{BlockCause, Blocked, CanCommit, Never, NeverReason, Verdict, WaitsFor};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// A verdict with the hash of its transaction.
pub(crate) struct VerdictView {
    pub hash: HashValue,
    pub verdict: VerdictKind,
}

/// The verdict about a transaction whose possible versions are readable.
pub(crate) enum VerdictKind {
    Committed {
        version: u64,
        is_success: bool,
        vm_status: String,
    },
    Pending,
    Uncommitted(Verdict),
}

/// The verdict about a transaction, at the ledger version of the response.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[schemars(rename = "TransactionVerdict")]
pub(crate) enum VerdictJson<'a> {
    /// The transaction is committed. `success` is false if its execution failed.
    Committed {
        hash: JsonString<HashValue>,
        version: JsonString<u64>,
        success: bool,
        vm_status: &'a str,
    },
    /// The transaction is in the mempool of this node, or in a block that is not committed yet.
    Pending { hash: JsonString<HashValue> },
    /// A block can include the transaction until `until_secs`, the last second of block time. It is
    /// not pending: the client must submit it. `waits_for` lists what must happen before.
    CanCommit {
        hash: JsonString<HashValue>,
        until_secs: JsonString<u64>,
        waits_for: Vec<WaitsForJson>,
    },
    /// No block includes the transaction at present, which may change. The cause does not apply
    /// from second `from_secs` of block time on, if that is known.
    Blocked {
        hash: JsonString<HashValue>,
        #[schemars(schema_with = "cause_schema")]
        cause: BlockCause,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        from_secs: Option<JsonString<u64>>,
    },
    /// No block ever includes the transaction. `used_by` is the transaction that used its sequence
    /// number or nonce, if that is the reason and the node finds it.
    Never {
        hash: JsonString<HashValue>,
        reason: ReasonName,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        used_by: Option<JsonString<HashValue>>,
    },
}

/// An event that a transaction waits for.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "WaitsFor")]
pub(crate) enum WaitsForJson {
    /// The transactions of the sender from `sequence_number` on, which is the next one of its
    /// account.
    SequenceNumber { sequence_number: JsonString<u64> },
    /// Coins of the gas payer, which holds `available` and must hold `needed`, the maximum fee.
    Funds {
        needed: JsonString<u128>,
        available: JsonString<u64>,
    },
}

/// Describes [`BlockCause`], whose crate has no schemas.
fn cause_schema(generator: &mut SchemaGenerator) -> Schema {
    let schema = json_schema!({
        "description": "The cause that blocks a transaction.",
        "type": "string",
        "enum": BlockCause::ALL,
    });
    generator
        .definitions_mut()
        .insert("BlockCause".to_owned(), schema.to_value());
    let prefix = &generator.settings().definitions_path;
    json_schema!({"$ref": format!("#{prefix}BlockCause")})
}

/// The final reason that keeps a transaction out of all later blocks.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "NeverReason")]
pub(crate) enum ReasonName {
    Expired,
    SequenceNumberUsed,
    OtherChain,
    InvalidSignature,
    NonceUsed,
}

impl From<NeverReason> for ReasonName {
    fn from(reason: NeverReason) -> Self {
        match reason {
            NeverReason::Expired => Self::Expired,
            NeverReason::SequenceNumberUsed => Self::SequenceNumberUsed,
            NeverReason::OtherChain => Self::OtherChain,
            NeverReason::InvalidSignature => Self::InvalidSignature,
            NeverReason::NonceUsed => Self::NonceUsed,
        }
    }
}

impl<'a> From<&'a VerdictView> for VerdictJson<'a> {
    fn from(view: &'a VerdictView) -> Self {
        let hash = JsonString(view.hash);
        match &view.verdict {
            VerdictKind::Committed {
                version,
                is_success,
                vm_status,
            } => Self::Committed {
                hash,
                version: JsonString(*version),
                success: *is_success,
                vm_status,
            },
            VerdictKind::Pending => Self::Pending { hash },
            VerdictKind::Uncommitted(Verdict::CanCommit(CanCommit {
                until_secs,
                waits_for,
            })) => Self::CanCommit {
                hash,
                until_secs: JsonString(*until_secs),
                waits_for: waits_for.iter().copied().map(WaitsForJson::from).collect(),
            },
            VerdictKind::Uncommitted(Verdict::Blocked(Blocked {
                cause,
                message,
                from_secs,
            })) => Self::Blocked {
                hash,
                cause: *cause,
                message,
                from_secs: from_secs.map(JsonString),
            },
            VerdictKind::Uncommitted(Verdict::Never(Never {
                reason,
                message,
                used_by,
            })) => Self::Never {
                hash,
                reason: (*reason).into(),
                message,
                used_by: used_by.map(JsonString),
            },
        }
    }
}

impl From<WaitsFor> for WaitsForJson {
    fn from(waits_for: WaitsFor) -> Self {
        match waits_for {
            WaitsFor::SequenceNumber { next } => Self::SequenceNumber {
                sequence_number: JsonString(next),
            },
            WaitsFor::Funds { needed, available } => Self::Funds {
                needed: JsonString(needed),
                available: JsonString(available),
            },
        }
    }
}

/// The verdict in BCS. The order of variants and fields is part of the format.
#[derive(Serialize)]
pub(crate) enum VerdictBcs<'a> {
    Committed {
        hash: HashValue,
        version: u64,
        success: bool,
        vm_status: &'a str,
    },
    Pending {
        hash: HashValue,
    },
    CanCommit {
        hash: HashValue,
        until_secs: u64,
        waits_for: Vec<WaitsForBcs>,
    },
    Blocked {
        hash: HashValue,
        cause: BlockCause,
        message: &'a str,
        from_secs: Option<u64>,
    },
    Never {
        hash: HashValue,
        reason: ReasonName,
        message: &'a str,
        used_by: Option<HashValue>,
    },
}

/// An event that a transaction waits for, in BCS.
#[derive(Serialize)]
pub(crate) enum WaitsForBcs {
    SequenceNumber { sequence_number: u64 },
    Funds { needed: u128, available: u64 },
}

impl<'a> From<&'a VerdictView> for VerdictBcs<'a> {
    fn from(view: &'a VerdictView) -> Self {
        let hash = view.hash;
        match &view.verdict {
            VerdictKind::Committed {
                version,
                is_success,
                vm_status,
            } => Self::Committed {
                hash,
                version: *version,
                success: *is_success,
                vm_status,
            },
            VerdictKind::Pending => Self::Pending { hash },
            VerdictKind::Uncommitted(Verdict::CanCommit(can_commit)) => Self::CanCommit {
                hash,
                until_secs: can_commit.until_secs,
                waits_for: can_commit
                    .waits_for
                    .iter()
                    .copied()
                    .map(WaitsForBcs::from)
                    .collect(),
            },
            VerdictKind::Uncommitted(Verdict::Blocked(blocked)) => Self::Blocked {
                hash,
                cause: blocked.cause,
                message: &blocked.message,
                from_secs: blocked.from_secs,
            },
            VerdictKind::Uncommitted(Verdict::Never(never)) => Self::Never {
                hash,
                reason: never.reason.into(),
                message: &never.message,
                used_by: never.used_by,
            },
        }
    }
}

impl From<WaitsFor> for WaitsForBcs {
    fn from(waits_for: WaitsFor) -> Self {
        match waits_for {
            WaitsFor::SequenceNumber { next } => Self::SequenceNumber {
                sequence_number: next,
            },
            WaitsFor::Funds { needed, available } => Self::Funds { needed, available },
        }
    }
}
