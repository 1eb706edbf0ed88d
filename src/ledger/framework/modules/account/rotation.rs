//! Rotation of an account's key.
//!
//! A rotation takes effect immediately, because validation compares the key of a signature with the
//! account's authentication key.

use super::{
    Account, KeyRotationEvent, errors, load, originating,
    proof::{ProofKey, unproven_authentication_key},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Signer, VmError, move_structs};

move_structs! {
    module "account";

    /// Message that the current and the new key sign for a rotation.
    RotationProofChallenge as "RotationProofChallenge" has ["copy", "drop"] {
        /// Sequence number of the caller's account.
        sequence_number: u64,
        /// Account that gets the new key.
        originator: AccountAddress,
        /// Authentication key of the account before the rotation, as an address.
        current_auth_key: AccountAddress,
        /// New public key.
        new_public_key: Vec<u8>,
    }

    /// Event emitted when an account's key is rotated with a proof.
    KeyRotation as "KeyRotation" has ["drop", "store"] event true {
        /// Address of the account.
        account: AccountAddress,
        /// Authentication key before the rotation.
        old_authentication_key: Vec<u8>,
        /// Authentication key after the rotation.
        new_authentication_key: Vec<u8>,
    }

    /// Event emitted when an account's key is rotated to a known public key.
    KeyRotationToPublicKey as "KeyRotationToPublicKey" has ["drop", "store"] event true {
        /// Address of the account.
        account: AccountAddress,
        /// Bitmap of the keys that signed the proof, from the highest bit of the first byte. All
        /// bits are zero in a rotation without a proof.
        verified_public_key_bit_map: Vec<u8>,
        /// Number of the key scheme.
        public_key_scheme: u8,
        /// New public key.
        public_key: Vec<u8>,
        /// Authentication key before the rotation.
        old_auth_key: Vec<u8>,
        /// Authentication key after the rotation.
        new_auth_key: Vec<u8>,
    }
}

/// Bitmap of the signers in a rotation without a proof.
const NO_SIGNERS_BITMAP: [u8; 4] = [0; 4];

/// Replaces the key of `account` by one for which the caller has checked a signature.
///
/// `address` is the address of `account`. Updates the originating address, emits the events, and
/// writes the account.
///
/// # Errors
///
/// Returns the errors of [`originating::record`].
fn rotate_with_proof(
    context: &mut Context<'_>,
    address: AccountAddress,
    mut account: Account,
    new_key: HashValue,
    to_public_key: impl FnOnce(Vec<u8>) -> KeyRotationToPublicKey,
) -> Result<(), VmError> {
    originating::record(
        context,
        address,
        &account,
        AccountAddress::new(*new_key.as_bytes()),
    )?;
    let new = new_key.as_bytes().to_vec();
    let old = std::mem::replace(&mut account.authentication_key, new.clone());
    let event = KeyRotationEvent {
        old_authentication_key: old.clone(),
        new_authentication_key: new.clone(),
    };
    context.emit_to(&mut account.key_rotation_events, &event)?;
    context.emit(&KeyRotation {
        account: address,
        old_authentication_key: old.clone(),
        new_authentication_key: new,
    })?;
    context.emit(&to_public_key(old))?;
    context.write_resource(address, &[], &account)
}

/// Checks the signature of the new key over `challenge`, and rotates to that key.
fn rotate_to(
    context: &mut Context<'_>,
    account: Account,
    challenge: RotationProofChallenge,
    scheme: u8,
    proof: &[u8],
) -> Result<(), VmError> {
    let key = ProofKey::read(context, scheme, &challenge.new_public_key)?;
    key.check(context, proof, &challenge)?;
    let new_key = key.authentication_key(context)?;
    let bitmap = key.signers_bitmap(proof);
    let address = challenge.originator;
    rotate_with_proof(context, address, account, new_key, |old_auth_key| {
        KeyRotationToPublicKey {
            account: address,
            verified_public_key_bit_map: bitmap,
            public_key_scheme: scheme,
            public_key: challenge.new_public_key,
            old_auth_key,
            new_auth_key: new_key.as_bytes().to_vec(),
        }
    })
}

