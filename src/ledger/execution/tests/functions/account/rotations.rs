//! Cases of key rotations that both keys sign.

use super::{
    INVALID_KEY_SIZE, INVALID_MULTI_KEY_SIZE, INVALID_PROOF, INVALID_SCHEME, ROTATED,
    authentication_key_bytes, call_with, challenge, event, fresh_key, hex_json,
    multi_authentication_key, multi_key, multi_signature, originating_address, public_bytes,
    signature,
};
use crate::functions::{Case, Expected, World, args};
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{ExecutedTransaction, ValidationStatus};
use serde_json::json;

const CALL: &str = "0x1::account::rotate_authentication_key_call";
const ROTATE: &str = "0x1::account::rotate_authentication_key";

pub fn cases() -> Vec<Case> {
    [
        proven_rotations(),
        rejected_rotations(),
        rejections_by_table(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the arguments of a rotation of a development account from its key to a single key.
fn rotation_args(
    world: &World,
    account: usize,
    from: &Ed25519PrivateKey,
    to: &Ed25519PrivateKey,
) -> Vec<Vec<u8>> {
    let address = world.address(account);
    let message = challenge(
        world,
        address,
        address,
        &authentication_key_bytes(from),
        &public_bytes(to),
    );
    args![
        0u8,
        public_bytes(from),
        0u8,
        public_bytes(to),
        signature(from, &message),
        signature(to, &message)
    ]
}

/// Returns the arguments of a rotation of account 0 to a two-of-three key, signed by `signers`.
fn multi_key_rotation_args(world: &World, signers: &[u8]) -> Vec<Vec<u8>> {
    let (address, from) = (world.address(0), world.key(0));
    let message = challenge(
        world,
        address,
        address,
        &authentication_key_bytes(&from),
        &multi_key(2),
    );
    args![
        0u8,
        public_bytes(&from),
        1u8,
        multi_key(2),
        signature(&from, &message),
        multi_signature(&message, signers)
    ]
}

fn proven_rotations() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "updates the account and the originating address",
            ROTATED,
            |world| {
                let (from, to) = (world.key(0), fresh_key(101));
                let args = rotation_args(world, 0, &from, &to);
                let executed = world.call(0, ROTATE, &[], args);
                let address = world.address(0);
                assert_eq!(
                    world.chain.facts(&address).authentication_key,
                    to.public_key().authentication_key()
                );
                assert_eq!(
                    originating_address(world, &authentication_key_bytes(&to)),
                    json!([address.to_string()])
                );
                assert_eq!(
                    originating_address(world, &authentication_key_bytes(&from)),
                    json!([])
                );
                assert_eq!(
                    event(world, &executed, "KeyRotation"),
                    json!({
                        "account": address.to_string(),
                        "old_authentication_key": hex_json(&authentication_key_bytes(&from)),
                        "new_authentication_key": hex_json(&authentication_key_bytes(&to)),
                    })
                );
                assert_eq!(
                    event(world, &executed, "KeyRotationToPublicKey"),
                    json!({
                        "account": address.to_string(),
                        "verified_public_key_bit_map": "0x80000000",
                        "public_key_scheme": 0,
                        "public_key": hex_json(&public_bytes(&to)),
                        "old_auth_key": hex_json(&authentication_key_bytes(&from)),
                        "new_auth_key": hex_json(&authentication_key_bytes(&to)),
                    })
                );
                executed
            },
        ),
        Case::new(
            ROTATE,
            "second rotation removes the record of the first",
            ROTATED,
            |world| {
                let (first, second) = (fresh_key(101), fresh_key(102));
                let args = rotation_args(world, 0, &world.key(0), &first);
                world.call_ok(0, ROTATE, &[], args);
                let args = rotation_args(world, 0, &first, &second);
                let executed = call_with(world, 0, &first, ROTATE, args);
                assert_eq!(
                    originating_address(world, &authentication_key_bytes(&first)),
                    json!([])
                );
                assert_eq!(
                    originating_address(world, &authentication_key_bytes(&second)),
                    json!([world.address(0).to_string()])
                );
                executed
            },
        ),
        Case::new(
            ROTATE,
            "multi-ed25519 key with signatures of its first and third key",
            ROTATED,
            |world| {
                let args = multi_key_rotation_args(world, &[0, 2]);
                let executed = world.call(0, ROTATE, &[], args);
                assert_eq!(
                    world.chain.facts(&world.address(0)).authentication_key,
                    multi_authentication_key(2)
                );
                let event = event(world, &executed, "KeyRotationToPublicKey");
                assert_eq!(event["verified_public_key_bit_map"], "0xa0000000");
                assert_eq!(event["public_key_scheme"], 1);
                executed
            },
        ),
    ]
}

/// Rotates account 0 to a new key with one replaced argument.
fn rotate_with(world: &mut World, index: usize, argument: Vec<u8>) -> ExecutedTransaction {
    let mut args = rotation_args(world, 0, &world.key(0), &fresh_key(101));
    args[index] = argument;
    world.call(0, ROTATE, &[], args)
}

/// Encodes a byte vector in BCS.
fn bcs_bytes(bytes: &[u8]) -> Vec<u8> {
    bcs::to_bytes(&bytes).unwrap()
}

