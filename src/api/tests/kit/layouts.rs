//! Layouts of BCS bodies as the reference node writes them (docs/reference/reference-node.md#r25),
//! defined without the code that renders them.

use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, ContractEvent, SignedTransaction, TransactionInfo,
    transaction::{BlockEndInfo, BlockMetadata},
};
use serde::{Deserialize, Serialize};

/// Body of `GET /v1`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub chain_id: u8,
    pub epoch: String,
    pub ledger_version: String,
    pub oldest_ledger_version: String,
    pub ledger_timestamp: String,
    pub node_role: u8,
    pub oldest_block_height: String,
    pub block_height: String,
}

/// Body of a look-up by hash or version.
#[derive(Debug, Serialize, Deserialize)]
pub enum Found {
    Committed(Box<Committed>),
    Pending(Box<SignedTransaction>),
}

/// A committed transaction.
#[derive(Debug, Serialize, Deserialize)]
pub struct Committed {
    pub version: u64,
    pub transaction: Transaction,
    pub info: TransactionInfo,
    pub events: Vec<ContractEvent>,
    pub accumulator_root_hash: HashValue,
    pub write_set: WriteSet,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Transaction {
    User(Box<SignedTransaction>),
    Genesis(Genesis),
    BlockMetadata(BlockMetadata),
    StateCheckpoint(HashValue),
    /// No layout is recorded.
    Validator,
    BlockMetadataExt(BlockMetadataExt),
    BlockEpilogue(BlockEpilogue),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Genesis {
    Direct(WriteSet, Vec<ContractEvent>),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum BlockMetadataExt {
    V0(BlockMetadata),
    V1(BlockMetadata, Option<(u64, u64, Bytes)>),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum BlockEpilogue {
    V0(HashValue, BlockEndInfo),
    V1(HashValue, BlockEndInfo, FeeDistribution),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum FeeDistribution {
    V0(Vec<(u64, u64)>),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum WriteSet {
    V0(Vec<(StateKey, WriteOp)>),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateKey {
    AccessPath {
        address: AccountAddress,
        path: Bytes,
    },
    TableItem {
        handle: AccountAddress,
        key: Bytes,
    },
    Raw(Bytes),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum WriteOp {
    Creation(Bytes),
    Modification(Bytes),
    Deletion,
    CreationWithMetadata(Bytes, SlotMetadata),
    ModificationWithMetadata(Bytes, SlotMetadata),
    DeletionWithMetadata(SlotMetadata),
}

#[derive(Debug, Serialize, Deserialize)]
pub enum SlotMetadata {
    V0 {
        deposit: u64,
        creation_time_usecs: u64,
    },
    V1 {
        slot_deposit: u64,
        bytes_deposit: u64,
        creation_time_usecs: u64,
    },
}

/// A block, with its transactions if they were requested.
#[derive(Debug, Serialize, Deserialize)]
pub struct Block {
    pub block_height: u64,
    pub block_hash: HashValue,
    pub block_timestamp: u64,
    pub first_version: u64,
    pub last_version: u64,
    pub transactions: Option<Vec<Committed>>,
}

/// Decodes a body to its last byte, and asserts that the value has no other form.
pub fn decode<T: Serialize + for<'d> Deserialize<'d>>(body: &[u8], what: &str) -> T {
    let value: T = bcs::from_bytes(body).unwrap_or_else(|cause| panic!("{what}: {cause}"));
    assert!(bcs::to_bytes(&value).unwrap() == body, "{what}");
    value
}
