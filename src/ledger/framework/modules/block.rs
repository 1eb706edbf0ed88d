//! `0x1::block`, `0x1::timestamp`, `0x1::chain_id`: what the ledger says of itself in its state.

use super::event::EventHandle;
use crate::{
    AccountAddress,
    framework::declare::{ModuleDeclaration, MoveStruct, move_structs},
};

/// The creation number of the stream of new blocks at `0x1`.
pub const NEW_BLOCK_STREAM: u64 = 3;
/// The creation number of the stream of changes of the epoch interval at `0x1`.
pub const EPOCH_INTERVAL_STREAM: u64 = 4;

mod chain_id {
    use super::*;

    move_structs! {
        module "chain_id";

        /// The chain id.
        ChainId as "ChainId" has ["key"] {
            /// The number.
            id: u8,
        }
    }
}
pub use chain_id::ChainId;

mod timestamp {
    use super::*;

    move_structs! {
        module "timestamp";

        /// The time of the newest block.
        CurrentTimeMicroseconds as "CurrentTimeMicroseconds" has ["key"] {
            /// Microseconds since the Unix epoch.
            microseconds: u64,
        }
    }
}
pub use timestamp::CurrentTimeMicroseconds;

move_structs! {
    module "block";

    /// A block began.
    NewBlockEvent as "NewBlockEvent" has ["copy", "drop", "store"] {
        /// The block hash.
        hash: AccountAddress,
        /// The epoch.
        epoch: u64,
        /// The round within the epoch.
        round: u64,
        /// The height.
        height: u64,
        /// Which validators voted for the parent.
        previous_block_votes_bitvec: Vec<u8>,
        /// Who proposed the block.
        proposer: AccountAddress,
        /// Which validators failed to propose since the parent.
        failed_proposer_indices: Vec<u64>,
        /// Block time.
        time_microseconds: u64,
    }

    /// The epoch interval changed.
    UpdateEpochIntervalEvent as "UpdateEpochIntervalEvent" has ["drop", "store"] {
        /// Until then, in microseconds.
        old_epoch_interval: u64,
        /// From then on, in microseconds.
        new_epoch_interval: u64,
    }

    /// The newest block.
    BlockResource as "BlockResource" has ["key"] {
        /// Its height.
        height: u64,
        /// How long an epoch lasts, in microseconds.
        epoch_interval: u64,
        /// The stream of new blocks.
        new_block_events: EventHandle<NewBlockEvent>,
        /// The stream of changes of the interval.
        update_epoch_interval_events: EventHandle<UpdateEpochIntervalEvent>,
    }
}

impl NewBlockEvent {
    /// The event of block 0.
    pub(crate) fn genesis() -> Self {
        Self {
            hash: AccountAddress::ZERO,
            epoch: 0,
            round: 0,
            height: 0,
            previous_block_votes_bitvec: Vec::new(),
            proposer: AccountAddress::ZERO,
            failed_proposer_indices: Vec::new(),
            time_microseconds: 0,
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "block",
        structs: vec![
            BlockResource::declaration(),
            NewBlockEvent::declaration(),
            UpdateEpochIntervalEvent::declaration(),
        ],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn chain_id_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "chain_id",
        structs: vec![ChainId::declaration()],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn timestamp_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "timestamp",
        structs: vec![CurrentTimeMicroseconds::declaration()],
        functions: vec![],
        errors: &[],
    }
}
