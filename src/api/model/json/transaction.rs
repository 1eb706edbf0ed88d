//! JSON form of a transaction, pending or committed, as a union with the discriminator `type`.

use super::{JsonString, PendingJson, RequestJson, changes::ChangeJson, events::EventJson};
use crate::model::TableTypes;
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, CheckedTransaction, ContractEvent, ExecutedTransaction, StateKey, Transaction,
    WriteSet, state_key_hashes,
    transaction::{BlockEndInfo, BlockEpilogue, BlockMetadata, BlockMetadataExt, GenesisPayload},
};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Serialize;

/// A transaction, pending or committed.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "Transaction")]
pub(crate) enum TransactionJson<'a> {
    #[serde(rename = "pending_transaction")]
    Pending(Box<PendingJson<'a>>),
    #[serde(rename = "user_transaction")]
    User(Box<UserJson<'a>>),
    #[serde(rename = "genesis_transaction")]
    Genesis(Box<GenesisJson<'a>>),
    #[serde(rename = "block_metadata_transaction")]
    BlockMetadata(Box<BlockMetadataJson<'a>>),
    #[serde(rename = "state_checkpoint_transaction")]
    StateCheckpoint(Box<StateCheckpointJson<'a>>),
    #[serde(rename = "block_epilogue_transaction")]
    BlockEpilogue(Box<BlockEpilogueJson<'a>>),
}

/// The fields that all committed transactions share.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransactionInfo")]
struct InfoJson<'a> {
    version: JsonString<u64>,
    hash: JsonString<HashValue>,
    state_change_hash: JsonString<HashValue>,
    event_root_hash: JsonString<HashValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonString<HashValue>")]
    state_checkpoint_hash: Option<JsonString<HashValue>>,
    gas_used: JsonString<u64>,
    success: bool,
    vm_status: String,
    accumulator_root_hash: JsonString<HashValue>,
    changes: Vec<ChangeJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UserTransaction", inline)]
pub(crate) struct UserJson<'a> {
    #[serde(flatten)]
    info: InfoJson<'a>,
    #[serde(flatten)]
    request: RequestJson<'a>,
    events: Vec<EventJson<'a>>,
    timestamp: JsonString<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GenesisTransaction", inline)]
pub(crate) struct GenesisJson<'a> {
    #[serde(flatten)]
    info: InfoJson<'a>,
    payload: GenesisPayloadJson<'a>,
    events: Vec<EventJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "GenesisPayload")]
enum GenesisPayloadJson<'a> {
    WriteSetPayload { write_set: WriteSetJson<'a> },
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "WriteSet")]
enum WriteSetJson<'a> {
    DirectWriteSet {
        changes: Vec<ChangeJson<'a>>,
        events: Vec<EventJson<'a>>,
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockMetadataTransaction", inline)]
pub(crate) struct BlockMetadataJson<'a> {
    #[serde(flatten)]
    info: InfoJson<'a>,
    id: JsonString<HashValue>,
    epoch: JsonString<u64>,
    round: JsonString<u64>,
    events: Vec<EventJson<'a>>,
    previous_block_votes_bitvec: &'a [u8],
    proposer: JsonString<AccountAddress>,
    failed_proposer_indices: &'a [u32],
    timestamp: JsonString<u64>,
    block_metadata_extension: BlockMetadataExtensionJson,
}

/// The extension of a block's metadata. This ledger has no randomness.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "BlockMetadataExtension")]
enum BlockMetadataExtensionJson {
    V1 { randomness: () },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StateCheckpointTransaction", inline)]
pub(crate) struct StateCheckpointJson<'a> {
    #[serde(flatten)]
    info: InfoJson<'a>,
    timestamp: JsonString<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockEpilogueTransaction", inline)]
pub(crate) struct BlockEpilogueJson<'a> {
    #[serde(flatten)]
    info: InfoJson<'a>,
    timestamp: JsonString<u64>,
    block_end_info: BlockEndInfoJson,
}

/// The limits that ended a block, and its size. The two sizes are numbers, not strings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockEndInfo")]
struct BlockEndInfoJson {
    block_gas_limit_reached: bool,
    block_output_limit_reached: bool,
    block_effective_block_gas_units: u64,
    block_approx_output_size: u64,
}

/// A committed transaction and its position in the ledger.
#[derive(Clone, Copy)]
pub(crate) struct CommittedJson<'a> {
    /// Version of the transaction.
    pub version: u64,
    /// Time of the transaction's block, in microseconds since the Unix epoch.
    pub timestamp_usecs: u64,
    /// The transaction with its output.
    pub executed: &'a ExecutedTransaction,
    /// Types of the tables that the transaction changed.
    pub tables: &'a TableTypes,
}

impl<'a> CommittedJson<'a> {
    /// Returns the state keys that the transaction changed.
    fn keys(self) -> impl Iterator<Item = &'a StateKey> {
        self.executed.writes.iter().map(|(key, _)| key)
    }
}

impl<'a> TransactionJson<'a> {
    /// Creates the view of a pending transaction.
    pub fn pending(chain: &'a Chain, transaction: &'a CheckedTransaction) -> Self {
        Self::Pending(Box::new(PendingJson::new(chain, transaction)))
    }

    /// Creates the view of a committed transaction.
    pub fn committed(chain: &'a Chain, committed: CommittedJson<'a>) -> Self {
        let hashes = state_key_hashes(chain.vendor(), committed.keys());
        Self::with_hashes(chain, committed, &hashes)
    }

