//! `0x1::account`: who may sign for an address, and the number of its next transaction.
//!
//! An address without an `Account` resource reads as sequence number 0 with its own address as
//! authentication key; the resource appears at the first write.
//!
//! Changes of keys are in `rotation`, what they are proven with in `proof`, which account a key belongs
//! to in `originating`, rights offered to others in `capabilities`, resource accounts in `resource`.

mod capabilities;
mod errors;
mod originating;
mod proof;
mod resource;
mod rotation;
mod views;

pub use capabilities::{
    RotationCapabilityOfferProofChallengeV2, SignerCapabilityOfferProofChallengeV2,
};
pub use errors::*;
pub use originating::OriginatingAddress;
pub use originating::write_genesis;
pub(crate) use proof::verify_signed_message;
pub(crate) use resource::create_resource_account;
pub use resource::resource_address;
pub(crate) use rotation::rotate_without_proof;
pub use rotation::{KeyRotation, KeyRotationToPublicKey, RotationProofChallenge};

use super::type_info::TypeInfo;
use ledger_types::AccountAddress;
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration,
    TypeSignature, VmError, move_structs,
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

move_structs! {
    module "account";

    /// The right to change the key of an account.
    RotationCapability as "RotationCapability" has ["drop", "store"] {
        /// The account.
        account: AccountAddress,
    }

    /// The right to sign for an account.
    SignerCapability as "SignerCapability" has ["drop", "store"] {
        /// The account.
        account: AccountAddress,
    }

    /// A coin store was made for the account.
    CoinRegisterEvent as "CoinRegisterEvent" has ["drop", "store"] {
        /// The coin.
        type_info: TypeInfo,
    }

    /// The account's key was changed.
    KeyRotationEvent as "KeyRotationEvent" has ["drop", "store"] {
        /// The key until then.
        old_authentication_key: Vec<u8>,
        /// The key from then on.
        new_authentication_key: Vec<u8>,
    }

    /// An account.
    Account as "Account" has ["key", "store"] {
        /// The hash of the key that may sign for it.
        authentication_key: Vec<u8>,
        /// The number of its next transaction.
        sequence_number: u64,
        /// The creation number of the next stream.
        guid_creation_num: u64,
        /// Stream 0.
        coin_register_events: EventHandle<CoinRegisterEvent>,
        /// Stream 1.
        key_rotation_events: EventHandle<KeyRotationEvent>,
        /// To whom the right to change the key is offered.
        rotation_capability_offer: CapabilityOffer<RotationCapability>,
        /// To whom the right to sign is offered.
        signer_capability_offer: CapabilityOffer<SignerCapability>,
    }
}

/// To whom a capability `T` is offered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CapabilityOffer<T> {
    /// To this account, if any.
    pub r#for: Option<AccountAddress>,
    #[serde(skip)]
    capability: PhantomData<fn() -> T>,
}

impl<T> Default for CapabilityOffer<T> {
    fn default() -> Self {
        Self {
            r#for: None,
            capability: PhantomData,
        }
    }
}

impl<T: MoveType> MoveType for CapabilityOffer<T> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "account",
            name: "CapabilityOffer",
            args: vec![T::signature()],
        }
    }
}

impl Account {
    /// The account that an address has before anything was written there.
    pub fn implicit(address: AccountAddress) -> Self {
        Self {
            authentication_key: address.as_bytes().to_vec(),
            sequence_number: 0,
            guid_creation_num: 2,
            coin_register_events: EventHandle::new(address, 0),
            key_rotation_events: EventHandle::new(address, 1),
            rotation_capability_offer: CapabilityOffer::default(),
            signer_capability_offer: CapabilityOffer::default(),
        }
    }

    /// The authentication key, read as an address.
    fn key_as_address(&self) -> AccountAddress {
        // Keys have 32 bytes; one of another length would be nobody's, as a zeroed one is.
        AccountAddress::new(
            self.authentication_key
                .as_slice()
                .try_into()
                .unwrap_or_default(),
        )
    }

