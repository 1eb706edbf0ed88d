//! The two forms of a submission.

use super::Format;
use crate::{client::submission_media_type, signing::ChainIdentity};
use bytes::Bytes;
use ledger::{AccountAddress, SignedTransaction, transaction::TransactionAuthenticator};

/// The path of submissions.
pub const SUBMIT_PATH: &str = "/v1/transactions";

/// How transfers are written, for one chain.
#[derive(Debug)]
pub struct Form {
    format: Format,
    media_type: String,
    function: String,
}

impl Form {
    /// The form `format` on a chain.
    pub fn new(format: Format, chain: &ChainIdentity) -> Self {
        Self {
            format,
            media_type: match format {
                Format::Bcs => submission_media_type(&chain.vendor),
                Format::Json => "application/json".to_owned(),
            },
            function: format!("0x1::{}_account::transfer", chain.vendor.lower()),
        }
    }

    /// The MIME type.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The body of a submission of `transaction`, which pays `amount` to `to`.
    pub fn body(&self, transaction: &SignedTransaction, to: AccountAddress, amount: u64) -> Bytes {
        match self.format {
            Format::Bcs => bcs::to_bytes(transaction)
                .expect("a transaction has a BCS form")
                .into(),
            Format::Json => self.json(transaction, to, amount).to_string().into(),
        }
    }

    fn json(&self, transaction: &SignedTransaction, to: AccountAddress, amount: u64) -> serde_json::Value {
        let raw = &transaction.raw;
        let signature = match &transaction.authenticator {
            TransactionAuthenticator::Ed25519 {
                public_key,
                signature,
            } => serde_json::json!({
                "type": "ed25519_signature",
                "public_key": format!("0x{}", hex::encode(public_key.0)),
                "signature": format!("0x{}", hex::encode(signature.0)),
            }),
            other => unreachable!("the bench signs with one ed25519 key, not {other:?}"),
        };
        serde_json::json!({
            "sender": raw.sender.to_long_hex(),
            "sequence_number": raw.sequence_number.to_string(),
            "max_gas_amount": raw.max_gas_amount.to_string(),
            "gas_unit_price": raw.gas_unit_price.to_string(),
            "expiration_timestamp_secs": raw.expiration_timestamp_secs.to_string(),
            "payload": {
                "type": "entry_function_payload",
                "function": self.function,
                "type_arguments": [],
                "arguments": [to.to_long_hex(), amount.to_string()],
            },
            "signature": signature,
        })
    }
}