    /// Sets the text of the status of a user transaction.
    pub fn with_vm_status(mut self, vm_status: String) -> Self {
        if let Self::User(user) = &mut self {
            user.info.vm_status = vm_status;
        }
        self
    }

    /// Creates the views of several committed transactions, in order. The state keys of all of them
    /// are hashed in one batch.
    pub fn all_committed(
        chain: &'a Chain,
        all: impl ExactSizeIterator<Item = CommittedJson<'a>> + Clone,
    ) -> Vec<Self> {
        let hashes = state_key_hashes(chain.vendor(), all.clone().flat_map(CommittedJson::keys));
        let mut rest = &hashes[..];
        let view = |committed: CommittedJson<'a>| {
            let (own, remaining) = rest.split_at(committed.executed.writes.len());
            rest = remaining;
            Self::with_hashes(chain, committed, own)
        };
        all.map(view).collect()
    }

    /// Creates the view of a committed transaction. `hashes` are the hashes of the state keys that
    /// it changed, in order.
    fn with_hashes(chain: &'a Chain, committed: CommittedJson<'a>, hashes: &[HashValue]) -> Self {
        let CommittedJson {
            version,
            timestamp_usecs,
            executed,
            tables,
        } = committed;
        let changes = ChangeJson::all(chain, &executed.writes, hashes, tables);
        let info = InfoJson::new(chain, version, executed, changes);
        let events = || EventJson::all(chain, &executed.events);
        let timestamp = JsonString(timestamp_usecs);
        match &executed.transaction {
            Transaction::User(transaction) => Self::User(Box::new(UserJson {
                info,
                request: RequestJson::new(chain, transaction),
                events: events(),
                timestamp,
            })),
            Transaction::Genesis(payload) => Self::Genesis(Box::new(GenesisJson {
                info,
                payload: GenesisPayloadJson::new(chain, payload, tables),
                events: events(),
            })),
            Transaction::BlockMetadataExt(BlockMetadataExt::V1 { metadata, .. }) => {
                Self::BlockMetadata(Box::new(BlockMetadataJson::new(info, metadata, events())))
            }
            Transaction::StateCheckpoint(_) => {
                Self::StateCheckpoint(Box::new(StateCheckpointJson { info, timestamp }))
            }
            Transaction::BlockEpilogue(BlockEpilogue::V0 { block_end_info, .. }) => {
                Self::BlockEpilogue(Box::new(BlockEpilogueJson {
                    info,
                    timestamp,
                    block_end_info: block_end_info.into(),
                }))
            }
            Transaction::Validator(never) => match *never {},
            Transaction::BlockMetadata(never)
            | Transaction::BlockMetadataExt(BlockMetadataExt::V0(never)) => match *never {},
        }
    }
}

impl<'a> InfoJson<'a> {
    fn new(
        chain: &'a Chain,
        version: u64,
        executed: &ExecutedTransaction,
        changes: Vec<ChangeJson<'a>>,
    ) -> Self {
        let info = executed.info.v0();
        Self {
            version: JsonString(version),
            hash: JsonString(executed.hash),
            state_change_hash: JsonString(info.state_change_hash),
            event_root_hash: JsonString(info.event_root_hash),
            state_checkpoint_hash: info.state_checkpoint_hash.map(JsonString),
            gas_used: JsonString(info.gas_used),
            success: info.status.is_success(),
            vm_status: chain.vm_status(&info.status),
            accumulator_root_hash: JsonString(executed.accumulator_root),
            changes,
        }
    }
}

impl<'a> GenesisPayloadJson<'a> {
    fn new(chain: &'a Chain, payload: &'a GenesisPayload, tables: &TableTypes) -> Self {
        let GenesisPayload::Direct { writes, events } = payload;
        Self::WriteSetPayload {
            write_set: WriteSetJson::new(chain, writes, events, tables),
        }
    }
}

impl<'a> WriteSetJson<'a> {
    fn new(
        chain: &'a Chain,
        writes: &WriteSet,
        events: &'a [ContractEvent],
        tables: &TableTypes,
    ) -> Self {
        Self::DirectWriteSet {
            changes: ChangeJson::of_write_set(chain, writes, tables),
            events: EventJson::all(chain, events),
        }
    }
}

impl<'a> BlockMetadataJson<'a> {
    fn new(info: InfoJson<'a>, metadata: &'a BlockMetadata, events: Vec<EventJson<'a>>) -> Self {
        Self {
            info,
            id: JsonString(metadata.id),
            epoch: JsonString(metadata.epoch),
            round: JsonString(metadata.round),
            events,
            previous_block_votes_bitvec: &metadata.previous_block_votes_bitvec,
            proposer: JsonString(metadata.proposer),
            failed_proposer_indices: &metadata.failed_proposer_indices,
            timestamp: JsonString(metadata.timestamp_usecs),
            block_metadata_extension: BlockMetadataExtensionJson::V1 { randomness: () },
        }
    }
}

impl From<&BlockEndInfo> for BlockEndInfoJson {
    fn from(info: &BlockEndInfo) -> Self {
        let BlockEndInfo::V0 {
            block_gas_limit_reached,
            block_output_limit_reached,
            block_effective_block_gas_units,
            block_approx_output_size,
        } = *info;
        Self {
            block_gas_limit_reached,
            block_output_limit_reached,
            block_effective_block_gas_units,
            block_approx_output_size,
        }
    }
}
