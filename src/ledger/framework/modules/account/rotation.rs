//! Changing the key of an account. It takes effect at once: validation compares a signature's key with
//! the account's authentication key.

use super::{
    Account, KeyRotationEvent, errors, load, originating,
    proof::{ProofKey, unproven_key},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Signer, VmError, move_structs};

move_structs! {
    module "account";

    /// What the current and the new key sign before a rotation.
    RotationProofChallenge as "RotationProofChallenge" has ["copy", "drop"] {
        /// The sequence number of the transaction.
        sequence_number: u64,
        /// The account.
        originator: AccountAddress,
        /// Its authentication key so far, as an address.
        current_auth_key: AccountAddress,
        /// The public key to come.
        new_public_key: Vec<u8>,
    }

    /// An account's key was changed with a proof.
    KeyRotation as "KeyRotation" has ["drop", "store"] event true {
        /// The account.
        account: AccountAddress,
        /// The key until then.
        old_authentication_key: Vec<u8>,
        /// The key from then on.
        new_authentication_key: Vec<u8>,
    }

    /// An account's key was changed to one whose public half is known.
    KeyRotationToPublicKey as "KeyRotationToPublicKey" has ["drop", "store"] event true {
        /// The account.
        account: AccountAddress,
        /// Which keys signed the proof, from the highest bit of the first byte on; none without proof.
        verified_public_key_bit_map: Vec<u8>,
        /// The kind of key.
        public_key_scheme: u8,
        /// The public key.
        public_key: Vec<u8>,
        /// The authentication key until then.
        old_auth_key: Vec<u8>,
        /// The authentication key from then on.
        new_auth_key: Vec<u8>,
    }
}

/// The bitmap of a rotation without proof.
const NOBODY_SIGNED: [u8; 4] = [0; 4];

/// Gives `account`, which lives at `address`, a key that a signature was checked for: its record, its
/// events and itself are written.
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

/// Checks the new key's proof over `challenge` and rotates to it.
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

/// The entry function: both keys sign.
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

/// The entry function: who was offered the right rotates the key of the account that offered it. The new
/// key alone signs, with the sequence number of who calls.
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

/// Gives the account at `address` the authentication key `new`, whose owner nobody asked.
///
/// # Errors
/// `EMALFORMED_AUTHENTICATION_KEY` where it does not have 32 bytes.
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

/// The entry function: any 32 bytes become the key.
pub(super) fn rotate_authentication_key_call(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    new: Vec<u8>,
) -> Result<(), VmError> {
    rotate_without_proof(context, signer.0, new)
}

/// The entry function: the hash of any public key becomes the key.
pub(super) fn rotate_authentication_key_from_public_key(
    context: &mut Context<'_>,
    _: &[TypeTag],
    signer: Signer,
    scheme: u8,
    public_key: Vec<u8>,
) -> Result<(), VmError> {
    let new_auth_key = unproven_key(context, scheme, &public_key)?
        .as_bytes()
        .to_vec();
    let old_auth_key = load(context, signer.0)?.authentication_key;
    rotate_without_proof(context, signer.0, new_auth_key.clone())?;
    context.emit(&KeyRotationToPublicKey {
        account: signer.0,
        verified_public_key_bit_map: NOBODY_SIGNED.to_vec(),
        public_key_scheme: scheme,
        public_key,
        old_auth_key,
        new_auth_key,
    })
}
