//! Cases of key rotations without a proof.

use super::{
    INVALID_KEY_SIZE, INVALID_MULTI_KEY_SIZE, MALFORMED, authentication_key_bytes, event,
    fresh_key, hex_json, multi_key, originating_address, public_bytes,
};
use crate::functions::{Case, Expected, World, args};
use ledger_crypto::HashValue;
use ledger_types::ExecutedTransaction;
use serde_json::json;

const CALL: &str = "0x1::account::rotate_authentication_key_call";
const FROM_PUBLIC_KEY: &str = "0x1::account::rotate_authentication_key_from_public_key";
const BAD_SINGLE_KEY: Expected = Expected::Abort(
    "0x1::single_key: E_INVALID_PUBLIC_KEY_TYPE(0x10001): the key must be an ed25519, secp256k1 or secp256r1 key with its kind before it",
);

fn from_public_key(world: &mut World, scheme: u8, key: &[u8]) -> ExecutedTransaction {
    world.call(0, FROM_PUBLIC_KEY, &[], args![scheme, key])
}

/// Returns an ed25519 key in the form with a scheme prefix.
fn any_key() -> Vec<u8> {
    let mut key = vec![0, 32];
    key.extend(public_bytes(&fresh_key(101)));
    key
}

/// Returns a set of `keys` keys of [`any_key`], of which `required` must sign.
fn any_keys(keys: u8, required: u8) -> Vec<u8> {
    let keys = std::iter::once(keys).chain((0..keys).flat_map(|_| any_key()));
    keys.chain([required]).collect()
}

const TO_PUBLIC_KEY: Expected = Expected::Success(&["0x1::account::KeyRotationToPublicKey"]);

/// Rotates account 0 and asserts that its authentication key is the hash of public key and scheme.
fn rotate(world: &mut World, scheme: u8, key: &[u8]) -> ExecutedTransaction {
    let executed = from_public_key(world, scheme, key);
    let hash = HashValue::sha3_of(&[key, &[scheme]]);
    assert_eq!(
        world.chain.facts(&world.address(0)).authentication_key,
        hash
    );
    let event = event(world, &executed, "KeyRotationToPublicKey");
    assert_eq!(event["verified_public_key_bit_map"], "0x00000000");
    assert_eq!(event["public_key_scheme"], scheme);
    assert_eq!(
        event["old_auth_key"],
        hex_json(&authentication_key_bytes(&world.key(0)))
    );
    assert_eq!(event["new_auth_key"], hex_json(hash.as_bytes()));
    assert_eq!(
        originating_address(world, hash.as_bytes()),
        json!([]),
        "a rotation without a proof is not recorded"
    );
    executed
}

pub fn cases() -> Vec<Case> {
    [
        rotations_by_call(),
        rotations_by_scheme(),
        invalid_keys(),
        invalid_multi_keys(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rotations_by_call() -> Vec<Case> {
    vec![
        Case::new(
            CALL,
            "arbitrary key of 32 bytes",
            Expected::Success(&[]),
            |world| {
                let executed = world.call(0, CALL, &[], args![vec![9u8; 32]]);
                assert_eq!(
                    world.chain.facts(&world.address(0)).authentication_key,
                    HashValue::new([9; 32])
                );
                assert_eq!(originating_address(world, &[9; 32]), json!([]));
                executed
            },
        ),
        Case::new(CALL, "key of 31 bytes", MALFORMED, |world| {
            world.call(0, CALL, &[], args![vec![9u8; 31]])
        }),
    ]
}

fn rotations_by_scheme() -> Vec<Case> {
    vec![
        Case::new(FROM_PUBLIC_KEY, "ed25519 key", TO_PUBLIC_KEY, |world| {
            rotate(world, 0, &public_bytes(&fresh_key(101)))
        }),
        Case::new(
            FROM_PUBLIC_KEY,
            "multi-ed25519 key",
            TO_PUBLIC_KEY,
            |world| rotate(world, 1, &multi_key(2)),
        ),
        Case::new(FROM_PUBLIC_KEY, "single key", TO_PUBLIC_KEY, |world| {
            rotate(world, 2, &any_key())
        }),
        Case::new(FROM_PUBLIC_KEY, "multi key", TO_PUBLIC_KEY, |world| {
            rotate(world, 3, &any_keys(3, 2))
        }),
    ]
}

fn invalid_multi_keys() -> Vec<Case> {
    vec![
        Case::new(
            FROM_PUBLIC_KEY,
            "multi key without keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_NO_KEYS(0x10001): a set of keys needs a key",
            ),
            |world| from_public_key(world, 3, &any_keys(0, 1)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "multi key of 33 keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_TOO_MANY_KEYS(0x10002): a set has at most 32 keys",
            ),
            |world| from_public_key(world, 3, &any_keys(33, 1)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "multi key that requires more signatures than it has keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_SIGNATURES_REQUIRED(0x10003): the signatures required must be between 1 and the number of keys",
            ),
            |world| from_public_key(world, 3, &any_keys(2, 3)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "trailing byte after a multi key",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_EXTRA_BYTES(0x10004): bytes follow the set of keys",
            ),
            |world| from_public_key(world, 3, &[any_keys(1, 1), vec![0]].concat()),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "truncated multi key",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 3, &any_keys(2, 1)[..40]),
        ),
    ]
}

fn invalid_keys() -> Vec<Case> {
    vec![
        Case::new(
            FROM_PUBLIC_KEY,
            "unknown scheme",
            Expected::Abort(
                "0x1::account: EUNRECOGNIZED_SCHEME(0x10018): schemes are 0 (ed25519), 1 (multi-ed25519), 2 (single key), 3 (multi key)",
            ),
            |world| from_public_key(world, 4, &[]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "ed25519 key too short",
            INVALID_KEY_SIZE,
            |world| from_public_key(world, 0, &[]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "multi-ed25519 key without a threshold",
            INVALID_MULTI_KEY_SIZE,
            |world| from_public_key(world, 1, &multi_key(2)[..96]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "single key of an unknown type",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 2, &[9]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "secp256k1 key too short",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 2, &[1, 2, 0, 0]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "trailing byte after a single key",
            Expected::Abort(
                "0x1::single_key: E_INVALID_SINGLE_KEY_EXTRA_BYTES(0x10002): bytes follow the key",
            ),
            |world| from_public_key(world, 2, &[any_key(), vec![0]].concat()),
        ),
    ]
}
