//! `0x1::block`: the newest block, as the state shows it to functions and readers.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, VmError, move_structs,
};

const USECS_PER_SEC: u64 = 1_000_000;

/// The creation number of the stream of new blocks at `0x1`.
pub const NEW_BLOCK_STREAM: u64 = 3;
/// The creation number of the stream of changes of the epoch interval at `0x1`.
pub const EPOCH_INTERVAL_STREAM: u64 = 4;

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
    pub fn genesis() -> Self {
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

fn newest(context: &mut Context<'_>) -> Result<BlockResource, VmError> {
    context.require_resource(AccountAddress::ONE, &[])
}

fn get_current_block_height(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
    Ok(newest(context)?.height)
}

fn get_epoch_interval_secs(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
    Ok(newest(context)?.epoch_interval / USECS_PER_SEC)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "block",
        structs: vec![
            BlockResource::declaration(),
            NewBlockEvent::declaration(),
            UpdateEpochIntervalEvent::declaration(),
        ],
        functions: vec![
            Function::view("get_current_block_height", get_current_block_height),
            Function::view("get_epoch_interval_secs", get_epoch_interval_secs),
        ],
        errors: &[],
    }
}
