//! The two forms of a submission.

use super::Format;
use crate::{client::submission_media_type, signing::ChainIdentity};
use bytes::Bytes;
use ledger::{Chain, SignedTransaction};
use ledger_api::submission_json;

/// The path of submissions.
pub const SUBMIT_PATH: &str = "/v1/transactions";

/// How transfers are written, for one chain.
#[derive(Debug)]
pub struct Form {
    format: Format,
    media_type: String,
    chain: Chain,
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
            chain: chain.to_chain(),
        }
    }

    /// The MIME type.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The body of a submission of `transaction`.
    pub fn body(&self, transaction: &SignedTransaction) -> Bytes {
        match self.format {
            Format::Bcs => bcs::to_bytes(transaction)
                .expect("a transaction has a BCS form")
                .into(),
            Format::Json => submission_json(&self.chain, transaction).into(),
        }
    }
}
