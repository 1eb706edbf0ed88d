//! Accounts: their keys and who may change them, and the rights that they offer.

mod offers;
mod rotations;
mod views;

use crate::{Case, Newest, World};
use ledger::{
    AccountAddress, ExecutedTransaction, HashValue,
    crypto::Ed25519PrivateKey,
    transaction::{Scheme, authentication_key},
};

pub fn cases() -> Vec<Case> {
    [rotations::cases(), offers::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// A key that no development account has.
pub fn fresh_key(number: u8) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[number; 32])
}

fn public_bytes(key: &Ed25519PrivateKey) -> Vec<u8> {
    key.public_key().0.to_vec()
}

fn hashed(key: &Ed25519PrivateKey) -> Vec<u8> {
    key.public_key().authentication_key().as_bytes().to_vec()
}

fn signature(key: &Ed25519PrivateKey, message: &[u8]) -> Vec<u8> {
    key.sign(message).0.to_vec()
}

/// Three keys of which `threshold` must sign, as a multi-ed25519 key.
fn multi_key(threshold: u8) -> Vec<u8> {
    let keys = [101, 102, 103].map(fresh_key);
    keys.iter().flat_map(public_bytes).chain([threshold]).collect()
}

/// The signatures of keys of [`multi_key`] by their numbers, under their bitmap.
fn multi_signature(message: &[u8], signers: &[u8]) -> Vec<u8> {
    let bitmap = signers.iter().fold(0u8, |bitmap, signer| bitmap | 0x80 >> signer);
    let signatures = signers
        .iter()
        .flat_map(|signer| signature(&fresh_key(101 + signer), message));
    signatures.chain([bitmap, 0, 0, 0]).collect()
}

fn multi_hashed(threshold: u8) -> HashValue {
    authentication_key(&multi_key(threshold), Scheme::MultiEd25519)
}

/// The bytes that stand before the fields of a signed struct of the module.
fn signed_prefix(name: &str) -> Vec<u8> {
    bcs::to_bytes(&(AccountAddress::ONE, "account", name)).unwrap()
}

/// Runs a call of a development account that signs with `key`, which became its key.
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
    assert_eq!(block.discarded, [], "the prologue refused the transaction");
    block.transactions[1].clone()
}

/// The event of this type, in its JSON form.
fn event(world: &World, executed: &ExecutedTransaction, name: &str) -> serde_json::Value {
    let tag = format!("0x1::account::{name}");
    let event = executed
        .events
        .iter()
        .find(|event| event.type_tag().to_string() == tag)
        .unwrap_or_else(|| panic!("no {tag}"));
    let framework = world.chain().framework();
    framework.value_to_json(event.type_tag(), event.data()).unwrap()
}

fn in_hex(bytes: &[u8]) -> serde_json::Value {
    format!("0x{}", hex::encode(bytes)).into()
}
