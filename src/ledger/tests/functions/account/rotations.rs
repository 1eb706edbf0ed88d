//! Changes of keys.

use super::{
    call_with, event, fresh_key, hashed, in_hex, multi_hashed, multi_key, multi_signature, public_bytes,
    signature, signed_prefix,
};
use crate::{Case, Expected, World, args};
use ledger::{AccountAddress, ExecutedTransaction, HashValue, ValidationStatus, crypto::Ed25519PrivateKey};
use serde_json::json;

const ROTATE: &str = "0x1::account::rotate_authentication_key";
const CALL: &str = "0x1::account::rotate_authentication_key_call";
const FROM_PUBLIC_KEY: &str = "0x1::account::rotate_authentication_key_from_public_key";
const WITH_CAPABILITY: &str = "0x1::account::rotate_authentication_key_with_rotation_capability";

const PROVEN: Expected = Expected::Success(&[
    "0x1::account::KeyRotationEvent",
    "0x1::account::KeyRotation",
    "0x1::account::KeyRotationToPublicKey",
]);
const BAD_PROOF: Expected = Expected::Abort(
    "0x1::account: EINVALID_PROOF_OF_KNOWLEDGE(0x10008): the signature does not hold over the challenge",
);
const BAD_SCHEME: Expected = Expected::Abort(
    "0x1::account: EINVALID_SCHEME(0x1000c): proofs are signed with scheme 0 (ed25519) or 1 (multi-ed25519)",
);
const BAD_KEY_SIZE: Expected =
    Expected::Abort("0x1::ed25519: E_WRONG_PUBKEY_SIZE(0x10001): an ed25519 public key has 32 bytes");
const BAD_MULTI_KEY_SIZE: Expected = Expected::Abort(
    "0x1::multi_ed25519: E_WRONG_PUBKEY_SIZE(0x10001): a multi-ed25519 public key is at most 32 keys of 32 bytes and a threshold byte",
);
const BAD_SINGLE_KEY: Expected = Expected::Abort(
    "0x1::single_key: E_INVALID_PUBLIC_KEY_TYPE(0x10001): the key must be an ed25519, secp256k1 or secp256r1 key with its kind before it",
);
const MALFORMED: Expected = Expected::Abort(
    "0x1::account: EMALFORMED_AUTHENTICATION_KEY(0x10004): an authentication key has 32 bytes",
);

pub fn cases() -> Vec<Case> {
    [proven(), refused(), refused_by_table(), unproven(), delegated()]
        .into_iter()
        .flatten()
        .collect()
}

/// What is signed when a transaction of `sender` changes the key of `originator`, which is `current`.
fn challenge(
    world: &World,
    sender: AccountAddress,
    originator: AccountAddress,
    current: &[u8],
    new_public_key: &[u8],
) -> Vec<u8> {
    let sequence_number = world.chain.facts(&sender).sequence_number;
    let current = AccountAddress::new(current.try_into().unwrap());
    let mut bytes = signed_prefix("RotationProofChallenge");
    bytes.extend(bcs::to_bytes(&(sequence_number, originator, current, new_public_key)).unwrap());
    bytes
}

