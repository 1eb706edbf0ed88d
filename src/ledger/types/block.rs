//! Blocks: as ordered (what is to be executed), as executed (what is to be stored), and the facts
//! about the ledger that every answer carries.

use crate::{
    AccountAddress, Accumulator, CheckedTransaction, ContractEvent, Transaction, TransactionInfo,
    Vendor, WriteSet,
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A block whose content and order are decided, not executed yet.
#[derive(Clone, Debug)]
pub struct OrderedBlock {
    /// Its height: the parent's plus one.
    pub height: u64,
    /// The epoch it belongs to.
    pub epoch: u64,
    /// The round within the epoch that decided it.
    pub round: u64,
    /// Who proposed it; zero on a chain of one node.
    pub proposer: AccountAddress,
    /// Block time, microseconds since the Unix epoch; above the parent's.
    pub timestamp_usecs: u64,
    /// The user transactions in order, shared with the pool that holds them until they are durable.
    pub transactions: Vec<Arc<CheckedTransaction>>,
    /// The engine's proof that the order was agreed; kept with the block, empty on a chain of one node.
    pub certificate: Bytes,
}

/// What a block hash covers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockHeader {
    /// The parent's block hash; zero for genesis.
    pub parent_hash: HashValue,
    /// The height.
    pub height: u64,
    /// The epoch.
    pub epoch: u64,
    /// The round within the epoch.
    pub round: u64,
    /// Who proposed it.
    pub proposer: AccountAddress,
    /// Block time, microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// Root over the hashes of the ordered user transactions, the discarded ones included.
    pub payload_root: HashValue,
}

impl BlockHeader {
    /// The block hash.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().block.hash_bcs(self)
    }
}

/// An ordered transaction that the prologue refused or for which the block had no room: it is in no
/// version, pays nothing, and is named here so that the payload root can be checked from what is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiscardedTransaction {
    /// Its place among the ordered transactions, from 0.
    pub position: u32,
    /// Its hash.
    pub hash: HashValue,
    /// Number of the validation status that rejects it (docs/reference/reference-node.md#r14), or
    /// [`DiscardedTransaction::LEFT_OUT`].
    pub status_code: u64,
}

impl DiscardedTransaction {
    /// The status of a transaction that was not executed because its block was full; a later block may
    /// take it. Above the reference's classes of status codes, which end at 4999: it has no number for this.
    pub const LEFT_OUT: u64 = 10_000;

    /// A transaction for which its block had no room.
    pub fn left_out(position: u32, hash: HashValue) -> Self {
        Self {
            position,
            hash,
            status_code: Self::LEFT_OUT,
        }
    }

    /// Whether its block had no room for it. Nothing is known against it then.
    pub fn is_left_out(&self) -> bool {
        self.status_code == Self::LEFT_OUT
    }
}

/// A committed transaction with everything it did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExecutedTransaction {
    /// The transaction.
    pub transaction: Transaction,
    /// Its hash.
    pub hash: HashValue,
    /// What proves it.
    pub info: TransactionInfo,
    /// Its events in order.
    pub events: Vec<ContractEvent>,
    /// What it changed.
    pub writes: WriteSet,
    /// Root of the transaction accumulator after it.
    pub accumulator_root: HashValue,
}

impl ExecutedTransaction {
    /// What it put out: the data of its events, and the keys and values it wrote, in bytes.
    pub fn output_bytes(&self) -> usize {
        output_bytes(&self.events, &self.writes)
    }
}

/// The data of events, and the keys and values of changes, in bytes.
pub fn output_bytes(events: &[ContractEvent], writes: &WriteSet) -> usize {
    let events = events.iter().map(|event| event.data().len());
    let writes = writes
        .iter()
        .map(|(key, op)| key.as_bytes().len() + op.value().map_or(0, Bytes::len));
    events.chain(writes).sum()
}

/// The end of the chain after a block: all that executing the next block needs beside the state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChainTip {
    /// Height of the block.
    pub height: u64,
    /// Its block hash.
    pub block_hash: HashValue,
    /// Its last version.
    pub version: u64,
    /// The epoch of the next block: the block's own, or the one after it when the block ends an epoch.
    pub epoch: u64,
    /// Its time, microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// The transaction accumulator after it.
    pub accumulator: Accumulator,
}

/// An executed block: the whole of what is stored for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExecutedBlock {
    /// What the block hash covers.
    pub header: BlockHeader,
    /// The version of the first transaction.
    pub first_version: u64,
    /// The committed transactions in order: metadata, user transactions, epilogue. Never empty.
    pub transactions: Vec<ExecutedTransaction>,
    /// The ordered transactions that were refused or left out.
    pub discarded: Vec<DiscardedTransaction>,
    /// The engine's proof, empty on a chain of one node.
    pub certificate: Bytes,
    /// The end of the chain after this block.
    pub tip: ChainTip,
}

impl ExecutedBlock {
    /// The height.
    pub fn height(&self) -> u64 {
        self.header.height
    }

    /// The version of the last transaction.
    pub fn last_version(&self) -> u64 {
        self.tip.version
    }

    /// The committed transactions with their versions, in order.
    pub fn versioned(&self) -> impl Iterator<Item = (u64, &ExecutedTransaction)> {
        (self.first_version..).zip(&self.transactions)
    }
}

/// A stored block without its transactions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockInfo {
    /// What the block hash covers.
    pub header: BlockHeader,
    /// The block hash.
    pub hash: HashValue,
    /// Its first version.
    pub first_version: u64,
    /// Its last version.
    pub last_version: u64,
    /// The ordered transactions that were refused or left out.
    pub discarded: Vec<DiscardedTransaction>,
    /// The engine's proof, empty on a chain of one node.
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

/// The ledger metadata that every response has in its headers (docs/reference/rest-contract.md#s2-10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LedgerInfo {
    /// The chain id.
    pub chain_id: u8,
    /// The current epoch.
    pub epoch: u64,
    /// The newest version; always the last of a block.
    pub version: u64,
    /// The oldest version that can be read; always the first of a block.
    pub oldest_version: u64,
    /// The newest block's height.
    pub block_height: u64,
    /// The height of the block that `oldest_version` begins.
    pub oldest_block_height: u64,
    /// The newest block's time, microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
}
