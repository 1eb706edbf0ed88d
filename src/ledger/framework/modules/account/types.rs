//! Resources, capabilities and events of accounts.

use crate::modules::type_info::TypeInfo;
use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, MoveType, TypeSignature, VmError, move_structs};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

move_structs! {
    module "account";

    /// The right to rotate the key of an account.
    RotationCapability as "RotationCapability" has ["drop", "store"] {
        /// Address of the account.
        account: AccountAddress,
    }

    /// The right to sign for an account.
    SignerCapability as "SignerCapability" has ["drop", "store"] {
        /// Address of the account.
        account: AccountAddress,
    }

    /// Event type of a stream that stays empty, as on the reference node.
    CoinRegisterEvent as "CoinRegisterEvent" has ["drop", "store"] {
        /// Type of the coin.
        type_info: TypeInfo,
    }

    /// Event emitted when the account's key is rotated with a proof.
    KeyRotationEvent as "KeyRotationEvent" has ["drop", "store"] {
        /// Authentication key before the rotation.
        old_authentication_key: Vec<u8>,
        /// Authentication key after the rotation.
        new_authentication_key: Vec<u8>,
    }

    /// State of an account.
    Account as "Account" has ["key", "store"] {
        /// Hash of the public key that may sign for the account.
        #[serde(with = "serde_bytes")]
        authentication_key: Vec<u8>,
        /// Sequence number of the next transaction.
        sequence_number: u64,
        /// Creation number of the next event stream or object.
        guid_creation_num: u64,
        /// Event stream with creation number 0.
        coin_register_events: EventHandle<CoinRegisterEvent>,
        /// Event stream with creation number 1.
        key_rotation_events: EventHandle<KeyRotationEvent>,
        /// Offer of the right to rotate the key.
        rotation_capability_offer: CapabilityOffer<RotationCapability>,
        /// Offer of the right to sign.
        signer_capability_offer: CapabilityOffer<SignerCapability>,
    }
}

/// An offer of the capability `T` to another account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CapabilityOffer<T> {
    /// Account that received the offer, or `None` without an offer.
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
    /// Returns the account that an address without an `Account` resource reads as.
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

    /// Returns the authentication key as an address.
    pub(super) fn key_as_address(&self) -> AccountAddress {
        // Keys have 32 bytes. A key of another length would map to the zero address, which no
        // public key hashes to.
        AccountAddress::new(
            self.authentication_key
                .as_slice()
                .try_into()
                .unwrap_or_default(),
        )
    }

    /// Creates the handle of the account's next event stream.
    ///
    /// `address` is the address of this account.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::Arithmetic`] if the account has no creation number left.
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

/// Returns the account at `address`, or the implicit account if there is no resource.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn load(context: &mut Context<'_>, address: AccountAddress) -> Result<Account, VmError> {
    Ok(context
        .read_resource::<Account>(address, &[])?
        .unwrap_or_else(|| Account::implicit(address)))
}
