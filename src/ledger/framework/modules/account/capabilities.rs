//! Capabilities that an account offers to another one: to rotate its key, and to sign for it.
//!
//! An account has at most one offer of each kind. A new offer replaces the old one.

use super::{Account, errors, load, proof::check_signed_by};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, ErrorConstant, Signer, VmError, abort_codes, move_structs};

abort_codes! {
    EOPTION_NOT_SET = Unauthenticated 1 "there is nothing to take back: no value is set";
}

move_structs! {
    module "account";

    /// Message that an account signs to offer its rotation capability.
    RotationCapabilityOfferProofChallengeV2 as "RotationCapabilityOfferProofChallengeV2" has ["drop"] {
        /// Chain ID of this chain.
        chain_id: u8,
        /// Sequence number of the offering account.
        sequence_number: u64,
        /// Account that offers the capability.
        source_address: AccountAddress,
        /// Account that receives the offer.
        recipient_address: AccountAddress,
    }

    /// Message that an account signs to offer its signer capability.
    SignerCapabilityOfferProofChallengeV2 as "SignerCapabilityOfferProofChallengeV2" has ["copy", "drop"] {
        /// Sequence number of the offering account.
        sequence_number: u64,
        /// Account that offers the capability.
        source_address: AccountAddress,
        /// Account that receives the offer.
        recipient_address: AccountAddress,
    }
}

/// A kind of capability.
#[derive(Clone, Copy)]
pub(super) enum CapabilityKind {
    /// The right to rotate the key of the account.
    Rotation,
    /// The right to sign for the account.
    Signer,
}

impl CapabilityKind {
    /// Returns the account that received the offer of `account`, or `None` without an offer.
    pub(super) fn offer(self, account: &Account) -> Option<AccountAddress> {
        match self {
            Self::Rotation => account.rotation_capability_offer.r#for,
            Self::Signer => account.signer_capability_offer.r#for,
        }
    }

    fn set_offer(self, account: &mut Account, offer: Option<AccountAddress>) {
        match self {
            Self::Rotation => account.rotation_capability_offer.r#for = offer,
            Self::Signer => account.signer_capability_offer.r#for = offer,
        }
    }

    /// Returns the error of a view that reads an offer of an account without a resource.
    pub(super) fn missing_account_error(self) -> &'static ErrorConstant {
        match self {
            Self::Rotation => &errors::ENO_SUCH_ROTATION_CAPABILITY_OFFER,
            Self::Signer => &errors::ENO_SIGNER_CAPABILITY_OFFERED,
        }
    }

    /// Returns the error of revoking an offer that does not exist.
    fn missing_offer_error(self) -> &'static ErrorConstant {
        match self {
            Self::Rotation => &errors::ENO_SUCH_ROTATION_CAPABILITY_OFFER,
            Self::Signer => &errors::ENO_SUCH_SIGNER_CAPABILITY,
        }
    }
}

/// Offers the rotation capability of the caller to `recipient`. `proof` is the signature of
/// [`RotationCapabilityOfferProofChallengeV2`] by the key of the caller.
///
/// # Errors
///
/// Returns the errors of [`load`] and [`check_signed_by`].
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
pub(super) fn offer_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    proof: Vec<u8>,
    scheme: u8,
    public_key: Vec<u8>,
    recipient: AccountAddress,
) -> Result<(), VmError> {
    let mut account = load(context, signer.0)?;
    let challenge = RotationCapabilityOfferProofChallengeV2 {
        chain_id: context.chain().id(),
        sequence_number: account.sequence_number,
        source_address: signer.0,
        recipient_address: recipient,
    };
    check_signed_by(context, &account, (scheme, &public_key), &proof, &challenge)?;
    CapabilityKind::Rotation.set_offer(&mut account, Some(recipient));
    context.write_resource(signer.0, &[], &account)
}

/// Offers the signer capability of the caller to `recipient`. `proof` is the signature of
/// [`SignerCapabilityOfferProofChallengeV2`] by the key of the caller.
///
/// # Errors
///
/// Returns the errors of [`load`] and [`check_signed_by`].
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
pub(super) fn offer_signer_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    proof: Vec<u8>,
    scheme: u8,
    public_key: Vec<u8>,
    recipient: AccountAddress,
) -> Result<(), VmError> {
    let mut account = load(context, signer.0)?;
    let challenge = SignerCapabilityOfferProofChallengeV2 {
        sequence_number: account.sequence_number,
        source_address: signer.0,
        recipient_address: recipient,
    };
    check_signed_by(context, &account, (scheme, &public_key), &proof, &challenge)?;
    CapabilityKind::Signer.set_offer(&mut account, Some(recipient));
    context.write_resource(signer.0, &[], &account)
}

/// Revokes the offer of `owner`.
///
/// If `holder` is given, the offer is revoked only if that account received it.
///
/// # Errors
///
/// Aborts with:
///
/// * The error of [`CapabilityKind::missing_offer_error`] if `owner` has no account resource, or if
///   `holder` is given and did not receive the offer.
/// * `EOPTION_NOT_SET` of `0x1::option` if `holder` is `None` and there is no offer.
fn revoke(
    context: &mut Context<'_>,
    kind: CapabilityKind,
    owner: AccountAddress,
    holder: Option<AccountAddress>,
) -> Result<(), VmError> {
    let Some(mut account) = context.read_resource::<Account>(owner, &[])? else {
        return context.abort("account", kind.missing_offer_error());
    };
    let offer = kind.offer(&account);
    if holder.is_some() && offer != holder {
        return context.abort("account", kind.missing_offer_error());
    }
    if offer.is_none() {
        return context.abort("option", &EOPTION_NOT_SET);
    }
    kind.set_offer(&mut account, None);
    context.write_resource(owner, &[], &account)
}

/// Revokes the offer of the rotation capability to `holder`.
///
/// # Errors
///
/// Returns the errors of [`revoke`] with `holder`.
pub(super) fn revoke_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    holder: AccountAddress,
) -> Result<(), VmError> {
    revoke(context, CapabilityKind::Rotation, signer.0, Some(holder))
}

/// Revokes the offer of the rotation capability, whatever account received it.
///
/// # Errors
///
/// Returns the errors of [`revoke`] without `holder`.
pub(super) fn revoke_any_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
) -> Result<(), VmError> {
    revoke(context, CapabilityKind::Rotation, signer.0, None)
}

/// Revokes the offer of the signer capability to `holder`.
///
/// # Errors
///
/// Returns the errors of [`revoke`] with `holder`.
pub(super) fn revoke_signer_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    holder: AccountAddress,
) -> Result<(), VmError> {
    revoke(context, CapabilityKind::Signer, signer.0, Some(holder))
}

/// Revokes the offer of the signer capability, whatever account received it.
///
/// # Errors
///
/// Returns the errors of [`revoke`] without `holder`.
pub(super) fn revoke_any_signer_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
) -> Result<(), VmError> {
    revoke(context, CapabilityKind::Signer, signer.0, None)
}
