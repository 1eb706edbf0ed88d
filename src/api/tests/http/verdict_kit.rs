//! Requests for verdicts, and their form in BCS.

use crate::kit::{RawResponse, TestApi, Transfer, ok_bcs, ok_json};
use ledger_actors::{Clock, ClockReading};
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

pub const PATH: &str = "/v1/transactions/status";
pub const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";

/// The BCS form of a verdict.
#[derive(Deserialize)]
enum VerdictBcs {
    Committed {
        hash: HashValue,
        version: u64,
        success: bool,
        vm_status: String,
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
        cause: u8,
        message: String,
        from_secs: Option<u64>,
    },
    Never {
        hash: HashValue,
        reason: u8,
        message: String,
        used_by: Option<HashValue>,
    },
}

#[derive(Deserialize)]
enum WaitsForBcs {
    SequenceNumber { sequence_number: u64 },
    Funds { needed: u128, available: u64 },
}

/// The causes of a block, in the order of their numbers in BCS.
const CAUSES: [&str; 11] = [
    "authentication_key",
    "nonce_remembered",
    "expiration_too_far",
    "expired_by_clock",
    "unsupported_feature",
    "invalid_form",
    "chain_limit",
    "nonce_bucket_full",
    "multisig",
    "filter",
    "switch",
];

/// The final reasons, in the order of their numbers in BCS.
const REASONS: [&str; 5] = [
    "expired",
    "sequence_number_used",
    "other_chain",
    "invalid_signature",
    "nonce_used",
];

impl VerdictBcs {
    /// Returns the JSON form of the verdict.
    fn to_json(&self) -> Value {
        match self {
            Self::Committed {
                hash,
                version,
                success,
                vm_status,
            } => json!({
                "verdict": "committed",
                "hash": hash.to_string(),
                "version": version.to_string(),
                "success": success,
                "vm_status": vm_status,
            }),
            Self::Pending { hash } => json!({ "verdict": "pending", "hash": hash.to_string() }),
            Self::CanCommit {
                hash,
                until_secs,
                waits_for,
            } => {
                let waits_for = waits_for.iter().map(|waits_for| match waits_for {
                    WaitsForBcs::SequenceNumber { sequence_number } => json!({
                        "type": "sequence_number",
                        "sequence_number": sequence_number.to_string(),
                    }),
                    WaitsForBcs::Funds { needed, available } => json!({
                        "type": "funds",
                        "needed": needed.to_string(),
                        "available": available.to_string(),
                    }),
                });
                json!({
                    "verdict": "can_commit",
                    "hash": hash.to_string(),
                    "until_secs": until_secs.to_string(),
                    "waits_for": waits_for.collect::<Vec<_>>(),
                })
            }
            Self::Blocked {
                hash,
                cause,
                message,
                from_secs,
            } => {
                let mut value = json!({
                    "verdict": "blocked",
                    "hash": hash.to_string(),
                    "cause": CAUSES[usize::from(*cause)],
                    "message": message,
                });
                if let Some(secs) = from_secs {
                    value["from_secs"] = json!(secs.to_string());
                }
                value
            }
            Self::Never {
                hash,
                reason,
                message,
                used_by,
            } => {
                let mut value = json!({
                    "verdict": "never",
                    "hash": hash.to_string(),
                    "reason": REASONS[usize::from(*reason)],
                    "message": message,
                });
                if let Some(user) = used_by {
                    value["used_by"] = json!(user.to_string());
                }
                value
            }
        }
    }
}

/// Asks for the verdict about a transaction in BCS. `accept` is the media type of the response.
pub async fn ask(api: &TestApi, signed: &SignedTransaction, accept: &str) -> RawResponse {
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", accept)];
    let body = bcs::to_bytes(signed).unwrap();
    api.client.send("POST", PATH, &headers, Some(&body)).await
}

/// Returns the verdict about a transaction, which has the same members in JSON and BCS.
pub async fn verdict(api: &TestApi, signed: &SignedTransaction) -> Value {
    let mut verdict = ok_json(&ask(api, signed, JSON).await);
    let in_bcs = ask(api, signed, BCS).await;
    let decoded: VerdictBcs = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    if decoded.to_json() != verdict {
        // A message names a second, and the next one may have begun between the requests.
        verdict = ok_json(&ask(api, signed, JSON).await);
    }
    assert_eq!(decoded.to_json(), verdict);
    assert_eq!(verdict["hash"], hash(api, signed));
    verdict
}

/// Returns the hash of a transaction.
pub fn hash(api: &TestApi, signed: &SignedTransaction) -> String {
    signed.hash(api.chain.vendor()).to_string()
}

/// Returns the verdict about a transaction that is blocked or can never be committed, with its
/// cause or reason.
async fn kind(api: &TestApi, signed: &SignedTransaction) -> (String, String) {
    let verdict = verdict(api, signed).await;
    let text = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
    assert!(!text("message").is_empty(), "{verdict}");
    (text("verdict"), text("cause") + &text("reason"))
}

/// Asserts that a transaction has this verdict, with this cause or reason.
pub async fn assert_kind(api: &TestApi, signed: &SignedTransaction, expected: (&str, &str)) {
    let (verdict, cause) = kind(api, signed).await;
    assert_eq!((&verdict[..], &cause[..]), expected);
}

/// Returns a transfer with a nonce by a development account.
pub fn with_nonce(
    api: &TestApi,
    from: usize,
    nonce: u64,
    transfer: &Transfer,
) -> SignedTransaction {
    let transfer = Transfer {
        from,
        ..transfer.clone()
    };
    transfer.sign_payload(&api.chain, transfer.payload_with_nonce(&api.chain, nonce))
}

/// Returns a clock that is ahead of the system's by the returned number of microseconds, as if that
/// time had passed.
pub fn advancing_clock() -> (Clock, Arc<AtomicU64>) {
    let passed_usecs = Arc::new(AtomicU64::new(0));
    let (system, passed) = (Clock::default(), Arc::clone(&passed_usecs));
    let clock = Clock::from_readings(move || {
        let (reading, passed_usecs) = (system.read(), passed.load(SeqCst));
        ClockReading {
            wall_usecs: reading.wall_usecs + passed_usecs,
            elapsed_usecs: reading.elapsed_usecs + passed_usecs,
        }
    });
    (clock, passed_usecs)
}
