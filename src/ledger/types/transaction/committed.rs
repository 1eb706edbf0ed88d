//! Transactions of every kind as the ledger stores them, and the transaction info that commits to
//! their results.

use super::{SignedTransaction, payload::undecodable_type};
use crate::{AccountAddress, ContractEvent, ModuleId, Vendor, WriteSet};
use ledger_crypto::HashValue;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::sync::Arc;

undecodable_type!(
    /// Placeholder for validator transactions, which this ledger does not have.
    ValidatorTransaction,
    "a validator transaction"
);
undecodable_type!(
    /// Placeholder for block metadata without an extension, which this ledger does not have.
    BareBlockMetadata,
    "block metadata without an extension"
);
undecodable_type!(
    /// Placeholder for the randomness of a block, which this ledger does not have.
    Randomness,
    "randomness"
);

/// A transaction of the ledger. The order of the variants is part of the BCS format.
///
/// A user transaction is shared with the mempool, which holds it until it is durable. Its parts are
/// thus copied and freed only once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Transaction {
    User(Arc<SignedTransaction>),
    Genesis(GenesisPayload),
    BlockMetadata(BareBlockMetadata),
    StateCheckpoint(HashValue),
    Validator(ValidatorTransaction),
    BlockMetadataExt(BlockMetadataExt),
    BlockEpilogue(BlockEpilogue),
}

impl Transaction {
    /// Returns the transaction hash.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().transaction.hash_bcs(self)
    }

    /// Returns the user transaction, or `None` if the transaction is of another kind.
    pub fn as_user(&self) -> Option<&SignedTransaction> {
        match self {
            Self::User(transaction) => Some(transaction),
            _ => None,
        }
    }
}

/// The initial state of a chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum GenesisPayload {
    /// State and events that are written as they are, without execution.
    Direct {
        /// Initial state.
        writes: WriteSet,
        /// Initial events.
        events: Vec<ContractEvent>,
    },
}

/// The first transaction of every block except genesis: its metadata with an extension.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockMetadataExt {
    /// No extension, which this ledger does not write.
    V0(BareBlockMetadata),
    /// The extension with randomness.
    V1 {
        /// The metadata.
        metadata: BlockMetadata,
        /// Randomness of the block: always `None`.
        randomness: Option<Randomness>,
    },
}

/// The metadata of a block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockMetadata {
    /// Hash of the block.
    pub id: HashValue,
    /// Epoch of the block.
    pub epoch: u64,
    /// Round within the epoch.
    pub round: u64,
    /// Account that proposed the block; zero on a chain of one node.
    pub proposer: AccountAddress,
    /// Bitmap of the validators that voted for the parent block, one bit per validator from the
    /// highest bit on. Empty on a chain of several validators, because each of them may have the
    /// votes of others.
    #[serde(with = "serde_bytes")]
    pub previous_block_votes_bitvec: Vec<u8>,
    /// Indices of the validators that failed to propose since the parent block.
    pub failed_proposer_indices: Vec<u32>,
    /// Time of the block, in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
}

/// The last transaction of every block except genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockEpilogue {
    /// The only version.
    V0 {
        /// Hash of the block.
        block_id: HashValue,
        /// Totals of the block, and the limits that it reached.
        block_end_info: BlockEndInfo,
    },
}

/// Totals of a block, and the limits that it reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockEndInfo {
    /// The only version.
    V0 {
        /// `true` if the block reached its gas limit.
        block_gas_limit_reached: bool,
        /// `true` if the block reached its output limit.
        block_output_limit_reached: bool,
        /// Gas of the user transactions for execution and IO, without storage fees, in gas units.
        block_effective_block_gas_units: u64,
        /// Size of the event data and of the written keys and values, in bytes, without those of
        /// the epilogue.
        block_approx_output_size: u64,
    },
}

/// The result of a transaction, which is a leaf of the transaction accumulator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TransactionInfo {
    /// The only version.
    V0(TransactionInfoV0),
}

/// The first version of [`TransactionInfo`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransactionInfoV0 {
    /// Gas charged, in gas units.
    pub gas_used: u64,
    /// Outcome of the transaction.
    pub status: ExecutionStatus,
    /// Hash of the transaction.
    pub transaction_hash: HashValue,
    /// Root hash over the events of the transaction.
    pub event_root_hash: HashValue,
    /// Hash of the write set.
    pub state_change_hash: HashValue,
    /// State root hash at the end of a block; `None` until the ledger has a state tree.
    pub state_checkpoint_hash: Option<HashValue>,
    /// Hash of auxiliary data; this ledger has none.
    pub auxiliary_info_hash: Option<HashValue>,
}

impl TransactionInfo {
    /// Returns the fields.
    pub fn v0(&self) -> &TransactionInfoV0 {
        let Self::V0(info) = self;
        info
    }
}

/// The outcome of a committed transaction. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExecutionStatus {
    /// The transaction executed completely.
    Success,
    /// The transaction needed more gas than its maximum.
    OutOfGas,
    /// A function of the framework aborted.
    MoveAbort {
        /// Module that aborted.
        location: AbortLocation,
        /// Abort code: `category << 16 | reason`.
        code: u64,
        /// Name and description of the code, if it has a name.
        info: Option<AbortInfo>,
    },
    /// A function failed without an abort code, for example on an arithmetic overflow or a missing
    /// resource.
    ExecutionFailure {
        /// Module of the called function.
        location: AbortLocation,
        /// Index of the called function in the declaration of its module.
        function: u16,
        /// Offset in the bytecode: always 0, because there is no bytecode.
        code_offset: u16,
    },
    /// Any other failure, with its status code if it has one.
    MiscellaneousError(Option<u64>),
}

/// The location of a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AbortLocation {
    Module(ModuleId),
    Script,
}

/// The name and the description of an abort code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AbortInfo {
    /// Name of the constant.
    pub reason_name: String,
    /// Description of the constant.
    pub description: String,
}

impl ExecutionStatus {
    /// Returns `true` if the transaction executed completely.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }
}
