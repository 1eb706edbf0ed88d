//! `0x1::block`: the newest block, as functions and clients read it from the state.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, VmError, move_structs,
};

const USECS_PER_SEC: u64 = 1_000_000;

/// Creation number of the stream of new blocks at `0x1`.
pub const NEW_BLOCK_STREAM: u64 = 3;
/// Creation number of the stream of epoch interval changes at `0x1`.
pub const EPOCH_INTERVAL_STREAM: u64 = 4;

move_structs! {
    module "block";

    /// Event at the start of a block.
    NewBlockEvent as "NewBlockEvent" has ["copy", "drop", "store"] {
        /// Hash of the block.
        hash: AccountAddress,
        /// Epoch of the block.
        epoch: u64,
        /// Round within the epoch.
        round: u64,
        /// Height of the block.
        height: u64,
        /// Bit vector of the validators that voted for the parent block.
        previous_block_votes_bitvec: Vec<u8>,
        /// Validator that proposed the block.
        proposer: AccountAddress,
        /// Indices of the validators that failed to propose since the parent block.
        failed_proposer_indices: Vec<u64>,
        /// Time of the block, in microseconds since 1970.
        time_microseconds: u64,
    }

    /// Event of a change of the epoch interval.
    UpdateEpochIntervalEvent as "UpdateEpochIntervalEvent" has ["drop", "store"] {
        /// Interval before the change, in microseconds.
        old_epoch_interval: u64,
        /// Interval after the change, in microseconds.
        new_epoch_interval: u64,
    }

    /// The newest block and its event streams.
    BlockResource as "BlockResource" has ["key"] {
        /// Height of the newest block.
        height: u64,
        /// Duration of an epoch, in microseconds.
        epoch_interval: u64,
        /// Stream of new blocks.
        new_block_events: EventHandle<NewBlockEvent>,
        /// Stream of epoch interval changes.
        update_epoch_interval_events: EventHandle<UpdateEpochIntervalEvent>,
    }
}

impl NewBlockEvent {
    /// Returns the event of block 0.
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

fn newest_block(context: &mut Context<'_>) -> Result<BlockResource, VmError> {
    context.require_resource(AccountAddress::ONE, &[])
}

fn get_current_block_height(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
    Ok(newest_block(context)?.height)
}

fn get_epoch_interval_secs(context: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
    Ok(newest_block(context)?.epoch_interval / USECS_PER_SEC)
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
