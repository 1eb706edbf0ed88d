//! Ownership of objects, direct or through a chain of objects that own each other.

use super::{
    EMAXIMUM_NESTING, ENO_UNGATED_TRANSFERS, ENOT_OBJECT_OWNER, EOBJECT_DOES_NOT_EXIST,
    EOBJECT_NOT_TRANSFERRABLE,
    resources::{ObjectCore, TombStone, Transfer, TransferRef, Untransferable},
};
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// Exclusive limit on the number of objects between an object and one of its owners.
///
/// Corresponds to `MAXIMUM_OBJECT_NESTING` of the reference node.
const NESTING_MAX: u8 = 8;

/// Maximum number of owners that [`root_owner`] follows.
///
/// The bound admits chains longer than [`NESTING_MAX`], and ends a cycle of owners early. The
/// reference node follows owners until gas runs out, which every cycle causes.
const ROOT_OWNER_STEPS_MAX: u16 = 256;

/// Returns the core resource of an object.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`.
pub(super) fn require_core(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<ObjectCore, VmError> {
    match context.read_resource(object, &[])? {
        Some(core) => Ok(core),
        None => context.abort("object", &EOBJECT_DOES_NOT_EXIST),
    }
}

/// Returns the direct owner of an object, or `None` if there is no object at `object`.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn owner_of(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<Option<AccountAddress>, VmError> {
    let core = context.read_resource::<ObjectCore>(object, &[])?;
    Ok(core.map(|core| core.owner))
}

/// Returns whether `account` is the object itself, or owns it directly or through a chain of
/// owners.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`, and with
/// `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `account`.
pub fn owns(
    context: &mut Context<'_>,
    object: AccountAddress,
    account: AccountAddress,
) -> Result<bool, VmError> {
    if object == account {
        return Ok(true);
    }
    let mut owner = require_core(context, object)?.owner;
    let mut steps = 0;
    while owner != account {
        steps += 1;
        check_nesting(context, steps)?;
        match owner_of(context, owner)? {
            Some(next) => owner = next,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Checks that `account` is the object itself, or owns it directly or through a chain of owners.
///
/// # Errors
///
/// Aborts with `ENOT_OBJECT_OWNER` if it does not, `EOBJECT_DOES_NOT_EXIST` if there is no object
/// at `object`, and `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `account`.
pub fn check_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
    account: AccountAddress,
) -> Result<(), VmError> {
    if owns(context, object, account)? {
        Ok(())
    } else {
        context.abort("object", &ENOT_OBJECT_OWNER)
    }
}

/// Checks that `account` is the direct owner of the object.
///
/// # Errors
///
/// Aborts with `ENOT_OBJECT_OWNER` if it is not, and with `EOBJECT_DOES_NOT_EXIST` if there is no
/// object at `object`.
pub fn check_direct_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
    account: AccountAddress,
) -> Result<(), VmError> {
    if require_core(context, object)?.owner == account {
        Ok(())
    } else {
        context.abort("object", &ENOT_OBJECT_OWNER)
    }
}

fn check_nesting(context: &mut Context<'_>, steps: u8) -> Result<(), VmError> {
    context.charge(cost::STEP)?;
    if steps < NESTING_MAX {
        Ok(())
    } else {
        context.abort("object", &EMAXIMUM_NESTING)
    }
}

/// Returns the last owner of the chain, which is not an object.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`, and with
/// `EMAXIMUM_NESTING` if the owners form a cycle or the chain exceeds [`ROOT_OWNER_STEPS_MAX`].
pub(super) fn root_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<AccountAddress, VmError> {
    let mut owner = require_core(context, object)?.owner;
    for _ in 0..ROOT_OWNER_STEPS_MAX {
        context.charge(cost::STEP)?;
        match owner_of(context, owner)? {
            Some(next) => owner = next,
            None => return Ok(owner),
        }
    }
    context.abort("object", &EMAXIMUM_NESTING)
}

/// Transfers the object to `to` on behalf of `account`.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`.
/// * `ENO_UNGATED_TRANSFERS` if the object, or an object in the chain up to `account`, forbids
///   transfers by owners.
/// * `ENOT_OBJECT_OWNER` if `account` does not own the object, directly or through a chain.
/// * `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `account`.
pub fn transfer_by(
    context: &mut Context<'_>,
    account: AccountAddress,
    object: AccountAddress,
    to: AccountAddress,
) -> Result<(), VmError> {
    let core = require_core(context, object)?;
    check_ungated(context, &core)?;
    let mut owner = core.owner;
    let mut steps = 0;
    while owner != account {
        steps += 1;
        check_nesting(context, steps)?;
        let Some(next) = context.read_resource::<ObjectCore>(owner, &[])? else {
            return context.abort("object", &ENOT_OBJECT_OWNER);
        };
        check_ungated(context, &next)?;
        owner = next.owner;
    }
    set_owner(context, object, core, to)
}

fn check_ungated(context: &Context<'_>, core: &ObjectCore) -> Result<(), VmError> {
    if core.allow_ungated_transfer {
        Ok(())
    } else {
        context.abort("object", &ENO_UNGATED_TRANSFERS)
    }
}

/// Writes the new owner and emits the event, unless the owner stays the same.
fn set_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
    mut core: ObjectCore,
    to: AccountAddress,
) -> Result<(), VmError> {
    let from = core.owner;
    if from == to {
        return Ok(());
    }
    core.owner = to;
    context.emit(&Transfer { object, from, to })?;
    context.write_resource(object, &[], &core)
}

/// Returns whether the object is bound to its owner permanently.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn is_untransferable(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<bool, VmError> {
    context.has_resource::<Untransferable>(object, &[])
}

/// Sets whether owners may transfer the object.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if the object does not exist, and with
/// `EOBJECT_NOT_TRANSFERRABLE` if it is bound to its owner permanently.
pub fn set_ungated_transfer(
    context: &mut Context<'_>,
    transfer_ref: &TransferRef,
    is_allowed: bool,
) -> Result<(), VmError> {
    let object = transfer_ref.self_;
    let mut core = require_core(context, object)?;
    if is_untransferable(context, object)? {
        return context.abort("object", &EOBJECT_NOT_TRANSFERRABLE);
    }
    core.allow_ungated_transfer = is_allowed;
    context.write_resource(object, &[], &core)
}

/// Binds the object to its owner permanently.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if the object does not exist, and with
/// `EOBJECT_NOT_TRANSFERRABLE` if it is already bound.
pub fn set_untransferable(
    context: &mut Context<'_>,
    transfer_ref: &TransferRef,
) -> Result<(), VmError> {
    set_ungated_transfer(context, transfer_ref, false)?;
    context.write_resource(
        transfer_ref.self_,
        &[],
        &Untransferable { dummy_field: false },
    )
}

/// Returns whether the object is burned.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn is_burnt(context: &mut Context<'_>, object: AccountAddress) -> Result<bool, VmError> {
    context.has_resource::<TombStone>(object, &[])
}
