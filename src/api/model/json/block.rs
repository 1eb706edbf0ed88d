//! JSON form of a block (docs/reference/rest-contract.md#s2-6).

use super::{JsonString, TransactionJson};
use ledger_crypto::HashValue;
use ledger_types::BlockInfo;
use schemars::JsonSchema;
use serde::Serialize;

/// A block, with its transactions if they are requested.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Block")]
pub(crate) struct BlockJson<'a> {
    block_height: JsonString<u64>,
    block_hash: JsonString<HashValue>,
    /// Block time, in microseconds since the Unix epoch.
    block_timestamp: JsonString<u64>,
    first_version: JsonString<u64>,
    last_version: JsonString<u64>,
    /// Ascending by version; only if requested. A large block has only its first transactions here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<TransactionJson>")]
    transactions: Option<Vec<TransactionJson<'a>>>,
}

impl BlockJson<'_> {
    /// Creates the view of a block without its transactions.
    pub fn new(block: &BlockInfo) -> Self {
        Self {
            block_height: JsonString(block.header.height),
            block_hash: JsonString(block.hash),
            block_timestamp: JsonString(block.header.timestamp_usecs),
            first_version: JsonString(block.first_version),
            last_version: JsonString(block.last_version),
            transactions: None,
        }
    }

    /// Returns the JSON text of a block up to its first transaction. The text ends with
    /// [`Self::END`].
    ///
    /// # Errors
    ///
    /// Returns an error if the block has no JSON form.
    pub fn begin(block: &BlockInfo) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(&Self::new(block))?;
        text.pop();
        text.extend_from_slice(br#","transactions":["#);
        Ok(text)
    }

    /// End of the JSON text of a block after its last transaction.
    pub const END: &'static [u8] = b"]}";
}
