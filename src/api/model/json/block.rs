//! JSON form of a block (docs/reference/rest-contract.md#s2-6).

use super::{CommittedJson, JsonString, TransactionJson};
use crate::model::TableTypes;
use ledger_crypto::HashValue;
use ledger_types::{BlockInfo, ExecutedTransaction};
use ledger_vm::Chain;
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

impl<'a> BlockJson<'a> {
    /// Creates the view of a block.
    ///
    /// `transactions` are the first ones of the block, in order, with the types of the tables that
    /// they changed.
    pub fn new(
        chain: &'a Chain,
        block: &BlockInfo,
        transactions: Option<(&'a Vec<ExecutedTransaction>, &'a TableTypes)>,
    ) -> Self {
        let timestamp_usecs = block.header.timestamp_usecs;
        let committed = |tables| {
            move |(index, executed): (usize, &'a ExecutedTransaction)| CommittedJson {
                version: block.first_version + index as u64,
                timestamp_usecs,
                executed,
                tables,
            }
        };
        Self {
            block_height: JsonString(block.header.height),
            block_hash: JsonString(block.hash),
            block_timestamp: JsonString(timestamp_usecs),
            first_version: JsonString(block.first_version),
            last_version: JsonString(block.last_version),
            transactions: transactions.map(|(list, tables)| {
                TransactionJson::all_committed(
                    chain,
                    list.iter().enumerate().map(committed(tables)),
                )
            }),
        }
    }
}
