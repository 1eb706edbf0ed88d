//! Rights that an account offers to another: to change its key, and to sign for it. Each account has one
//! offer of each kind; a new one takes the place of the old.

use super::{Account, errors, load, proof::check_signed_by};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, ErrorConstant, Signer, VmError, abort_codes, move_structs};

abort_codes! {
    EOPTION_NOT_SET = Unauthenticated 1 "there is nothing to take back: no value is set";
}

move_structs! {
    module "account";

    /// What an account signs that offers the right to change its key.
    RotationCapabilityOfferProofChallengeV2 as "RotationCapabilityOfferProofChallengeV2" has ["drop"] {
        /// The chain.
        chain_id: u8,
        /// The sequence number of the transaction.
        sequence_number: u64,
        /// Who offers.
        source_address: AccountAddress,
        /// To whom.
        recipient_address: AccountAddress,
    }

    /// What an account signs that offers the right to sign for it.
    SignerCapabilityOfferProofChallengeV2 as "SignerCapabilityOfferProofChallengeV2" has ["copy", "drop"] {
        /// The sequence number of the transaction.
        sequence_number: u64,
        /// Who offers.
        source_address: AccountAddress,
        /// To whom.
        recipient_address: AccountAddress,
    }
}

/// A kind of right.
#[derive(Clone, Copy)]
pub(super) enum Right {
    /// To change the key.
    Rotation,
    /// To sign.
    Signer,
}

impl Right {
    /// To whom `account` offers it.
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

    /// The error of the view that asks an account that was never written.
    pub(super) fn absent_account(self) -> &'static ErrorConstant {
        match self {
            Self::Rotation => &errors::ENO_SUCH_ROTATION_CAPABILITY_OFFER,
            Self::Signer => &errors::ENO_SIGNER_CAPABILITY_OFFERED,
        }
    }

    /// The error of taking back what was not offered.
    fn absent(self) -> &'static ErrorConstant {
        match self {
            Self::Rotation => &errors::ENO_SUCH_ROTATION_CAPABILITY_OFFER,
            Self::Signer => &errors::ENO_SUCH_SIGNER_CAPABILITY,
        }
    }
}

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
    Right::Rotation.set_offer(&mut account, Some(recipient));
    context.write_resource(signer.0, &[], &account)
}

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
    Right::Signer.set_offer(&mut account, Some(recipient));
    context.write_resource(signer.0, &[], &account)
}

/// Takes an offer back, whoever has it; with `holder`, only from that one.
fn revoke(
    context: &mut Context<'_>,
    right: Right,
    owner: AccountAddress,
    holder: Option<AccountAddress>,
) -> Result<(), VmError> {
    let Some(mut account) = context.read_resource::<Account>(owner, &[])? else {
        return context.abort("account", right.absent());
    };
    let offer = right.offer(&account);
    if holder.is_some() && offer != holder {
        return context.abort("account", right.absent());
    }
    if offer.is_none() {
        return context.abort("option", &EOPTION_NOT_SET);
    }
    right.set_offer(&mut account, None);
    context.write_resource(owner, &[], &account)
}

pub(super) fn revoke_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    holder: AccountAddress,
) -> Result<(), VmError> {
    revoke(context, Right::Rotation, signer.0, Some(holder))
}

pub(super) fn revoke_any_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
) -> Result<(), VmError> {
    revoke(context, Right::Rotation, signer.0, None)
}

pub(super) fn revoke_signer_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    holder: AccountAddress,
) -> Result<(), VmError> {
    revoke(context, Right::Signer, signer.0, Some(holder))
}

pub(super) fn revoke_any_signer_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
) -> Result<(), VmError> {
    revoke(context, Right::Signer, signer.0, None)
}
