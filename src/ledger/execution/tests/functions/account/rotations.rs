//! Cases of key rotations that both keys sign.

use super::{
    BAD_KEY_SIZE, BAD_MULTI_KEY_SIZE, BAD_PROOF, BAD_SCHEME, PROVEN, call_with, challenge, event,
    fresh_key, hashed, in_hex, multi_hashed, multi_key, multi_signature, public_bytes, recorded,
    signature,
};
use crate::functions::{Case, Expected, World, args};
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{ExecutedTransaction, ValidationStatus};
use serde_json::json;

const CALL: &str = "0x1::account::rotate_authentication_key_call";
const ROTATE: &str = "0x1::account::rotate_authentication_key";

pub fn cases() -> Vec<Case> {
    [proven(), refused(), refused_by_table()]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the arguments of a rotation of a development account from its key to a single key.
fn to_key(
    world: &World,
    account: usize,
    from: &Ed25519PrivateKey,
    to: &Ed25519PrivateKey,
) -> Vec<Vec<u8>> {
    let address = world.address(account);
    let message = challenge(world, address, address, &hashed(from), &public_bytes(to));
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
fn to_multi_key(world: &World, signers: &[u8]) -> Vec<Vec<u8>> {
    let (address, from) = (world.address(0), world.key(0));
    let message = challenge(world, address, address, &hashed(&from), &multi_key(2));
    args![
        0u8,
        public_bytes(&from),
        1u8,
        multi_key(2),
        signature(&from, &message),
        multi_signature(&message, signers)
    ]
}

fn proven() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "both keys sign; the account and the table have the new key",
            PROVEN,
            |world| {
                let (from, to) = (world.key(0), fresh_key(101));
                let args = to_key(world, 0, &from, &to);
                let executed = world.call(0, ROTATE, &[], args);
                let address = world.address(0);
                assert_eq!(
                    world.chain.facts(&address).authentication_key,
                    to.public_key().authentication_key()
                );
                assert_eq!(recorded(world, &hashed(&to)), json!([address.to_string()]));
                assert_eq!(recorded(world, &hashed(&from)), json!([]));
                assert_eq!(
                    event(world, &executed, "KeyRotation"),
                    json!({
                        "account": address.to_string(),
                        "old_authentication_key": in_hex(&hashed(&from)),
                        "new_authentication_key": in_hex(&hashed(&to)),
                    })
                );
                assert_eq!(
                    event(world, &executed, "KeyRotationToPublicKey"),
                    json!({
                        "account": address.to_string(),
                        "verified_public_key_bit_map": "0x80000000",
                        "public_key_scheme": 0,
                        "public_key": in_hex(&public_bytes(&to)),
                        "old_auth_key": in_hex(&hashed(&from)),
                        "new_auth_key": in_hex(&hashed(&to)),
                    })
                );
                executed
            },
        ),
        Case::new(
            ROTATE,
            "the second rotation takes the first's record away",
            PROVEN,
            |world| {
                let (first, second) = (fresh_key(101), fresh_key(102));
                let args = to_key(world, 0, &world.key(0), &first);
                world.must(0, ROTATE, &[], args);
                let args = to_key(world, 0, &first, &second);
                let executed = call_with(world, 0, &first, ROTATE, args);
                assert_eq!(recorded(world, &hashed(&first)), json!([]));
                assert_eq!(
                    recorded(world, &hashed(&second)),
                    json!([world.address(0).to_string()])
                );
                executed
            },
        ),
        Case::new(
            ROTATE,
            "to a set of keys, of which the first and the third sign",
            PROVEN,
            |world| {
                let args = to_multi_key(world, &[0, 2]);
                let executed = world.call(0, ROTATE, &[], args);
                assert_eq!(
                    world.chain.facts(&world.address(0)).authentication_key,
                    multi_hashed(2)
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
fn changed(world: &mut World, place: usize, argument: Vec<u8>) -> ExecutedTransaction {
    let mut args = to_key(world, 0, &world.key(0), &fresh_key(101));
    args[place] = argument;
    world.call(0, ROTATE, &[], args)
}

/// Encodes a byte vector in BCS.
fn bytes(bytes: &[u8]) -> Vec<u8> {
    bcs::to_bytes(&bytes).unwrap()
}

fn refused() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "the current key is another",
            Expected::Abort(
                "0x1::account: EWRONG_CURRENT_PUBLIC_KEY(0x40007): the public key is not the account's current one",
            ),
            |world| changed(world, 1, bytes(&public_bytes(&fresh_key(7)))),
        ),
        Case::new(
            ROTATE,
            "the current key has no such scheme",
            BAD_SCHEME,
            |world| changed(world, 0, vec![2]),
        ),
        Case::new(
            ROTATE,
            "the new key has no such scheme",
            BAD_SCHEME,
            |world| changed(world, 2, vec![3]),
        ),
        Case::new(
            ROTATE,
            "the current key is too short",
            BAD_KEY_SIZE,
            |world| changed(world, 1, bytes(&[1; 31])),
        ),
        Case::new(
            ROTATE,
            "the current set of keys has no threshold",
            BAD_MULTI_KEY_SIZE,
            |world| {
                let mut args = to_key(world, 0, &world.key(0), &fresh_key(101));
                args[0] = vec![1];
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "the current set of keys is too large",
            BAD_MULTI_KEY_SIZE,
            |world| {
                let mut args = to_key(world, 0, &world.key(0), &fresh_key(101));
                (args[0], args[1]) = (vec![1], bytes(&[1; 33 * 32 + 1]));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "the current key's signature is too long",
            Expected::Abort(
                "0x1::ed25519: E_WRONG_SIGNATURE_SIZE(0x10002): an ed25519 signature has 64 bytes",
            ),
            |world| changed(world, 4, bytes(&[1; 65])),
        ),
        Case::new(
            ROTATE,
            "the current key signed something else",
            BAD_PROOF,
            |world| {
                let other = signature(&world.key(0), b"something else");
                changed(world, 4, bytes(&other))
            },
        ),
        Case::new(
            ROTATE,
            "the new key signed something else",
            BAD_PROOF,
            |world| {
                changed(
                    world,
                    5,
                    bytes(&signature(&fresh_key(101), b"something else")),
                )
            },
        ),
        Case::new(
            ROTATE,
            "the proof is of an earlier transaction",
            BAD_PROOF,
            |world| {
                let args = to_key(world, 0, &world.key(0), &fresh_key(101));
                world.must(0, CALL, &[], args![hashed(&world.key(0))]);
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "one of two required keys signed",
            BAD_PROOF,
            |world| {
                let args = to_multi_key(world, &[1]);
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "a multi-signature without its bitmap",
            Expected::Abort(
                "0x1::multi_ed25519: E_WRONG_SIGNATURE_SIZE(0x10002): a multi-ed25519 signature is signatures of 64 bytes and a bitmap of 4",
            ),
            |world| {
                let mut args = to_multi_key(world, &[0, 1]);
                args[5] = bytes(&[0; 128]);
                world.call(0, ROTATE, &[], args)
            },
        ),
    ]
}

fn refused_by_table() -> Vec<Case> {
    vec![
        Case::new(
            ROTATE,
            "to the key that it has",
            Expected::Abort(
                "0x1::account: ENEW_AUTH_KEY_SAME_AS_CURRENT(0x10016): the new key is the current one",
            ),
            |world| {
                let args = to_key(world, 0, &world.key(0), &world.key(0));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "to the key that another account rotated to",
            Expected::Abort(
                "0x1::account: ENEW_AUTH_KEY_ALREADY_MAPPED(0x10015): the new key is recorded for an account",
            ),
            |world| {
                let args = to_key(world, 1, &world.key(1), &fresh_key(101));
                world.must(1, ROTATE, &[], args);
                let args = to_key(world, 0, &world.key(0), &fresh_key(101));
                world.call(0, ROTATE, &[], args)
            },
        ),
        Case::new(
            ROTATE,
            "from a key that is recorded for another account",
            Expected::Abort(
                "0x1::account: EINVALID_ORIGINATING_ADDRESS(0x6000d): the current key is recorded for another account",
            ),
            |world| {
                let shared = fresh_key(101);
                let args = to_key(world, 1, &world.key(1), &shared);
                world.must(1, ROTATE, &[], args);
                world.must(0, CALL, &[], args![hashed(&shared)]);
                let args = to_key(world, 0, &shared, &fresh_key(102));
                call_with(world, 0, &shared, ROTATE, args)
            },
        ),
        Case::new(
            "0x1::account::set_originating_address",
            "is refused for good",
            Expected::Abort(
                "0x1::account: ESET_ORIGINATING_ADDRESS_DISABLED(0x3001b): originating addresses are set by proven rotations alone",
            ),
            |world| world.call(0, "0x1::account::set_originating_address", &[], args![]),
        ),
    ]
}

#[test]
fn after_a_rotation_the_old_key_is_refused_and_the_new_one_signs() {
    let mut world = World::new();
    let (old, new) = (world.key(0), fresh_key(101));
    let args = to_key(&world, 0, &old, &new);
    world.must(0, ROTATE, &[], args);
    let raw = world
        .chain
        .raw(&old, world.chain.transfer(world.address(1), 1));
    let with_old = world.chain.sign(&old, raw.clone());
    let block = world.chain.execute(vec![with_old]);
    let refused: Vec<u64> = block
        .discarded
        .iter()
        .map(|discarded| discarded.status_code)
        .collect();
    assert_eq!(refused, [ValidationStatus::InvalidAuthKey as u64]);
    let before = world.balance(1);
    let with_new = world.chain.sign(&new, raw);
    assert_eq!(world.chain.execute(vec![with_new]).discarded, []);
    assert_eq!(world.balance(1), before + 1);
}
