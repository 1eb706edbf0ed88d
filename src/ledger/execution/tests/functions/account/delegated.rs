//! Cases of key rotations by an account that holds the rotation capability.

use super::{
    INVALID_PROOF, INVALID_SCHEME, ROTATED, authentication_key_bytes, challenge, event, fresh_key,
    offers::rotation_offer, originating_address, public_bytes, signature,
};
use crate::functions::{Case, Expected, World, args};
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::json;

const WITH_CAPABILITY: &str = "0x1::account::rotate_authentication_key_with_rotation_capability";

const NOT_OFFERED: Expected = Expected::Abort(
    "0x1::account: ENO_SUCH_ROTATION_CAPABILITY_OFFER(0x60012): the right to change the key is not offered to this address",
);

/// Offers the rotation capability of account 0 to account 1.
fn offer_rotation_capability(world: &mut World) {
    let args = rotation_offer(world, 1);
    world.call_ok(0, "0x1::account::offer_rotation_capability", &[], args);
}

/// Rotates the key of account 0 to a new key, by account 1. The new key signs `message`, or the
/// valid challenge if that is `None`.
fn rotate_by_delegate(world: &mut World, message: Option<&[u8]>) -> ExecutedTransaction {
    let (offerer, delegate, new) = (world.address(0), world.address(1), fresh_key(101));
    let valid_message = challenge(
        world,
        delegate,
        offerer,
        &authentication_key_bytes(&world.key(0)),
        &public_bytes(&new),
    );
    let proof = signature(&new, message.unwrap_or(&valid_message));
    world.call(
        1,
        WITH_CAPABILITY,
        &[],
        args![offerer, 0u8, public_bytes(&new), proof],
    )
}

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            WITH_CAPABILITY,
            "proof with the delegate's sequence number",
            ROTATED,
            |world| {
                offer_rotation_capability(world);
                let executed = rotate_by_delegate(world, None);
                let new = fresh_key(101).public_key().authentication_key();
                assert_eq!(world.chain.facts(&world.address(0)).authentication_key, new);
                let event = event(world, &executed, "KeyRotation");
                assert_eq!(event["account"], world.address(0).to_string());
                assert_eq!(
                    originating_address(world, new.as_bytes()),
                    json!([world.address(0).to_string()])
                );
                executed
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "no capability offered",
            NOT_OFFERED,
            |world| rotate_by_delegate(world, None),
        ),
        Case::new(
            WITH_CAPABILITY,
            "capability offered to another account",
            NOT_OFFERED,
            |world| {
                let args = rotation_offer(world, 2);
                world.call_ok(0, "0x1::account::offer_rotation_capability", &[], args);
                rotate_by_delegate(world, None)
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "offerer without an account",
            Expected::Abort(
                "0x1::account: EOFFERER_ADDRESS_DOES_NOT_EXIST(0x60011): there is no account at the offerer's address",
            ),
            |world| {
                let unknown = AccountAddress::from_low_u64(0xabcdef);
                world.call(
                    1,
                    WITH_CAPABILITY,
                    &[],
                    args![unknown, 0u8, vec![0u8; 32], vec![0u8; 64]],
                )
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "invalid signature of the new key",
            INVALID_PROOF,
            |world| {
                offer_rotation_capability(world);
                rotate_by_delegate(world, Some(b"something else"))
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "unsupported scheme",
            INVALID_SCHEME,
            |world| {
                offer_rotation_capability(world);
                let offerer = world.address(0);
                world.call(
                    1,
                    WITH_CAPABILITY,
                    &[],
                    args![offerer, 2u8, vec![0u8; 32], vec![0u8; 64]],
                )
            },
        ),
    ]
}
