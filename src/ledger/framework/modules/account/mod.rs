//! `0x1::account`: who may sign for an address, and the number of its next transaction.
//!
//! An address without an `Account` resource reads as sequence number 0 with its own address as
//! authentication key; the resource appears at the first write.

mod errors;
mod resource;

pub use errors::*;
pub(crate) use resource::create_resource_account;
pub use resource::resource_address;

pub use super::type_info::TypeInfo;

use super::event::EventHandle;
use crate::{
    AccountAddress,
    execute::{Context, Failure},
    framework::{
        declare::{ModuleDeclaration, MoveStruct, MoveType, StructDeclaration, move_structs},
        signature::Signature,
    },
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
    fn signature() -> Signature {
        Signature::Struct {
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

    /// Makes the handle of the next stream of the account at `address`.
    pub fn new_event_handle<E>(&mut self, address: AccountAddress) -> EventHandle<E> {
        let handle = EventHandle::new(address, self.guid_creation_num);
        self.guid_creation_num += 1;
        handle
    }
}

/// Reads the account at `address`; the implicit one where none was written yet.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn load(context: &mut Context<'_>, address: AccountAddress) -> Result<Account, Failure> {
    Ok(context
        .read_resource::<Account>(address, &[])?
        .unwrap_or_else(|| Account::implicit(address)))
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
            KeyRotationEvent::declaration(),
            RotationCapability::declaration(),
            SignerCapability::declaration(),
        ],
        functions: vec![],
        errors: ALL,
    }
}