    /// Makes the handle of the next stream of the account at `address`.
    ///
    /// # Errors
    /// [`VmError::Arithmetic`] when the account has no creation number left.
    pub fn new_event_handle<E>(
        &mut self,
        address: AccountAddress,
    ) -> Result<EventHandle<E>, VmError> {
        let handle = EventHandle::new(address, self.guid_creation_num);
        self.guid_creation_num = self
            .guid_creation_num
            .checked_add(1)
            .ok_or(VmError::Arithmetic)?;
        Ok(handle)
    }
}

/// Reads the account at `address`; the implicit one where none was written yet.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn load(context: &mut Context<'_>, address: AccountAddress) -> Result<Account, VmError> {
    Ok(context
        .read_resource::<Account>(address, &[])?
        .unwrap_or_else(|| Account::implicit(address)))
}

fn functions() -> Vec<Function> {
    vec![
        Function::entry(
            "rotate_authentication_key",
            rotation::rotate_authentication_key,
        ),
        Function::private_entry(
            "rotate_authentication_key_call",
            rotation::rotate_authentication_key_call,
        ),
        Function::private_entry(
            "rotate_authentication_key_from_public_key",
            rotation::rotate_authentication_key_from_public_key,
        ),
        Function::entry(
            "rotate_authentication_key_with_rotation_capability",
            rotation::rotate_authentication_key_with_rotation_capability,
        ),
        Function::entry(
            "offer_rotation_capability",
            capabilities::offer_rotation_capability,
        ),
        Function::entry(
            "offer_signer_capability",
            capabilities::offer_signer_capability,
        ),
        Function::entry(
            "revoke_any_rotation_capability",
            capabilities::revoke_any_rotation_capability,
        ),
        Function::entry(
            "revoke_any_signer_capability",
            capabilities::revoke_any_signer_capability,
        ),
        Function::entry(
            "revoke_rotation_capability",
            capabilities::revoke_rotation_capability,
        ),
        Function::entry(
            "revoke_signer_capability",
            capabilities::revoke_signer_capability,
        ),
        Function::private_entry(
            "set_originating_address",
            originating::set_originating_address,
        ),
        Function::view("exists_at", views::exists_at),
        Function::view("get_authentication_key", views::get_authentication_key),
        Function::view(
            "get_guid_next_creation_num",
            views::get_guid_next_creation_num,
        ),
        Function::view(
            "get_rotation_capability_offer_for",
            views::get_rotation_capability_offer_for,
        ),
        Function::view("get_sequence_number", views::get_sequence_number),
        Function::view(
            "get_signer_capability_offer_for",
            views::get_signer_capability_offer_for,
        ),
        Function::view(
            "is_rotation_capability_offered",
            views::is_rotation_capability_offered,
        ),
        Function::view(
            "is_signer_capability_offered",
            views::is_signer_capability_offered,
        ),
        Function::view("originating_address", originating::originating_address),
    ]
}

pub(super) fn module() -> ModuleDeclaration {
    let offer = StructDeclaration {
        name: "CapabilityOffer",
        abilities: &["store"],
        is_event: false,
        type_parameters: vec![&[]],
        is_group_member: false,
        fields: vec![("for", Option::<AccountAddress>::signature())],
    };
    ModuleDeclaration {
        name: "account",
        structs: vec![
            Account::declaration(),
            offer,
            CoinRegisterEvent::declaration(),
            KeyRotation::declaration(),
            KeyRotationEvent::declaration(),
            KeyRotationToPublicKey::declaration(),
            OriginatingAddress::declaration(),
            RotationCapability::declaration(),
            RotationCapabilityOfferProofChallengeV2::declaration(),
            RotationProofChallenge::declaration(),
            SignerCapability::declaration(),
            SignerCapabilityOfferProofChallengeV2::declaration(),
        ],
        functions: functions(),
        errors: ALL,
    }
}
