//! The status of a transaction, parsed from a response body in BCS or JSON.

use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, ContractEvent, SignedTransaction, Transaction, TransactionInfo,
};
use serde::Deserialize;

/// The fields of a transaction in JSON that determine its status.
#[derive(Deserialize)]
struct JsonTransaction<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    version: Option<&'a str>,
    success: Option<bool>,
}

/// A transaction in BCS (docs/reference/reference-node.md#r25).
///
/// All fields are decoded, because BCS has no lengths that allow skipping one.
#[derive(Deserialize)]
#[expect(dead_code, reason = "BCS has no lengths that allow skipping a field")]
enum BcsTransaction<'a> {
    OnChain {
        version: u64,
        transaction: Transaction,
        info: TransactionInfo,
        events: Vec<ContractEvent>,
        accumulator_root: HashValue,
        #[serde(borrow)]
        changes: BcsChanges<'a>,
    },
    Pending(SignedTransaction),
}

/// The changes of a transaction. Unlike stored ones, their state keys have no length in front.
#[derive(Deserialize)]
#[expect(dead_code, reason = "BCS has no lengths that allow skipping a field")]
enum BcsChanges<'a> {
    V0(#[serde(borrow)] Vec<(BcsStateKey<'a>, BcsWrite<'a>)>),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "BCS has no lengths that allow skipping a field")]
enum BcsStateKey<'a> {
    AccessPath(AccountAddress, &'a [u8]),
    TableItem(AccountAddress, &'a [u8]),
    Raw(&'a [u8]),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "BCS has no lengths that allow skipping a field")]
enum BcsWrite<'a> {
    Creation(&'a [u8]),
    Modification(&'a [u8]),
    Deletion,
}

/// The status of a transaction that a node reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// The transaction is committed.
    Committed {
        /// The version of the transaction.
        version: u64,
        /// Whether the execution succeeded.
        success: bool,
    },
    /// The transaction is not committed.
    Pending,
}

impl TransactionStatus {
    /// Parses a body in either form, because a server may know only one.
    ///
    /// Returns `None` if the body is not a transaction.
    pub fn parse(body: &[u8]) -> Option<Self> {
        if body.first() == Some(&b'{') {
            let transaction: JsonTransaction<'_> = serde_json::from_slice(body).ok()?;
            if transaction.kind == "pending_transaction" {
                return Some(Self::Pending);
            }
            return Some(Self::Committed {
                version: transaction.version?.parse().ok()?,
                success: transaction.success?,
            });
        }
        match bcs::from_bytes(body).ok()? {
            BcsTransaction::Pending(_) => Some(Self::Pending),
            BcsTransaction::OnChain { version, info, .. } => Some(Self::Committed {
                version,
                success: info.v0().status.is_success(),
            }),
        }
    }
}
