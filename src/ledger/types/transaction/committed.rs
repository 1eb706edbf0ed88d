//! What the ledger keeps: the transaction in one of its kinds, and the info that proves what it did.

use super::{SignedTransaction, payload::refused_when_decoded};
use crate::{AccountAddress, ContractEvent, ModuleId, Vendor, WriteSet};
use ledger_crypto::HashValue;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::sync::Arc;

refused_when_decoded!(
    /// Stands for validator transactions, which this ledger has none of.
    ValidatorTransaction,
    "a validator transaction"
);
refused_when_decoded!(
    /// Stands for block metadata with randomness, which this ledger has none of.
    BlockMetadataExt,
    "extended block metadata"
);

/// A transaction of the ledger. The order of the variants is the wire's.
///
/// A user's is shared with the pool, which holds it until it is durable, so that its parts are copied and freed once only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Transaction {
    User(Arc<SignedTransaction>),
    Genesis(GenesisPayload),
    BlockMetadata(BlockMetadata),
    StateCheckpoint(HashValue),
    Validator(ValidatorTransaction),
    BlockMetadataExt(BlockMetadataExt),
    BlockEpilogue(BlockEpilogue),
}

impl Transaction {
    /// The transaction hash.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().transaction.hash_bcs(self)
    }

    /// The user transaction, if it is one.
    pub fn as_user(&self) -> Option<&SignedTransaction> {
        match self {
            Self::User(transaction) => Some(transaction),
            _ => None,
        }
    }
}

/// The state a chain starts with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum GenesisPayload {
    /// Written as it stands.
    Direct {
        /// The state.
        writes: WriteSet,
        /// The events.
        events: Vec<ContractEvent>,
    },
}

/// The first transaction of every block but genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockMetadata {
    /// The block hash.
    pub id: HashValue,
    /// The epoch.
    pub epoch: u64,
    /// The round within the epoch.
    pub round: u64,
    /// Who proposed the block; zero on a chain of one node.
    pub proposer: AccountAddress,
    /// Which validators voted for the parent, a bit each.
    #[serde(with = "serde_bytes")]
    pub previous_block_votes_bitvec: Vec<u8>,
    /// Which validators failed to propose since the parent.
    pub failed_proposer_indices: Vec<u32>,
    /// Block time, microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
}

/// The last transaction of every block but genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockEpilogue {
    /// The only version.
    V0 {
        /// The block hash.
        block_id: HashValue,
        /// How the block ended.
        block_end_info: BlockEndInfo,
    },
}

/// How a block ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockEndInfo {
    /// The only version.
    V0 {
        /// Whether the block's gas limit cut it short.
        block_gas_limit_reached: bool,
        /// Whether the block's output limit cut it short.
        block_output_limit_reached: bool,
        /// Gas units of the work of its transactions: execution and io, without the storage fee's.
        block_effective_block_gas_units: u64,
        /// Bytes of all its events and writes.
        block_approx_output_size: u64,
    },
}

/// What a transaction did, as a leaf of the transaction accumulator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TransactionInfo {
    /// The only version.
    V0(TransactionInfoV0),
}

/// The first version of [`TransactionInfo`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransactionInfoV0 {
    /// Gas units charged.
    pub gas_used: u64,
    /// How it ended.
    pub status: ExecutionStatus,
    /// Its hash.
    pub transaction_hash: HashValue,
    /// Root over its events.
    pub event_root_hash: HashValue,
    /// Hash of its write set.
    pub state_change_hash: HashValue,
    /// State root at the end of a block; absent until the state tree exists.
    pub state_checkpoint_hash: Option<HashValue>,
    /// Hash of auxiliary data; this ledger has none.
    pub auxiliary_info_hash: Option<HashValue>,
}

impl TransactionInfo {
    /// The fields.
    pub fn v0(&self) -> &TransactionInfoV0 {
        let Self::V0(info) = self;
        info
    }
}

/// How a committed transaction ended. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExecutionStatus {
    /// It did what it was to do.
    Success,
    /// It used more gas than it allowed.
    OutOfGas,
    /// A function of the framework refused.
    MoveAbort {
        /// Which module refused.
        location: AbortLocation,
        /// `category << 16 | reason`.
        code: u64,
        /// The code in words, where the module has words for it.
        info: Option<AbortInfo>,
    },
    /// A function failed without a code: arithmetic out of range, a resource that is missing.
    ExecutionFailure {
        /// Which module failed.
        location: AbortLocation,
        /// The index of the function in its module's declaration.
        function: u16,
        /// Always 0: there is no bytecode.
        code_offset: u16,
    },
    /// Anything else, with its status code.
    MiscellaneousError(Option<u64>),
}

/// Where an abort was raised.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AbortLocation {
    Module(ModuleId),
    Script,
}

/// An abort code in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AbortInfo {
    /// The name of the constant.
    pub reason_name: String,
    /// What it means.
    pub description: String,
}

impl ExecutionStatus {
    /// Whether the transaction did what it was to do.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }
}
