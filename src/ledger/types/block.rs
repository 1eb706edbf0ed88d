//! Ordered blocks (the input of execution), executed blocks (the input of the store), and the
//! ledger info in the headers of API responses.

use crate::{
    AccountAddress, Accumulator, CheckedTransaction, ContractEvent, LedgerRoot, RecentRoots,
    Transaction, TransactionInfo, Vendor, WriteSet,
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A block with final content and order that is not yet executed.
#[derive(Clone, Debug)]
pub struct OrderedBlock {
    /// Height of the block, which is the parent's plus one.
    pub height: u64,
    /// Epoch of the block.
    pub epoch: u64,
    /// Round within the epoch that decided the block.
    pub round: u64,
    /// Address of the proposer; zero on a chain of one node.
    pub proposer: AccountAddress,
    /// Block time in microseconds since the Unix epoch, above the parent's.
    pub timestamp_usecs: u64,
    /// Value of [`BlockHeader::executed`] that the validators decided, which this node's own must
    /// equal; `None` if this node orders the block alone, with its own.
    pub executed: Option<LedgerRoot>,
    /// User transactions in order. The mempool shares them until they are durable.
    pub transactions: Vec<Arc<CheckedTransaction>>,
    /// Proof of agreement by the consensus engine, stored with the block; empty on a chain of one
    /// node.
    pub certificate: Bytes,
}

/// The part of a block that its hash covers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockHeader {
    /// Block hash of the parent; zero for genesis.
    pub parent_hash: HashValue,
    /// Height of the block.
    pub height: u64,
    /// Epoch of the block.
    pub epoch: u64,
    /// Round within the epoch.
    pub round: u64,
    /// Address of the proposer.
    pub proposer: AccountAddress,
    /// Block time in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// Merkle root of the hashes of the ordered user transactions, including discarded ones.
    pub payload_root: HashValue,
    /// Ledger after the block [`root_delay_blocks`](crate::Parameters::root_delay_blocks) heights
    /// before, or after genesis for the first blocks and for genesis itself.
    pub executed: LedgerRoot,
}

impl BlockHeader {
    /// Returns the block hash.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().block.hash_bcs(self)
    }
}

/// An ordered transaction that the prologue rejected or that did not fit into the block.
///
/// It has no version and pays nothing. The block stores its hash, so that the payload root can be
/// verified from stored data. On a chain of several validators it stores the transaction too, so
/// that a decided block can be sent to another validator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiscardedTransaction {
    /// Index among the ordered transactions, from 0.
    pub position: u32,
    /// Hash of the transaction.
    pub hash: HashValue,
    /// Number of the validation status that rejects it (docs/reference/reference-node.md#r14), or
    /// [`DiscardedTransaction::NOT_INCLUDED`].
    pub status_code: u64,
    /// BCS form of the signed transaction if the block has a certificate, else empty.
    pub transaction: Bytes,
}

impl DiscardedTransaction {
    /// Status code of a transaction that was not executed because its block was full.
    ///
    /// A later block may include the transaction. The reference node has no code for this case, so
    /// the number is above its classes of status codes, which end at 4999.
    pub const NOT_INCLUDED: u64 = 10_000;

    /// Creates the entry of a transaction that did not fit into its block.
    ///
    /// `transaction` is its BCS form if the block has a certificate, else empty.
    pub fn not_included(position: u32, hash: HashValue, transaction: Bytes) -> Self {
        Self {
            position,
            hash,
            status_code: Self::NOT_INCLUDED,
            transaction,
        }
    }

    /// Returns whether the transaction did not fit into its block. It may then be valid, because no
    /// prologue has rejected it.
    pub fn is_not_included(&self) -> bool {
        self.status_code == Self::NOT_INCLUDED
    }
}