fn rejected_rotations() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "wrong current public key",
            Expected::Abort(
                "0x1::account: EWRONG_CURRENT_PUBLIC_KEY(0x40007): the public key is not the account's current one",
            ),
            |world| rotate_with(world, 1, bcs_bytes(&public_bytes(&fresh_key(7)))),
        ),
        Case::new(
            ROTATE,
            "unsupported scheme of the current key",
            INVALID_SCHEME,
            |world| rotate_with(world, 0, vec![2]),
        ),
        Case::new(
            ROTATE,
            "unsupported scheme of the new key",
            INVALID_SCHEME,
            |world| rotate_with(world, 2, vec![3]),
        ),
        Case::new(ROTATE, "current key too short", INVALID_KEY_SIZE, |world| {
            rotate_with(world, 1, bcs_bytes(&[1; 31]))
        }),
        Case::new(
            ROTATE,
            "current multi-ed25519 key without a threshold",
            INVALID_MULTI_KEY_SIZE,
            |world| {
                let mut args = rotation_args(world, 0, &world.key(0), &fresh_key(101));
                args[0] = vec![1];
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "current multi-ed25519 key too long",
            INVALID_MULTI_KEY_SIZE,
            |world| {
                let mut args = rotation_args(world, 0, &world.key(0), &fresh_key(101));
                (args[0], args[1]) = (vec![1], bcs_bytes(&[1; 33 * 32 + 1]));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "signature of the current key too long",
            Expected::Abort(
                "0x1::ed25519: E_WRONG_SIGNATURE_SIZE(0x10002): an ed25519 signature has 64 bytes",
            ),
            |world| rotate_with(world, 4, bcs_bytes(&[1; 65])),
        ),
        Case::new(
            ROTATE,
            "invalid signature of the current key",
            INVALID_PROOF,
            |world| {
                let other = signature(&world.key(0), b"something else");
                rotate_with(world, 4, bcs_bytes(&other))
            },
        ),
        Case::new(
            ROTATE,
            "invalid signature of the new key",
            INVALID_PROOF,
            |world| {
                rotate_with(
                    world,
                    5,
                    bcs_bytes(&signature(&fresh_key(101), b"something else")),
                )
            },
        ),
        Case::new(
            ROTATE,
            "proof with an outdated sequence number",
            INVALID_PROOF,
            |world| {
                let args = rotation_args(world, 0, &world.key(0), &fresh_key(101));
                world.call_ok(0, CALL, &[], args![authentication_key_bytes(&world.key(0))]);
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "one of two required signatures",
            INVALID_PROOF,
            |world| {
                let args = multi_key_rotation_args(world, &[1]);
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "multi-ed25519 signature without a bitmap",
            Expected::Abort(
                "0x1::multi_ed25519: E_WRONG_SIGNATURE_SIZE(0x10002): a multi-ed25519 signature is signatures of 64 bytes and a bitmap of 4",
            ),
            |world| {
                let mut args = multi_key_rotation_args(world, &[0, 1]);
                args[5] = bcs_bytes(&[0; 128]);
                world.call(0, ROTATE, &[], args)
            },
        ),
    ]
}

fn rejections_by_table() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "new key equal to the current key",
            Expected::Abort(
                "0x1::account: ENEW_AUTH_KEY_SAME_AS_CURRENT(0x10016): the new key is the current one",
            ),
            |world| {
                let args = rotation_args(world, 0, &world.key(0), &world.key(0));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "new key recorded for another account",
            Expected::Abort(
                "0x1::account: ENEW_AUTH_KEY_ALREADY_MAPPED(0x10015): the new key is recorded for an account",
            ),
            |world| {
                let args = rotation_args(world, 1, &world.key(1), &fresh_key(101));
                world.call_ok(1, ROTATE, &[], args);
                let args = rotation_args(world, 0, &world.key(0), &fresh_key(101));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "current key recorded for another account",
            Expected::Abort(
                "0x1::account: EINVALID_ORIGINATING_ADDRESS(0x6000d): the current key is recorded for another account",
            ),
            |world| {
                let shared = fresh_key(101);
                let args = rotation_args(world, 1, &world.key(1), &shared);
                world.call_ok(1, ROTATE, &[], args);
                world.call_ok(0, CALL, &[], args![authentication_key_bytes(&shared)]);
                let args = rotation_args(world, 0, &shared, &fresh_key(102));
                call_with(world, 0, &shared, ROTATE, args)
            },
        ),
        Case::new(
            "0x1::account::set_originating_address",
            "always fails",
            Expected::Abort(
                "0x1::account: ESET_ORIGINATING_ADDRESS_DISABLED(0x3001b): originating addresses are set by proven rotations alone",
            ),
            |world| world.call(0, "0x1::account::set_originating_address", &[], args![]),
        ),
    ]
}

#[test]
fn rejects_the_old_key_after_a_rotation() {
    let mut world = World::new();
    let (old, new) = (world.key(0), fresh_key(101));
    let args = rotation_args(&world, 0, &old, &new);
    world.call_ok(0, ROTATE, &[], args);
    let raw = world
        .chain
        .raw(&old, world.chain.transfer(world.address(1), 1));
    let with_old = world.chain.sign(&old, raw.clone());
    let block = world.chain.execute(vec![with_old]);
    let status_codes: Vec<u64> = block
        .discarded
        .iter()
        .map(|discarded| discarded.status_code)
        .collect();
    assert_eq!(status_codes, [ValidationStatus::InvalidAuthKey as u64]);
    let before = world.balance(1);
    let with_new = world.chain.sign(&new, raw);
    assert_eq!(world.chain.execute(vec![with_new]).discarded, []);
    assert_eq!(world.balance(1), before + 1);
}
