//! JSON forms of the signed fields of a transaction, which pending and committed transactions
//! share, and of a pending transaction (docs/reference/rest-contract.md#s2-5).

use super::{JsonString, payload::PayloadJson, signature::SignatureJson};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CheckedTransaction, SignedTransaction};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Serialize;

/// Sequence number in the JSON form of every orderless transaction
/// (docs/reference/reference-node.md#r20). The number that the client sent has no meaning.
const ORDERLESS_SEQUENCE_NUMBER: u64 = u64::MAX;

/// The fields of a transaction that the client signed, and the signature.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignedFields")]
pub(crate) struct RequestJson<'a> {
    sender: JsonString<AccountAddress>,
    /// 18446744073709551615 if a nonce protects the transaction.
    sequence_number: JsonString<u64>,
    /// Maximum amount of gas, in gas units.
    max_gas_amount: JsonString<u64>,
    /// Price per gas unit, in the smallest unit of the coin.
    gas_unit_price: JsonString<u64>,
    expiration_timestamp_secs: JsonString<u64>,
    payload: PayloadJson<'a>,
    signature: SignatureJson,
    /// Present only if a nonce protects the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonString<u64>")]
    replay_protection_nonce: Option<JsonString<u64>>,
}

impl<'a> RequestJson<'a> {
    /// Creates the view of a signed transaction.
    pub fn new(chain: &'a Chain, transaction: &'a SignedTransaction) -> Self {
        let raw = &transaction.raw;
        let nonce = raw.payload.replay_protection_nonce();
        Self {
            sender: JsonString(raw.sender),
            sequence_number: JsonString(match nonce {
                Some(_) => ORDERLESS_SEQUENCE_NUMBER,
                None => raw.sequence_number,
            }),
            max_gas_amount: JsonString(raw.max_gas_amount),
            gas_unit_price: JsonString(raw.gas_unit_price),
            expiration_timestamp_secs: JsonString(raw.expiration_timestamp_secs),
            payload: PayloadJson::new(chain, &raw.payload),
            signature: SignatureJson::from(&transaction.authenticator),
            replay_protection_nonce: nonce.map(JsonString),
        }
    }
}

/// Returns the JSON body that submits `transaction`.
///
/// The node's JSON view of a transaction is also a valid submission.
pub fn submission_json(chain: &Chain, transaction: &SignedTransaction) -> String {
    serde_json::to_string(&RequestJson::new(chain, transaction))
        .expect("the keys of the view are text")
}

/// A pending transaction without `type`, as in the response to its submission.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PendingTransaction")]
pub(crate) struct PendingJson<'a> {
    hash: JsonString<HashValue>,
    #[serde(flatten)]
    request: RequestJson<'a>,
}

impl<'a> PendingJson<'a> {
    /// Creates the view of a pending transaction.
    pub fn new(chain: &'a Chain, transaction: &'a CheckedTransaction) -> Self {
        Self {
            hash: JsonString(transaction.hash()),
            request: RequestJson::new(chain, transaction.transaction()),
        }
    }
}
