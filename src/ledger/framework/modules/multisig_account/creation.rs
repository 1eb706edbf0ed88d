//! Creation of multisig accounts.
//!
//! A new multisig account gets a resource address of its creator. An account with a key becomes a
//! multisig account by its own transaction, or by a message that its key signed.

use super::{
    errors::EINVALID_SIGNATURES_REQUIRED,
    owners::{OwnerUpdate, change, check_owner_count, check_owners, paired_metadata},
    types::{CreationMessage, CreationWithAuthKeyRevocationMessage, MultisigAccount},
};
use crate::modules::{
    account::{self, Account, CapabilityOffer, SignerCapability},
    table::Table,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError};

type Address = AccountAddress;

/// Authentication key of an account that no signature can authorize.
const ZERO_AUTH_KEY: [u8; 32] = [0; 32];

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::private_entry(
            "create_with_existing_account_call",
            create_with_existing_account_call,
        ),
        Function::entry("create_with_existing_account", create_with_existing_account),
        Function::private_entry(
            "create_with_existing_account_and_revoke_auth_key_call",
            create_with_existing_account_and_revoke_auth_key_call,
        ),
        Function::entry(
            "create_with_existing_account_and_revoke_auth_key",
            create_with_existing_account_and_revoke_auth_key,
        ),
        Function::entry("create", create),
        Function::entry("create_with_owners", create_with_owners),
        Function::entry(
            "create_with_owners_then_remove_bootstrapper",
            create_with_owners_then_remove_bootstrapper,
        ),
    ]
}

/// Returns the seed of the multisig account that an account creates at this sequence number.
fn seed(context: &Context<'_>, sequence_number: u64) -> Vec<u8> {
    let word = context.chain().vendor().lower();
    let mut seed = format!("{word}_framework::multisig_account").into_bytes();
    seed.extend_from_slice(&sequence_number.to_le_bytes());
    seed
}

/// Returns the address of the multisig account that the next transaction of `creator` would create.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub(super) fn next_address(
    context: &mut Context<'_>,
    creator: Address,
) -> Result<Address, VmError> {
    let sequence_number = account::load(context, creator)?.sequence_number;
    Ok(account::resource_address(
        creator,
        &seed(context, sequence_number),
    ))
}

/// Initial parameters of a multisig account.
struct InitialConfig {
    owners: Vec<Address>,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
}

/// Creates a multisig account at `address`.
///
/// # Errors
///
/// Fails with:
///
/// * `EINVALID_SIGNATURES_REQUIRED` if the number of required signatures is 0 or exceeds the number
///   of owners.
/// * `ETOO_MANY_OWNERS` if there are more than `OWNERS_MAX` owners.
/// * The errors of [`check_owners`] and [`paired_metadata`].
/// * [`VmError::ResourceExists`] if the account is a multisig account.
fn publish(
    context: &mut Context<'_>,
    address: Address,
    signer_cap: Option<SignerCapability>,
    config: InitialConfig,
) -> Result<(), VmError> {
    let required = config.num_signatures_required;
    if required == 0 || required > config.owners.len() as u64 {
        return context.abort("multisig_account", &EINVALID_SIGNATURES_REQUIRED);
    }
    check_owner_count(context, config.owners.len())?;
    check_owners(context, &config.owners, address)?;
    let metadata = paired_metadata(context, config.metadata_keys, config.metadata_values)?;
    if context.has_resource::<MultisigAccount>(address, &[])? {
        return Err(VmError::ResourceExists);
    }
    let mut account = account::load(context, address)?;
    let multisig = MultisigAccount {
        owners: config.owners,
        num_signatures_required: required,
        transactions: Table::new(context)?,
        last_executed_sequence_number: 0,
        next_sequence_number: 1,
        signer_cap,
        metadata,
        add_owners_events: account.new_event_handle(address)?,
        remove_owners_events: account.new_event_handle(address)?,
        update_signature_required_events: account.new_event_handle(address)?,
        create_transaction_events: account.new_event_handle(address)?,
        vote_events: account.new_event_handle(address)?,
        execute_rejected_transaction_events: account.new_event_handle(address)?,
        execute_transaction_events: account.new_event_handle(address)?,
        transaction_execution_failed_events: account.new_event_handle(address)?,
        metadata_updated_events: account.new_event_handle(address)?,
    };
    context.write_resource(address, &[], &account)?;
    context.write_resource(address, &[], &multisig)
}