/// Rotates the caller's key, with a proof of the current and of the new key.
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "the interface's function has them, and arguments come by value"
)]
pub(super) fn rotate_authentication_key(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    from_scheme: u8,
    from_public_key: Vec<u8>,
    to_scheme: u8,
    to_public_key: Vec<u8>,
    from_proof: Vec<u8>,
    to_proof: Vec<u8>,
) -> Result<(), VmError> {
    let account = load(context, signer.0)?;
    let from = ProofKey::read(context, from_scheme, &from_public_key)?;
    if from.authentication_key(context)?.as_bytes() != account.authentication_key.as_slice() {
        return context.abort("account", &errors::EWRONG_CURRENT_PUBLIC_KEY);
    }
    let challenge = RotationProofChallenge {
        sequence_number: account.sequence_number,
        originator: signer.0,
        current_auth_key: account.key_as_address(),
        new_public_key: to_public_key,
    };
    from.check(context, &from_proof, &challenge)?;
    rotate_to(context, account, challenge, to_scheme, &to_proof)
}

/// Rotates the key of `offerer`, which has offered its rotation capability to the caller.
///
/// Only the new key signs the challenge, which has the sequence number of the caller.
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
pub(super) fn rotate_authentication_key_with_rotation_capability(
    context: &mut Context<'_>,
    _: &[TypeTag],
    delegate: Signer,
    offerer: AccountAddress,
    scheme: u8,
    public_key: Vec<u8>,
    proof: Vec<u8>,
) -> Result<(), VmError> {
    let Some(account) = context.read_resource::<Account>(offerer, &[])? else {
        return context.abort("account", &errors::EOFFERER_ADDRESS_DOES_NOT_EXIST);
    };
    if account.rotation_capability_offer.r#for != Some(delegate.0) {
        return context.abort("account", &errors::ENO_SUCH_ROTATION_CAPABILITY_OFFER);
    }
    let challenge = RotationProofChallenge {
        sequence_number: load(context, delegate.0)?.sequence_number,
        originator: offerer,
        current_auth_key: account.key_as_address(),
        new_public_key: public_key,
    };
    rotate_to(context, account, challenge, scheme, &proof)
}

/// Sets the authentication key of the account at `address` to `new`, without a proof.
///
/// # Errors
///
/// Aborts with `EMALFORMED_AUTHENTICATION_KEY` if `new` does not have 32 bytes.
pub(crate) fn rotate_without_proof(
    context: &mut Context<'_>,
    address: AccountAddress,
    new: Vec<u8>,
) -> Result<(), VmError> {
    if new.len() != HashValue::LENGTH {
        return context.abort("account", &errors::EMALFORMED_AUTHENTICATION_KEY);
    }
    let mut account = load(context, address)?;
    account.authentication_key = new;
    context.write_resource(address, &[], &account)
}

/// Sets the caller's authentication key to any 32 bytes.
pub(super) fn rotate_authentication_key_call(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    new: Vec<u8>,
) -> Result<(), VmError> {
    rotate_without_proof(context, signer.0, new)
}

/// Sets the caller's authentication key to the hash of any public key, without a proof.
pub(super) fn rotate_authentication_key_from_public_key(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    scheme: u8,
    public_key: Vec<u8>,
) -> Result<(), VmError> {
    let new_auth_key = unproven_authentication_key(context, scheme, &public_key)?
        .as_bytes()
        .to_vec();
    let old_auth_key = load(context, signer.0)?.authentication_key;
    rotate_without_proof(context, signer.0, new_auth_key.clone())?;
    context.emit(&KeyRotationToPublicKey {
        account: signer.0,
        verified_public_key_bit_map: NO_SIGNERS_BITMAP.to_vec(),
        public_key_scheme: scheme,
        public_key,
        old_auth_key,
        new_auth_key,
    })
}
