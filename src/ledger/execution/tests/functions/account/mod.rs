//! Cases of `0x1::account`: key rotations, and capabilities that accounts offer.

mod delegated;
mod offers;
mod rotations;
mod unproven;
mod views;

use crate::functions::{Case, Expected, Newest, World, args};
use ledger_crypto::{Ed25519PrivateKey, HashValue, Scheme, authentication_key};
use ledger_types::{AccountAddress, ExecutedTransaction};

const INVALID_KEY_SIZE: Expected = Expected::Abort(
    "0x1::ed25519: E_WRONG_PUBKEY_SIZE(0x10001): an ed25519 public key has 32 bytes",
);
const INVALID_MULTI_KEY_SIZE: Expected = Expected::Abort(
    "0x1::multi_ed25519: E_WRONG_PUBKEY_SIZE(0x10001): a multi-ed25519 public key is at most 32 keys of 32 bytes and a threshold byte",
);
const INVALID_PROOF: Expected = Expected::Abort(
    "0x1::account: EINVALID_PROOF_OF_KNOWLEDGE(0x10008): the signature does not hold over the challenge",
);
const INVALID_SCHEME: Expected = Expected::Abort(
    "0x1::account: EINVALID_SCHEME(0x1000c): proofs are signed with scheme 0 (ed25519) or 1 (multi-ed25519)",
);
const ROTATED: Expected = Expected::Success(&[
    "0x1::account::KeyRotationEvent",
    "0x1::account::KeyRotation",
    "0x1::account::KeyRotationToPublicKey",
]);
const MALFORMED: Expected = Expected::Abort(
    "0x1::account: EMALFORMED_AUTHENTICATION_KEY(0x10004): an authentication key has 32 bytes",
);

pub fn cases() -> Vec<Case> {
    [
        rotations::cases(),
        unproven::cases(),
        delegated::cases(),
        offers::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a key that no development account has.
pub fn fresh_key(number: u8) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[number; 32])
}

fn public_bytes(key: &Ed25519PrivateKey) -> Vec<u8> {
    key.public_key().0.to_vec()
}

fn authentication_key_bytes(key: &Ed25519PrivateKey) -> Vec<u8> {
    key.public_key().authentication_key().as_bytes().to_vec()
}

fn signature(key: &Ed25519PrivateKey, message: &[u8]) -> Vec<u8> {
    key.sign(message).0.to_vec()
}

/// Returns a multi-ed25519 key of three keys, of which `threshold` must sign.
fn multi_key(threshold: u8) -> Vec<u8> {
    let keys = [101, 102, 103].map(fresh_key);
    keys.iter()
        .flat_map(public_bytes)
        .chain([threshold])
        .collect()
}

/// Returns a multi-ed25519 signature by the keys of [`multi_key`] with the indices `signers`.
fn multi_signature(message: &[u8], signers: &[u8]) -> Vec<u8> {
    let bitmap = signers
        .iter()
        .fold(0u8, |bitmap, signer| bitmap | 0x80 >> signer);
    let signatures = signers
        .iter()
        .flat_map(|signer| signature(&fresh_key(101 + signer), message));
    signatures.chain([bitmap, 0, 0, 0]).collect()
}

fn multi_authentication_key(threshold: u8) -> HashValue {
    authentication_key(&multi_key(threshold), Scheme::MultiEd25519)
}

/// Returns the bytes before the fields of a signed struct of the module.
fn signed_prefix(name: &str) -> Vec<u8> {
    bcs::to_bytes(&(AccountAddress::ONE, "account", name)).unwrap()
}

/// Runs a call of a development account that signs with `key`, its key after a rotation.
fn call_with(
    world: &mut World,
    account: usize,
    key: &Ed25519PrivateKey,
    function: &str,
    args: Vec<Vec<u8>>,
) -> ExecutedTransaction {
    let call = world.entry(function, &[], args);
    let raw = world.chain.raw(&world.key(account), call);
    let transaction = world.chain.sign(key, raw);
    world.newest = Some(Newest {
        tip: world.chain.tip.clone(),
        state: world.chain.state.clone(),
        transaction: transaction.clone(),
    });
    let block = world.chain.execute(vec![transaction]);
    assert_eq!(block.discarded, [], "the prologue rejected the transaction");
    block.transactions[1].clone()
}

/// Returns the event of this type in JSON form.
fn event(world: &World, executed: &ExecutedTransaction, name: &str) -> serde_json::Value {
    let tag = format!("0x1::account::{name}");
    let event = executed
        .events
        .iter()
        .find(|event| event.type_tag().to_string() == tag)
        .unwrap_or_else(|| panic!("no {tag}"));
    let registry = world.chain().registry();
    registry
        .value_to_json(event.type_tag(), event.data())
        .unwrap()
}

fn hex_json(bytes: &[u8]) -> serde_json::Value {
    format!("0x{}", hex::encode(bytes)).into()
}

/// Returns the signed message of a rotation of the key of `originator` from `current`, in a
/// transaction of `sender`.
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

/// Returns the address of a key in the table of originating addresses.
fn originating_address(world: &World, key: &[u8]) -> serde_json::Value {
    let key = AccountAddress::new(key.try_into().unwrap());
    world.view("0x1::account::originating_address", &[], args![key])[0]["vec"].clone()
}
