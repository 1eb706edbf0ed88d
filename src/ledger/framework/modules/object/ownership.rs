//! Who owns an object: directly, or through a chain of objects that own each other.

use super::{
    EMAXIMUM_NESTING, ENO_UNGATED_TRANSFERS, ENOT_OBJECT_OWNER, EOBJECT_DOES_NOT_EXIST,
    EOBJECT_NOT_TRANSFERRABLE,
    resources::{ObjectCore, TombStone, Transfer, TransferRef, Untransferable},
};
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError, cost};

/// Through so many owners an object must not be reached any more: the chain has fewer steps
/// (`MAXIMUM_OBJECT_NESTING` of the reference).
const NESTING_MAX: u8 = 8;
/// So many owners are followed to the last one. The reference follows them until gas runs out, which a
/// circle of owners makes certain; here a chain may be longer than ownership reaches, and no circle is
/// followed for long.
const ROOT_OWNER_STEPS_MAX: u16 = 256;

/// The core of an object.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`.
pub(super) fn core_of(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<ObjectCore, VmError> {
    match context.read_resource(object, &[])? {
        Some(core) => Ok(core),
        None => context.abort("object", &EOBJECT_DOES_NOT_EXIST),
    }
}

/// Who owns the object at `object`; `None` where there is none.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn owner_of(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<Option<AccountAddress>, VmError> {
    let core = context.read_resource::<ObjectCore>(object, &[])?;
    Ok(core.map(|core| core.owner))
}

/// Whether `who` is the object itself, or owns it directly or through a chain of owners.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`, and `EMAXIMUM_NESTING` where the chain is too long to say.
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

/// Makes sure that `who` owns the object, directly or through a chain of owners.
///
/// # Errors
/// `ENOT_OBJECT_OWNER`, and those of [`owns`].
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

/// Makes sure that `who` owns the object itself, not through others.
///
/// # Errors
/// `ENOT_OBJECT_OWNER`, and `EOBJECT_DOES_NOT_EXIST`.
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

/// The owner at the end of the chain, who is no object.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`, and `EMAXIMUM_NESTING` where owners form a circle.
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

/// Gives the object to `to`, on the word of `who`, who owns it directly or through a chain whose every
/// object may be given away.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`, `ENO_UNGATED_TRANSFERS`, `ENOT_OBJECT_OWNER`, `EMAXIMUM_NESTING`.
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

/// Writes the new owner; nothing happens where it is the old one.
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

/// Whether the object can never be given away again.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn is_untransferable(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<bool, VmError> {
    Ok(context
        .read_resource::<Untransferable>(object, &[])?
        .is_some())
}

/// Says whether owners may give the object away.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`, and `EOBJECT_NOT_TRANSFERRABLE` where it was bound for ever.
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

/// Binds the object to its owner for ever.
///
/// # Errors
/// `EOBJECT_DOES_NOT_EXIST`, and `EOBJECT_NOT_TRANSFERRABLE` where it is bound already.
pub fn set_untransferable(context: &mut Context<'_>, power: &TransferRef) -> Result<(), VmError> {
    set_ungated_transfer(context, power, false)?;
    context.write_resource(power.self_, &[], &Untransferable { dummy_field: false })
}

/// Whether the object was burnt.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn is_burnt(context: &mut Context<'_>, object: AccountAddress) -> Result<bool, VmError> {
    Ok(context.read_resource::<TombStone>(object, &[])?.is_some())
}