/// The arguments of a rotation of a development account from the key that it has to a single key.
pub fn to_key(
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

/// The arguments of a rotation of account 0 to two of three keys, of which `signers` sign.
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

/// The account of a key by the table.
fn recorded(world: &World, key: &[u8]) -> serde_json::Value {
    let key = AccountAddress::new(key.try_into().unwrap());
    world.view("0x1::account::originating_address", &[], args![key])[0]["vec"].clone()
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

/// A rotation of account 0 to a new key in which one argument is another.
fn changed(world: &mut World, place: usize, argument: Vec<u8>) -> ExecutedTransaction {
    let mut args = to_key(world, 0, &world.key(0), &fresh_key(101));
    args[place] = argument;
    world.call(0, ROTATE, &[], args)
}

/// A BCS byte vector.
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
        Case::new(ROTATE, "the new key has no such scheme", BAD_SCHEME, |world| {
            changed(world, 2, vec![3])
        }),
        Case::new(ROTATE, "the current key is too short", BAD_KEY_SIZE, |world| {
            changed(world, 1, bytes(&[1; 31]))
        }),
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
        Case::new(ROTATE, "the new key signed something else", BAD_PROOF, |world| {
            changed(world, 5, bytes(&signature(&fresh_key(101), b"something else")))
        }),
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
        Case::new(ROTATE, "one of two required keys signed", BAD_PROOF, |world| {
            let args = to_multi_key(world, &[1]);
            world.call(0, ROTATE, &[], args)
        }),
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

fn from_public_key(world: &mut World, scheme: u8, key: &[u8]) -> ExecutedTransaction {
    world.call(0, FROM_PUBLIC_KEY, &[], args![scheme, key])
}

/// An ed25519 key in the form that names its kind.
fn any_key() -> Vec<u8> {
    let mut key = vec![0, 32];
    key.extend(public_bytes(&fresh_key(101)));
    key
}

/// A set of such keys, of which `required` must sign.
fn any_keys(keys: u8, required: u8) -> Vec<u8> {
    let keys = std::iter::once(keys).chain((0..keys).flat_map(|_| any_key()));
    keys.chain([required]).collect()
}

const TO_PUBLIC_KEY: Expected = Expected::Success(&["0x1::account::KeyRotationToPublicKey"]);

/// Rotates account 0 and sees that its key is the hash of the public key and the scheme.
fn rotates(world: &mut World, scheme: u8, key: &[u8]) -> ExecutedTransaction {
    let executed = from_public_key(world, scheme, key);
    let hash = HashValue::sha3_of(&[key, &[scheme]]);
    assert_eq!(world.chain.facts(&world.address(0)).authentication_key, hash);
    let event = event(world, &executed, "KeyRotationToPublicKey");
    assert_eq!(event["verified_public_key_bit_map"], "0x00000000");
    assert_eq!(event["public_key_scheme"], scheme);
    assert_eq!(event["old_auth_key"], in_hex(&hashed(&world.key(0))));
    assert_eq!(event["new_auth_key"], in_hex(hash.as_bytes()));
    assert_eq!(recorded(world, hash.as_bytes()), json!([]), "no proof, no record");
    executed
}

fn unproven() -> Vec<Case> {
    vec![
        Case::new(CALL, "any 32 bytes", Expected::Success(&[]), |world| {
            let executed = world.call(0, CALL, &[], args![vec![9u8; 32]]);
            assert_eq!(
                world.chain.facts(&world.address(0)).authentication_key,
                HashValue::new([9; 32])
            );
            assert_eq!(recorded(world, &[9; 32]), json!([]));
            executed
        }),
        Case::new(CALL, "31 bytes", MALFORMED, |world| {
            world.call(0, CALL, &[], args![vec![9u8; 31]])
        }),
        Case::new(FROM_PUBLIC_KEY, "an ed25519 key", TO_PUBLIC_KEY, |world| {
            rotates(world, 0, &public_bytes(&fresh_key(101)))
        }),
        Case::new(FROM_PUBLIC_KEY, "a multi-ed25519 key", TO_PUBLIC_KEY, |world| {
            rotates(world, 1, &multi_key(2))
        }),
        Case::new(FROM_PUBLIC_KEY, "a single key", TO_PUBLIC_KEY, |world| {
            rotates(world, 2, &any_key())
        }),
        Case::new(FROM_PUBLIC_KEY, "a multi key", TO_PUBLIC_KEY, |world| {
            rotates(world, 3, &any_keys(3, 2))
        }),
        Case::new(
            FROM_PUBLIC_KEY,
            "an unknown scheme",
            Expected::Abort(
                "0x1::account: EUNRECOGNIZED_SCHEME(0x10018): schemes are 0 (ed25519), 1 (multi-ed25519), 2 (single key), 3 (multi key)",
            ),
            |world| from_public_key(world, 4, &[]),
        ),
        Case::new(FROM_PUBLIC_KEY, "a short ed25519 key", BAD_KEY_SIZE, |world| {
            from_public_key(world, 0, &[])
        }),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi-ed25519 key without threshold",
            BAD_MULTI_KEY_SIZE,
            |world| from_public_key(world, 1, &multi_key(2)[..96]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a single key of an unknown kind",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 2, &[9]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a short secp256k1 key",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 2, &[1, 2, 0, 0]),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a single key with more after it",
            Expected::Abort(
                "0x1::single_key: E_INVALID_SINGLE_KEY_EXTRA_BYTES(0x10002): bytes follow the key",
            ),
            |world| from_public_key(world, 2, &[any_key(), vec![0]].concat()),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi key without keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_NO_KEYS(0x10001): a set of keys needs a key",
            ),
            |world| from_public_key(world, 3, &any_keys(0, 1)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi key of 33 keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_TOO_MANY_KEYS(0x10002): a set has at most 32 keys",
            ),
            |world| from_public_key(world, 3, &any_keys(33, 1)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi key that needs more signatures than it has keys",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_SIGNATURES_REQUIRED(0x10003): the signatures required must be between 1 and the number of keys",
            ),
            |world| from_public_key(world, 3, &any_keys(2, 3)),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi key with more after it",
            Expected::Abort(
                "0x1::multi_key: E_INVALID_MULTI_KEY_EXTRA_BYTES(0x10004): bytes follow the set of keys",
            ),
            |world| from_public_key(world, 3, &[any_keys(1, 1), vec![0]].concat()),
        ),
        Case::new(
            FROM_PUBLIC_KEY,
            "a multi key cut short",
            BAD_SINGLE_KEY,
            |world| from_public_key(world, 3, &any_keys(2, 1)[..40]),
        ),
    ]
}

