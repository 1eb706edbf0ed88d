//! A creator cannot regain an account that it gave away. The address of a resource account or a
//! multisig account stays in use, even if its present owners undo parts of its creation.

use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::development_accounts;
use ledger_framework::modules::account::resource_address;
use ledger_test_support::MemoryChain;
use ledger_types::{
    AccountAddress, EntryFunction,
    transaction::{Multisig, MultisigPayload, TransactionPayload},
};

const SUCCESS: &str = "Executed successfully";
const EXISTS: &str = "Move abort in 0x1::account: ERESOURCE_ACCCOUNT_EXISTS(0x8000f): there is a resource account of this creator and seed";
const NOTHING: Vec<Vec<u8>> = Vec::new();

macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$(bcs::to_bytes(&$value).unwrap()),*] };
}

fn key(account: usize) -> Ed25519PrivateKey {
    development_accounts()[account].private_key.clone()
}

fn address(account: usize) -> AccountAddress {
    development_accounts()[account].address
}

/// Returns the bytes of the authentication key of a development account.
fn authentication_key(account: usize) -> Vec<u8> {
    key(account)
        .public_key()
        .authentication_key()
        .as_bytes()
        .to_vec()
}

/// Runs a payload of a development account and returns its status.
fn send(chain: &mut MemoryChain, account: usize, payload: TransactionPayload) -> String {
    let mut raw = chain.raw(&key(account), chain.transfer(address(account), 0));
    raw.payload = payload;
    let signed = chain.sign(&key(account), raw);
    let block = chain.execute(vec![signed]);
    assert_eq!(block.discarded, []);
    let status = block.transactions[1].info.v0().status.clone();
    chain.chain.vm_status(&status)
}

fn call(chain: &mut MemoryChain, account: usize, function: &str, args: Vec<Vec<u8>>) -> String {
    let call = chain.call(function, &[], args);
    send(chain, account, TransactionPayload::EntryFunction(call))
}

fn call_ok(chain: &mut MemoryChain, account: usize, function: &str, args: Vec<Vec<u8>>) {
    assert_eq!(call(chain, account, function, args), SUCCESS, "{function}");
}

/// Makes a call as the multisig account `vault`. Account 1, one of its owners, proposes and
/// executes it.
fn execute_as(chain: &mut MemoryChain, vault: AccountAddress, entry_function: EntryFunction) {
    let stored = bcs::to_bytes(&MultisigPayload::EntryFunction(entry_function)).unwrap();
    call_ok(
        chain,
        1,
        "0x1::multisig_account::create_transaction",
        args![vault, stored],
    );
    let execute = TransactionPayload::Multisig(Multisig {
        multisig_address: vault,
        payload: None,
    });
    assert_eq!(send(chain, 1, execute), SUCCESS);
    let last = &chain.blocks.last().unwrap().transactions[1].events;
    let names: Vec<String> = last
        .iter()
        .map(|event| event.type_tag().to_string())
        .collect();
    let succeeded = "0x1::multisig_account::TransactionExecutionSucceeded".to_owned();
    assert!(names.contains(&succeeded), "{names:?}");
}

/// Creates a multisig account with account 0, whose only owner is account 1. Returns the account
/// and the seed of its address.
fn create_by_bootstrapper(chain: &mut MemoryChain) -> (AccountAddress, Vec<u8>) {
    let sequence_number = chain.facts(&address(0)).sequence_number;
    let seed = [
        b"node_framework::multisig_account".as_slice(),
        &sequence_number.to_le_bytes(),
    ]
    .concat();
    let vault = resource_address(address(0), &seed);
    let arguments = args![vec![address(1)], 1u64, NOTHING, NOTHING];
    let create = "0x1::multisig_account::create_with_owners_then_remove_bootstrapper";
    call_ok(chain, 0, create, arguments);
    (vault, seed)
}

/// Creates the resource account of `seed` again with account 0, and asserts that the account
/// `address_in_use` does not change.
fn assert_not_created_again(chain: &mut MemoryChain, address_in_use: AccountAddress, seed: &[u8]) {
    let before = chain.facts(&address_in_use);
    for (function, extra_args) in [
        ("create_resource_account", vec![]),
        ("create_resource_account_and_fund", args![1u64]),
    ] {
        let mut arguments = args![seed, authentication_key(4)];
        arguments.extend(extra_args);
        let function = format!("0x1::resource_account::{function}");
        assert_eq!(call(chain, 0, &function, arguments), EXISTS, "{function}");
        assert_eq!(chain.facts(&address_in_use), before, "{function}");
    }
}

#[test]
fn rejects_recreation_of_a_resource_account_that_became_a_multisig_account() {
    let mut chain = MemoryChain::development();
    let create = "0x1::resource_account::create_resource_account";
    call_ok(
        &mut chain,
        0,
        create,
        args![b"seed".to_vec(), authentication_key(3)],
    );
    let address_in_use = resource_address(address(0), b"seed");
    // The key of the account signs the change. This clears the offer to itself, and sends no
    // transaction.
    let owners = vec![address(1), address(2)];
    let message = [
        args![
            AccountAddress::ONE,
            "multisig_account",
            "MultisigAccountCreationWithAuthKeyRevocationMessage"
        ],
        args![chain.chain.id(), address_in_use, 0u64, owners, 2u64],
    ]
    .concat()
    .concat();
    let (public_key, signature) = (key(3).public_key(), key(3).sign(&message));
    call_ok(
        &mut chain,
        1,
        "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key",
        args![
            address_in_use,
            owners,
            2u64,
            0u8,
            public_key.0.to_vec(),
            signature.0.to_vec(),
            NOTHING,
            NOTHING
        ],
    );
    assert_eq!(
        chain.facts(&address_in_use).authentication_key,
        HashValue::ZERO
    );
    assert_not_created_again(&mut chain, address_in_use, b"seed");
}

#[test]
fn rejects_recreation_of_a_multisig_account_that_revoked_its_signer_capability() {
    let mut chain = MemoryChain::development();
    let (vault, seed) = create_by_bootstrapper(&mut chain);
    let revoke = chain.call("0x1::account::revoke_any_signer_capability", &[], args![]);
    execute_as(&mut chain, vault, revoke);
    assert_eq!(chain.facts(&vault).sequence_number, 0);
    assert_not_created_again(&mut chain, vault, &seed);
}

#[test]
fn rejects_recreation_of_a_multisig_account_with_its_initial_key() {
    let mut chain = MemoryChain::development();
    let (vault, seed) = create_by_bootstrapper(&mut chain);
    let revoke = chain.call("0x1::account::revoke_any_signer_capability", &[], args![]);
    execute_as(&mut chain, vault, revoke);
    let own_address = args![vault.as_bytes().to_vec()];
    let rotate = chain.call(
        "0x1::account::rotate_authentication_key_call",
        &[],
        own_address,
    );
    execute_as(&mut chain, vault, rotate);
    assert_eq!(
        chain.facts(&vault).authentication_key.as_bytes(),
        vault.as_bytes()
    );
    assert_not_created_again(&mut chain, vault, &seed);
}
