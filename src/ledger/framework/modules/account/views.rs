//! View functions of accounts.
//!
//! An account without a resource reads as on the reference node.

use super::{Account, capabilities::CapabilityKind, errors, load};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, VmError};

/// Returns true: every address is an account, with or without a resource
/// (docs/reference/framework.md#f1).
pub(super) fn exists_at(
    _: &mut Context<'_>,
    _: &[TypeTag],
    _: AccountAddress,
) -> Result<bool, VmError> {
    Ok(true)
}

/// Returns the creation number of the account's next event stream.
///
/// Returns 0 for an account without a resource, although its first stream will have number 2.
pub(super) fn get_guid_next_creation_num(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<u64, VmError> {
    let account = context.read_resource::<Account>(address, &[])?;
    Ok(account.map_or(0, |account| account.guid_creation_num))
}

/// Returns the sequence number of the account.
///
/// # Errors
///
/// Returns the errors of [`load`].
pub(super) fn get_sequence_number(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<u64, VmError> {
    Ok(load(context, address)?.sequence_number)
}

/// Returns the authentication key of the account.
///
/// # Errors
///
/// Returns the errors of [`load`].
pub(super) fn get_authentication_key(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<Vec<u8>, VmError> {
    Ok(load(context, address)?.authentication_key)
}

/// Returns the account that received the offer of a capability, or `None` without an offer.
///
/// # Errors
///
/// Returns the errors of [`load`].
fn offer(
    context: &mut Context<'_>,
    kind: CapabilityKind,
    address: AccountAddress,
) -> Result<Option<AccountAddress>, VmError> {
    Ok(kind.offer(&load(context, address)?))
}

/// Returns the account that received the offer of a capability.
///
/// # Errors
///
/// Aborts, as on the reference node, with:
///
/// * `ENO_SIGNER_CAPABILITY_OFFERED`, for either capability, if the account exists and has no
///   offer.
/// * The error of [`CapabilityKind::missing_account_error`] if the account has no resource.
fn offer_recipient(
    context: &mut Context<'_>,
    kind: CapabilityKind,
    address: AccountAddress,
) -> Result<AccountAddress, VmError> {
    let Some(account) = context.read_resource::<Account>(address, &[])? else {
        return context.abort("account", kind.missing_account_error());
    };
    match kind.offer(&account) {
        Some(holder) => Ok(holder),
        None => context.abort("account", &errors::ENO_SIGNER_CAPABILITY_OFFERED),
    }
}

/// Returns `true` if the account offers its rotation capability.
///
/// # Errors
///
/// Returns the errors of [`offer`].
pub(super) fn is_rotation_capability_offered(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<bool, VmError> {
    Ok(offer(context, CapabilityKind::Rotation, address)?.is_some())
}

/// Returns the account that received the offer of the rotation capability.
///
/// # Errors
///
/// Returns the errors of [`offer_recipient`].
pub(super) fn get_rotation_capability_offer_for(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<AccountAddress, VmError> {
    offer_recipient(context, CapabilityKind::Rotation, address)
}

/// Returns `true` if the account offers its signer capability.
///
/// # Errors
///
/// Returns the errors of [`offer`].
pub(super) fn is_signer_capability_offered(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<bool, VmError> {
    Ok(offer(context, CapabilityKind::Signer, address)?.is_some())
}

/// Returns the account that received the offer of the signer capability.
///
/// # Errors
///
/// Returns the errors of [`offer_recipient`].
pub(super) fn get_signer_capability_offer_for(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<AccountAddress, VmError> {
    offer_recipient(context, CapabilityKind::Signer, address)
}
