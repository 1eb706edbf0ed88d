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
pub(super) fn core_of(
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

/// Returns whether `who` is the object itself, or owns it directly or through a chain of owners.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`, and with
/// `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `who`.
pub fn owns(
    context: &mut Context<'_>,
    object: AccountAddress,
    who: AccountAddress,
) -> Result<bool, VmError> {
    if object == who {
        return Ok(true);
    }
    let mut owner = core_of(context, object)?.owner;
    let mut steps = 0;
    while owner != who {
        steps += 1;
        check_nesting(context, steps)?;
        match owner_of(context, owner)? {
            Some(next) => owner = next,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Checks that `who` is the object itself, or owns it directly or through a chain of owners.
///
/// # Errors
///
/// Aborts with `ENOT_OBJECT_OWNER` if it does not, `EOBJECT_DOES_NOT_EXIST` if there is no object
/// at `object`, and `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `who`.
pub fn verify_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
    who: AccountAddress,
) -> Result<(), VmError> {
    if owns(context, object, who)? {
        Ok(())
    } else {
        context.abort("object", &ENOT_OBJECT_OWNER)
    }
}

/// Checks that `who` is the direct owner of the object.
///
/// # Errors
///
/// Aborts with `ENOT_OBJECT_OWNER` if it is not, and with `EOBJECT_DOES_NOT_EXIST` if there is no
/// object at `object`.
pub fn verify_direct_owner(
    context: &mut Context<'_>,
    object: AccountAddress,
    who: AccountAddress,
) -> Result<(), VmError> {
    if core_of(context, object)?.owner == who {
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
    let mut owner = core_of(context, object)?.owner;
    for _ in 0..ROOT_OWNER_STEPS_MAX {
        context.charge(cost::STEP)?;
        match owner_of(context, owner)? {
            Some(next) => owner = next,
            None => return Ok(owner),
        }
    }
    context.abort("object", &EMAXIMUM_NESTING)
}

/// Transfers the object to `to` on behalf of `who`.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`.
/// * `ENO_UNGATED_TRANSFERS` if the object, or an object in the chain up to `who`, forbids
///   transfers by owners.
/// * `ENOT_OBJECT_OWNER` if `who` does not own the object, directly or through a chain.
/// * `EMAXIMUM_NESTING` if the chain reaches the nesting limit before `who`.
pub fn transfer_by(
    context: &mut Context<'_>,
    who: AccountAddress,
    object: AccountAddress,
    to: AccountAddress,
) -> Result<(), VmError> {
    let core = core_of(context, object)?;
    verify_ungated(context, &core)?;
    let mut owner = core.owner;
    let mut steps = 0;
    while owner != who {
        steps += 1;
        check_nesting(context, steps)?;
        let Some(next) = context.read_resource::<ObjectCore>(owner, &[])? else {
            return context.abort("object", &ENOT_OBJECT_OWNER);
        };
        verify_ungated(context, &next)?;
        owner = next.owner;
    }
    set_owner(context, object, core, to)
}

fn verify_ungated(context: &Context<'_>, core: &ObjectCore) -> Result<(), VmError> {
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
    Ok(context
        .read_resource::<Untransferable>(object, &[])?
        .is_some())
}

/// Sets whether owners may transfer the object.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if the object does not exist, and with
/// `EOBJECT_NOT_TRANSFERRABLE` if it is bound to its owner permanently.
pub fn set_ungated_transfer(
    context: &mut Context<'_>,
    power: &TransferRef,
    is_allowed: bool,
) -> Result<(), VmError> {
    let object = power.self_;
    let mut core = core_of(context, object)?;
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
pub fn set_untransferable(context: &mut Context<'_>, power: &TransferRef) -> Result<(), VmError> {
    set_ungated_transfer(context, power, false)?;
    context.write_resource(power.self_, &[], &Untransferable { dummy_field: false })
}

/// Returns whether the object is burned.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn is_burnt(context: &mut Context<'_>, object: AccountAddress) -> Result<bool, VmError> {
    Ok(context.read_resource::<TombStone>(object, &[])?.is_some())
}
