//! `0x1::reconfiguration`: the epoch of the chain, in the resource that clients of the reference
//! node read.
//!
//! Genesis ends epoch 0, and no later block ends an epoch.

use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, ModuleDeclaration, MoveStruct, VmError, move_structs};

/// Creation number of the stream of new epochs at `0x1`.
const NEW_EPOCH_STREAM: u64 = 2;

/// Epoch of all blocks after genesis.
const FIRST_EPOCH: u64 = 1;

move_structs! {
    module "reconfiguration";

    /// Event at the start of an epoch.
    NewEpochEvent as "NewEpochEvent" has ["drop", "store"] {
        /// Number of the epoch.
        epoch: u64,
    }

    /// The epoch of the next block.
    Configuration as "Configuration" has ["key"] {
        /// Number of the epoch.
        epoch: u64,
        /// Time of the block that ended the last epoch, in microseconds since 1970.
        last_reconfiguration_time: u64,
        /// Stream of new epochs.
        events: EventHandle<NewEpochEvent>,
    }
}

/// Writes the first epoch and emits its event.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let framework = AccountAddress::ONE;
    let mut configuration = Configuration {
        epoch: FIRST_EPOCH,
        last_reconfiguration_time: 0,
        events: EventHandle::new(framework, NEW_EPOCH_STREAM),
    };
    let event = NewEpochEvent { epoch: FIRST_EPOCH };
    context.emit_to(&mut configuration.events, &event)?;
    context.write_resource(framework, &[], &configuration)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "reconfiguration",
        structs: vec![Configuration::declaration(), NewEpochEvent::declaration()],
        functions: vec![],
        errors: &[],
    }
}
