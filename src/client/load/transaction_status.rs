//! What the body of an answer says of a transaction, in whichever form it has.

use ledger::{ContractEvent, HashValue, SignedTransaction, Transaction, TransactionInfo, WriteSet};
use serde::Deserialize;

/// As much of a transaction in JSON as decides what to do next.
#[derive(Deserialize)]
struct SeenJson<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    version: Option<&'a str>,
    success: Option<bool>,
}

/// A transaction in BCS (docs/reference/reference-node.md#r25).
///
/// All fields are decoded, because the form has no lengths that allow skipping one.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read on the way, and is nowhere kept")]
enum SeenBcs {
    OnChain {
        version: u64,
        transaction: Transaction,
        info: TransactionInfo,
        events: Vec<ContractEvent>,
        accumulator_root: HashValue,
        changes: WriteSet,
    },
    Pending(SignedTransaction),
}

/// What is seen of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It is in the ledger.
    Committed {
        /// Where.
        version: u64,
        /// Whether it did what it was to do.
        success: bool,
    },
    /// It is not.
    Pending,
}

impl Seen {
    /// Reads a body in the form that it has: a server may know one only. `None` when it is no transaction.
    pub fn read(body: &[u8]) -> Option<Self> {
        if body.first() == Some(&b'{') {
            let seen: SeenJson<'_> = serde_json::from_slice(body).ok()?;
            if seen.kind == "pending_transaction" {
                return Some(Self::Pending);
            }
            return Some(Self::Committed {
                version: seen.version?.parse().ok()?,
                success: seen.success?,
            });
        }
        match bcs::from_bytes(body).ok()? {
            SeenBcs::Pending(_) => Some(Self::Pending),
            SeenBcs::OnChain { version, info, .. } => Some(Self::Committed {
                version,
                success: info.v0().status.is_success(),
            }),
        }
    }
}