fn create(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: Signer,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    create_with_owners(
        context,
        type_args,
        owner,
        Vec::new(),
        num_signatures_required,
        metadata_keys,
        metadata_values,
    )
}

/// Creates a multisig account. The caller becomes the last of its owners.
fn create_with_owners(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    additional_owners: Vec<Address>,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let mut owners = additional_owners;
    owners.push(owner.0);
    let sequence_number = account::load(context, owner.0)?.sequence_number;
    let seed = seed(context, sequence_number);
    let address = account::create_resource_account(context, owner.0, &seed)?;
    let config = InitialConfig {
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    };
    publish(
        context,
        address,
        Some(SignerCapability { account: address }),
        config,
    )
}

fn create_with_owners_then_remove_bootstrapper(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    bootstrapper: Signer,
    owners: Vec<Address>,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let address = next_address(context, bootstrapper.0)?;
    create_with_owners(
        context,
        type_args,
        bootstrapper,
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    )?;
    let removal = OwnerUpdate {
        remove: vec![bootstrapper.0],
        ..OwnerUpdate::default()
    };
    change(context, address, removal)
}

fn create_with_existing_account_call(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    owners: Vec<Address>,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let config = InitialConfig {
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    };
    publish(context, multisig_account.0, None, config)
}

fn create_with_existing_account_and_revoke_auth_key_call(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    multisig_account: Signer,
    owners: Vec<Address>,
    num_signatures_required: u64,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    create_with_existing_account_call(
        context,
        type_args,
        multisig_account,
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    )?;
    revoke_auth_key(context, multisig_account.0)
}

/// Revokes the key of the account at `address`, and the capabilities that it has offered.
///
/// Only executed payloads can act as the account afterwards.
fn revoke_auth_key(context: &mut Context<'_>, address: Address) -> Result<(), VmError> {
    let mut account: Account = account::load(context, address)?;
    account.rotation_capability_offer = CapabilityOffer::default();
    account.signer_capability_offer = CapabilityOffer::default();
    account.authentication_key = ZERO_AUTH_KEY.to_vec();
    context.write_resource(address, &[], &account)
}

/// Converts an account to a multisig account, authorized by a message that its key signed.
///
/// Any account may send the message. It covers the owners and the number of required signatures,
/// but not the metadata, which the sender chooses.
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "they are the parameters of the entry function"
)]
fn create_with_existing_account(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_address: Address,
    owners: Vec<Address>,
    num_signatures_required: u64,
    account_scheme: u8,
    account_public_key: Vec<u8>,
    create_multisig_account_signed_message: Vec<u8>,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let message = CreationMessage {
        chain_id: context.chain().id(),
        account_address: multisig_address,
        sequence_number: account::load(context, multisig_address)?.sequence_number,
        owners: owners.clone(),
        num_signatures_required,
    };
    let key = (account_scheme, account_public_key.as_slice());
    let signature = &create_multisig_account_signed_message;
    account::verify_signed_message(context, multisig_address, key, signature, &message)?;
    let config = InitialConfig {
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    };
    publish(context, multisig_address, None, config)
}

/// Converts an account to a multisig account and revokes its key.
///
/// Differs from [`create_with_existing_account`] in the signed message, which covers the
/// revocation.
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "they are the parameters of the entry function"
)]
fn create_with_existing_account_and_revoke_auth_key(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_address: Address,
    owners: Vec<Address>,
    num_signatures_required: u64,
    account_scheme: u8,
    account_public_key: Vec<u8>,
    create_multisig_account_signed_message: Vec<u8>,
    metadata_keys: Vec<String>,
    metadata_values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let message = CreationWithAuthKeyRevocationMessage {
        chain_id: context.chain().id(),
        account_address: multisig_address,
        sequence_number: account::load(context, multisig_address)?.sequence_number,
        owners: owners.clone(),
        num_signatures_required,
    };
    let key = (account_scheme, account_public_key.as_slice());
    let signature = &create_multisig_account_signed_message;
    account::verify_signed_message(context, multisig_address, key, signature, &message)?;
    let config = InitialConfig {
        owners,
        num_signatures_required,
        metadata_keys,
        metadata_values,
    };
    publish(context, multisig_address, None, config)?;
    revoke_auth_key(context, multisig_address)
}