/// Account 0 offers account 1 the right to change its key.
fn offered(world: &mut World) {
    let args = super::offers::rotation_offer(world, 1);
    world.must(0, "0x1::account::offer_rotation_capability", &[], args);
}

/// Account 1 changes the key of account 0 to a new key, which signs `message` or the right one.
fn by_delegate(world: &mut World, message: Option<&[u8]>) -> ExecutedTransaction {
    let (offerer, delegate, new) = (world.address(0), world.address(1), fresh_key(101));
    let right = challenge(
        world,
        delegate,
        offerer,
        &hashed(&world.key(0)),
        &public_bytes(&new),
    );
    let proof = signature(&new, message.unwrap_or(&right));
    world.call(
        1,
        WITH_CAPABILITY,
        &[],
        args![offerer, 0u8, public_bytes(&new), proof],
    )
}

fn delegated() -> Vec<Case> {
    vec![
        Case::new(
            WITH_CAPABILITY,
            "the new key signs; the delegate's number counts",
            PROVEN,
            |world| {
                offered(world);
                let executed = by_delegate(world, None);
                let new = fresh_key(101).public_key().authentication_key();
                assert_eq!(world.chain.facts(&world.address(0)).authentication_key, new);
                let event = event(world, &executed, "KeyRotation");
                assert_eq!(event["account"], world.address(0).to_string());
                assert_eq!(
                    recorded(world, new.as_bytes()),
                    json!([world.address(0).to_string()])
                );
                executed
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "nothing is offered",
            Expected::Abort(
                "0x1::account: ENO_SUCH_ROTATION_CAPABILITY_OFFER(0x60012): the right to change the key is not offered to this address",
            ),
            |world| by_delegate(world, None),
        ),
        Case::new(
            WITH_CAPABILITY,
            "the offerer was never written",
            Expected::Abort(
                "0x1::account: EOFFERER_ADDRESS_DOES_NOT_EXIST(0x60011): there is no account at the offerer's address",
            ),
            |world| {
                let nobody = AccountAddress::from_low_u64(0xabcdef);
                world.call(
                    1,
                    WITH_CAPABILITY,
                    &[],
                    args![nobody, 0u8, vec![0u8; 32], vec![0u8; 64]],
                )
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "the new key signed something else",
            BAD_PROOF,
            |world| {
                offered(world);
                by_delegate(world, Some(b"something else"))
            },
        ),
        Case::new(
            WITH_CAPABILITY,
            "a scheme that gives no proofs",
            BAD_SCHEME,
            |world| {
                offered(world);
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

#[test]
fn after_a_rotation_the_old_key_is_refused_and_the_new_one_signs() {
    let mut world = World::new();
    let (old, new) = (world.key(0), fresh_key(101));
    let args = to_key(&world, 0, &old, &new);
    world.must(0, ROTATE, &[], args);
    let raw = world.chain.raw(&old, world.chain.transfer(world.address(1), 1));
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
