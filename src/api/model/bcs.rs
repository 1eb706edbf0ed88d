//! BCS bodies of responses (docs/reference/reference-node.md#r25).
//!
//! Variants and fields are in the order of their encoding. Stored rows are BCS already, and are
//! copied into responses unchanged.
//!
//! Unlike on the reference node, an operation of a write set is 0 for a put and 1 for a deletion.

use ledger_crypto::HashValue;
use ledger_store::{EncodedList, StoredTransaction, TransactionSummary, WalTransaction};
use ledger_types::{
    AccountAddress, BlockInfo, ContractEvent, ExecutedTransaction, LedgerInfo, ReplayProtector,
    SignedTransaction, Transaction, TransactionInfo, WriteSet,
};
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::io::Write;

/// Index of the role of a validator in the enum of node roles.
const ROLE_VALIDATOR: u8 = 0;
/// Index of the role of a full node.
const ROLE_FULL_NODE: u8 = 1;

/// Ledger metadata. `node_role` is an enum of one byte on the wire.
#[derive(Serialize)]
pub(crate) struct IndexBcs {
    chain_id: u8,
    epoch: u64,
    ledger_version: u64,
    oldest_ledger_version: u64,
    ledger_timestamp: u64,
    node_role: u8,
    oldest_block_height: u64,
    block_height: u64,
}

impl IndexBcs {
    pub(crate) fn new(info: &LedgerInfo, is_full_node: bool) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: info.epoch,
            ledger_version: info.version,
            oldest_ledger_version: info.oldest_version,
            ledger_timestamp: info.timestamp_usecs,
            node_role: match is_full_node {
                true => ROLE_FULL_NODE,
                false => ROLE_VALIDATOR,
            },
            oldest_block_height: info.oldest_block_height,
            block_height: info.block_height,
        }
    }
}

/// The gas estimate. The BCS form has only the standard price.
#[derive(Serialize)]
pub(crate) struct GasEstimateBcs {
    pub gas_estimate: u64,
}

/// A transaction, committed or pending.
#[derive(Serialize)]
pub(crate) enum TransactionBcs<'a> {
    OnChain(OnChainBcs<'a>),
    Pending(&'a SignedTransaction),
}

/// A committed transaction with its complete output.
#[derive(Serialize)]
pub(crate) struct OnChainBcs<'a> {
    version: u64,
    transaction: &'a Transaction,
    info: &'a TransactionInfo,
    events: &'a [ContractEvent],
    accumulator_root_hash: HashValue,
    changes: &'a WriteSet,
}

impl<'a> OnChainBcs<'a> {
    pub fn new(version: u64, executed: &'a ExecutedTransaction) -> Self {
        Self {
            version,
            transaction: &executed.transaction,
            info: &executed.info,
            events: &executed.events,
            accumulator_root_hash: executed.accumulator_root,
            changes: &executed.writes,
        }
    }
}

/// The fields of a block before its transactions.
#[derive(Serialize)]
struct BlockHeaderBcs {
    block_height: u64,
    block_hash: HashValue,
    block_timestamp: u64,
    first_version: u64,
    last_version: u64,
    has_transactions: bool,
}

/// The number of items of a list, which serializes as the length that BCS writes before them.
struct Length(usize);

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_seq(Some(self.0))?.end()
    }
}

/// Writes the length of a list in BCS, which precedes its items.
///
/// # Errors
///
/// Returns an error if a BCS list cannot have as many items, and the error of `out`.
pub(crate) fn write_length(out: &mut impl Write, count: usize) -> Result<(), bcs::Error> {
    bcs::serialize_into(out, &Length(count))
}

/// Writes a committed transaction in the form of [`OnChainBcs`].
///
/// # Errors
///
/// Returns an error if the transaction has more events or writes than a BCS list can have, and the
/// error of `out`.
pub(crate) fn write_rows(out: &mut impl Write, rows: &StoredTransaction) -> Result<(), bcs::Error> {
    /// Variant of the only version of a [`WriteSet`].
    const WRITE_SET_V0: u8 = 0;
    out.write_all(&rows.version().to_le_bytes())?;
    out.write_all(rows.transaction_and_info())?;
    write_list(out, rows.events())?;
    out.write_all(rows.accumulator_root())?;
    out.write_all(&[WRITE_SET_V0])?;
    write_list(out, rows.writes())
}

fn write_list(out: &mut impl Write, list: EncodedList<'_>) -> Result<(), bcs::Error> {
    write_length(out, list.count)?;
    Ok(out.write_all(list.bytes)?)
}

/// Variant of a committed transaction in a [`TransactionBcs`].
const ON_CHAIN: u8 = 0;

/// Writes a [`TransactionBcs::OnChain`] from a transaction in the write-ahead log.
///
/// # Errors
///
/// Returns the error of `out`.
pub(crate) fn write_wal_transaction(
    out: &mut impl Write,
    version: u64,
    logged: &WalTransaction<'_>,
) -> Result<(), bcs::Error> {
    out.write_all(&[ON_CHAIN])?;
    out.write_all(&version.to_le_bytes())?;
    for part in [
        logged.transaction,
        logged.info_and_events,
        logged.accumulator_root,
        logged.writes,
    ] {
        out.write_all(part)?;
    }
    Ok(())
}

/// Writes a [`TransactionBcs::OnChain`] from a stored transaction.
///
/// # Errors
///
/// Returns the errors of [`write_rows`].
pub(crate) fn write_stored_transaction(
    out: &mut impl Write,
    rows: &StoredTransaction,
) -> Result<(), bcs::Error> {
    out.write_all(&[ON_CHAIN])?;
    write_rows(out, rows)
}

/// Returns the BCS bytes of a block up to its transactions. If they were requested,
/// `transaction_count` transactions follow.
///
/// # Errors
///
/// Returns an error if a BCS list cannot have that many transactions.
pub(crate) fn encode_block(
    block: &BlockInfo,
    transaction_count: Option<usize>,
) -> Result<Vec<u8>, bcs::Error> {
    let mut head = bcs::to_bytes(&BlockHeaderBcs {
        block_height: block.header.height,
        block_hash: block.hash,
        block_timestamp: block.header.timestamp_usecs,
        first_version: block.first_version,
        last_version: block.last_version,
        has_transactions: transaction_count.is_some(),
    })?;
    if let Some(count) = transaction_count {
        write_length(&mut head, count)?;
    }
    Ok(head)
}

/// A summary of an account's transaction.
#[derive(Serialize)]
pub(crate) enum SummaryBcs {
    V1 {
        sender: AccountAddress,
        version: u64,
        transaction_hash: HashValue,
        replay_protector: ReplayProtector,
    },
}

impl From<&TransactionSummary> for SummaryBcs {
    fn from(summary: &TransactionSummary) -> Self {
        Self::V1 {
            sender: summary.sender,
            version: summary.version,
            transaction_hash: summary.hash,
            replay_protector: summary.replay_protector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_the_role_in_one_byte_after_the_timestamp() {
        let info = LedgerInfo {
            chain_id: 4,
            epoch: 1,
            version: 2,
            oldest_version: 0,
            block_height: 3,
            oldest_block_height: 0,
            timestamp_usecs: 5,
        };
        let role = |is_full_node| {
            let bytes = bcs::to_bytes(&IndexBcs::new(&info, is_full_node)).unwrap();
            (bytes.len(), bytes[33])
        };
        assert_eq!(role(false), (50, ROLE_VALIDATOR));
        assert_eq!(role(true), (50, ROLE_FULL_NODE));
    }
}
