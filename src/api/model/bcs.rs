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

/// Index of the role of a validator in the enum of node roles.
const ROLE_VALIDATOR: u8 = 0;

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

impl From<&LedgerInfo> for IndexBcs {
    fn from(info: &LedgerInfo) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: info.epoch,
            ledger_version: info.version,
            oldest_ledger_version: info.oldest_version,
            ledger_timestamp: info.timestamp_usecs,
            node_role: ROLE_VALIDATOR,
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

/// A list in BCS, built by appending encoded items.
#[derive(Default)]
pub(crate) struct ListBcs {
    count: usize,
    items: Vec<u8>,
}

impl ListBcs {
    /// Returns the total size of the items, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.items.len()
    }

    /// Appends a committed transaction in the form of [`OnChainBcs`].
    ///
    /// # Errors
    ///
    /// Returns an error if the transaction has more events or writes than a BCS list can have.
    pub fn push_rows(&mut self, rows: &StoredTransaction) -> Result<(), bcs::Error> {
        append_rows(&mut self.items, rows)?;
        self.count += 1;
        Ok(())
    }

    /// Appends an event in BCS, after the version of its transaction.
    pub fn push_event(&mut self, transaction_version: u64, event: &[u8]) {
        self.items
            .extend_from_slice(&transaction_version.to_le_bytes());
        self.items.extend_from_slice(event);
        self.count += 1;
    }

    /// Returns `head`, followed by the list.
    ///
    /// # Errors
    ///
    /// Returns an error if the list has more items than a BCS list can have.
    pub fn encode_after(&self, head: Vec<u8>) -> Result<Vec<u8>, bcs::Error> {
        const COUNT_BYTES_MAX: usize = 5;
        let mut body = head;
        body.reserve_exact(COUNT_BYTES_MAX + self.items.len());
        append_length(&mut body, self.count)?;
        body.extend_from_slice(&self.items);
        Ok(body)
    }
}

/// The number of items of a list, which serializes as the length that BCS writes before them.
struct Length(usize);

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_seq(Some(self.0))?.end()
    }
}

fn append_length(out: &mut Vec<u8>, count: usize) -> Result<(), bcs::Error> {
    bcs::serialize_into(out, &Length(count))
}

fn append_rows(out: &mut Vec<u8>, rows: &StoredTransaction) -> Result<(), bcs::Error> {
    /// Variant of the only version of a [`WriteSet`].
    const WRITE_SET_V0: u8 = 0;
    let list = |out: &mut Vec<u8>, list: EncodedList<'_>| {
        append_length(out, list.count)?;
        out.extend_from_slice(list.bytes);
        Ok(())
    };
    out.extend_from_slice(&rows.version().to_le_bytes());
    out.extend_from_slice(rows.transaction_and_info());
    list(out, rows.events())?;
    out.extend_from_slice(rows.accumulator_root());
    out.push(WRITE_SET_V0);
    list(out, rows.writes())
}

/// Variant of a committed transaction in a [`TransactionBcs`].
const ON_CHAIN: u8 = 0;

/// Returns the BCS bytes of [`TransactionBcs::OnChain`] from a transaction in the write-ahead log.
pub(crate) fn encode_wal_transaction(version: u64, logged: &WalTransaction<'_>) -> Vec<u8> {
    let version = version.to_le_bytes();
    // The capacity is exact, because `Bytes` allocates a separate reference count if there is
    // unused capacity.
    let mut body = Vec::with_capacity(size_of_val(&ON_CHAIN) + version.len() + logged.size_bytes());
    body.push(ON_CHAIN);
    body.extend_from_slice(&version);
    for part in [
        logged.transaction,
        logged.info_and_events,
        logged.accumulator_root,
        logged.writes,
    ] {
        body.extend_from_slice(part);
    }
    body
}

/// Returns the BCS bytes of [`TransactionBcs::OnChain`] from a stored transaction.
///
/// # Errors
///
/// Returns an error if the transaction has more events or writes than a BCS list can have.
pub(crate) fn encode_stored_transaction(rows: &StoredTransaction) -> Result<Vec<u8>, bcs::Error> {
    /// Maximum size of a response body beside the rows, in bytes.
    const OVERHEAD_BYTES_MAX: usize = 32;
    let mut body = Vec::with_capacity(rows.size_bytes() + OVERHEAD_BYTES_MAX);
    body.push(ON_CHAIN);
    append_rows(&mut body, rows)?;
    Ok(body)
}

/// Returns the BCS bytes of a block, with its transactions if given.
///
/// # Errors
///
/// Returns an error if a BCS list cannot have that many transactions.
pub(crate) fn encode_block(
    block: &BlockInfo,
    transactions: Option<&ListBcs>,
) -> Result<Vec<u8>, bcs::Error> {
    let head = bcs::to_bytes(&BlockHeaderBcs {
        block_height: block.header.height,
        block_hash: block.hash,
        block_timestamp: block.header.timestamp_usecs,
        first_version: block.first_version,
        last_version: block.last_version,
        has_transactions: transactions.is_some(),
    })?;
    match transactions {
        Some(transactions) => transactions.encode_after(head),
        None => Ok(head),
    }
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