/// A committed transaction with its events and writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExecutedTransaction {
    /// The transaction.
    pub transaction: Transaction,
    /// Hash of the transaction.
    pub hash: HashValue,
    /// Transaction info, the leaf of the transaction accumulator that proves the results.
    pub info: TransactionInfo,
    /// Events in order.
    pub events: Vec<ContractEvent>,
    /// Changes of the state.
    pub writes: WriteSet,
    /// Root of the transaction accumulator after the transaction.
    pub accumulator_root: HashValue,
}

impl ExecutedTransaction {
    /// Returns the size of the output in bytes: event data, and written keys and values.
    pub fn output_bytes(&self) -> usize {
        output_bytes(&self.events, &self.writes)
    }
}

/// Returns the total size of the data of `events` and of the keys and values in `writes`, in bytes.
pub fn output_bytes(events: &[ContractEvent], writes: &WriteSet) -> usize {
    let events = events.iter().map(|event| event.data().len());
    let writes = writes
        .iter()
        .map(|(key, op)| key.as_bytes().len() + op.value().map_or(0, Bytes::len));
    events.chain(writes).sum()
}

/// The end of the chain after a block. Execution of the next block needs only it and the state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChainTip {
    /// Height of the block.
    pub height: u64,
    /// Hash of the block.
    pub block_hash: HashValue,
    /// Last version of the block.
    pub version: u64,
    /// Epoch of the next block: the block's epoch, or the following one if the block ends an epoch.
    pub epoch: u64,
    /// Block time in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// Transaction accumulator after the block.
    pub accumulator: Accumulator,
    /// Roots that the headers of the next blocks name. Pruning does not remove them.
    pub roots: RecentRoots,
}

/// An executed block with all of its stored data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExecutedBlock {
    /// The part that the block hash covers.
    pub header: BlockHeader,
    /// Version of the first transaction.
    pub first_version: u64,
    /// Committed transactions in order: metadata, user transactions, epilogue. Never empty.
    pub transactions: Vec<ExecutedTransaction>,
    /// Ordered transactions that were rejected or did not fit.
    pub discarded: Vec<DiscardedTransaction>,
    /// Proof of the consensus engine; empty on a chain of one node.
    pub certificate: Bytes,
    /// End of the chain after the block.
    pub tip: ChainTip,
}

impl ExecutedBlock {
    /// Returns the height of the block.
    pub fn height(&self) -> u64 {
        self.header.height
    }

    /// Returns the version of the last transaction.
    pub fn last_version(&self) -> u64 {
        self.tip.version
    }

    /// Returns the committed transactions with their versions, in order.
    pub fn versioned(&self) -> impl Iterator<Item = (u64, &ExecutedTransaction)> {
        (self.first_version..).zip(&self.transactions)
    }
}

/// A stored block without its transactions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockInfo {
    /// The part that the block hash covers.
    pub header: BlockHeader,
    /// Hash of the block.
    pub hash: HashValue,
    /// First version of the block.
    pub first_version: u64,
    /// Last version of the block.
    pub last_version: u64,
    /// Ordered transactions that were rejected or did not fit.
    pub discarded: Vec<DiscardedTransaction>,
    /// Proof of the consensus engine; empty on a chain of one node.
    pub certificate: Bytes,
}

impl From<&ExecutedBlock> for BlockInfo {
    fn from(block: &ExecutedBlock) -> Self {
        Self {
            header: block.header.clone(),
            hash: block.tip.block_hash,
            first_version: block.first_version,
            last_version: block.tip.version,
            discarded: block.discarded.clone(),
            certificate: block.certificate.clone(),
        }
    }
}

/// The ledger metadata that every successful response has in its headers
/// (docs/reference/rest-contract.md#s2-10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LedgerInfo {
    /// Chain id.
    pub chain_id: u8,
    /// Current epoch, as in [`ChainTip::epoch`].
    pub epoch: u64,
    /// Newest version, always the last one of a block.
    pub version: u64,
    /// Oldest readable version, always the first one of a block.
    pub oldest_version: u64,
    /// Height of the newest block.
    pub block_height: u64,
    /// Height of the block that starts at `oldest_version`.
    pub oldest_block_height: u64,
    /// Time of the newest block in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
}
