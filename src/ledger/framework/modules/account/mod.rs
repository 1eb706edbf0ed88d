//! `0x1::account`: authentication keys, sequence numbers, and capabilities of accounts.
//!
//! An address without an `Account` resource reads as sequence number 0 with its own address as
//! authentication key. The first write creates the resource.
//!
//! * `rotation` changes keys, and `proof` verifies the signatures for it.
//! * `originating` maps authentication keys to accounts.
//! * `capabilities` manages rights that are offered to other accounts.
//! * `resource` creates resource accounts.

mod capabilities;
mod errors;
mod originating;
mod proof;
mod resource;
mod rotation;
mod types;
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
pub use types::{
    Account, CapabilityOffer, CoinRegisterEvent, KeyRotationEvent, RotationCapability,
    SignerCapability, load,
};

use ledger_types::AccountAddress;
use ledger_vm::{Function, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration};

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
