//! Bounds that the reference node does not have. They limit data that is read as a whole. Each has
//! a case at its limit and one above it. The cases of multisig accounts cover the bounds on the
//! numbers of owners and of metadata pairs.

use crate::functions::{Case, Expected, World, args};
use bytes::Bytes;
use ledger_framework::modules::{
    account::SignerCapability,
    multisig_account::{METADATA_BYTES_MAX, MultisigAccount, MultisigTransaction, OWNERS_MAX},
    resource_account::{Container, RESOURCE_ACCOUNTS_MAX},
    simple_map::{Element, SimpleMap},
};
use ledger_types::{
    AccountAddress, ExecutedTransaction, StateKey, StructTag,
    transaction::{Multisig, MultisigPayload, TransactionPayload},
};
use serde_json::json;

const CREATE: &str = "0x1::multisig_account::create";
const UPDATE_METADATA: &str = "0x1::multisig_account::update_metadata";
const VOTE: &str = "0x1::multisig_account::vote_transaction";
const VOTED: Expected = Expected::Success(&["0x1::multisig_account::Vote"]);
const EMETADATA_TOO_LONG: Expected = Expected::Abort(
    "0x1::multisig_account: EMETADATA_TOO_LONG(0x10067): the metadata of a multisig account have at most 4096 bytes in all",
);
const ETOO_MANY_RESOURCE_ACCOUNTS: Expected = Expected::Abort(
    "0x1::resource_account: ETOO_MANY_RESOURCE_ACCOUNTS(0x90065): an account makes at most 1000 resource accounts",
);
const NOTHING: Vec<Vec<u8>> = Vec::new();

/// Returns two pairs of metadata whose keys and values have `bytes` bytes in all.
fn metadata_arguments(bytes: usize) -> Vec<Vec<u8>> {
    let half = bytes / 2;
    let keys = vec!["a".repeat(10), "b".repeat(half - 10)];
    args![keys, vec![vec![1u8; 10], vec![2u8; bytes - half - 10]]]
}

/// Creates a multisig account whose only owner is account 0.
fn create_vault(world: &mut World) -> AccountAddress {
    let next = "0x1::multisig_account::get_next_multisig_account_address";
    let next = world.view(next, &[], args![world.address(0)]);
    world.call_ok(0, CREATE, &[], args![1u64, NOTHING, NOTHING]);
    next[0].as_str().unwrap().parse().unwrap()
}

/// Makes account 3 a multisig account of account 0 and sets its metadata.
fn update_metadata(world: &mut World, bytes: usize) -> ExecutedTransaction {
    let create_from_account = "0x1::multisig_account::create_with_existing_account_call";
    let arguments = args![vec![world.address(0)], 1u64, NOTHING, NOTHING];
    world.call_ok(3, create_from_account, &[], arguments);
    world.call(3, UPDATE_METADATA, &[], metadata_arguments(bytes))
}

/// Creates a resource account of account 0, which already has `others` of them.
fn create_resource_account(
    world: &mut World,
    function: &str,
    others: usize,
) -> ExecutedTransaction {
    let tag: StructTag = "0x1::resource_account::Container".parse().unwrap();
    let data = (0..others as u64).map(|number| {
        let account = AccountAddress::from_low_u64(number);
        let (key, value) = (account, SignerCapability { account });
        Element { key, value }
    });
    let store = SimpleMap {
        data: data.collect(),
    };
    let container = bcs::to_bytes(&Container { store }).unwrap();
    let slot = StateKey::resource(&world.address(0), &tag);
    world.chain.state.insert(slot, container.into());
    let mut arguments = args![b"seed".to_vec(), b"".to_vec()];
    if function.ends_with("_and_fund") {
        arguments.extend(args![1u64]);
    }
    world.call(0, function, &[], arguments)
}

/// Votes with account 0 on its own proposal, which has the votes of `former_owners` former owners.
///
/// Returns the transaction and the number of remaining votes.
fn vote_after(world: &mut World, former_owners: usize) -> (ExecutedTransaction, usize) {
    let vault = create_vault(world);
    let propose = "0x1::multisig_account::create_transaction";
    world.call_ok(0, propose, &[], args![vault, vec![1u8]]);
    let slot = proposal_slot(world, vault);
    let mut proposal: MultisigTransaction = bcs::from_bytes(&world.chain.state[&slot]).unwrap();
    proposal.votes.data = (0..former_owners as u64)
        .map(|number| Element {
            key: AccountAddress::from_low_u64(number),
            value: true,
        })
        .collect();
    let proposal = Bytes::from(bcs::to_bytes(&proposal).unwrap());
    world.chain.state.insert(slot, proposal);
    let executed = world.call(0, VOTE, &[], args![vault, 1u64, true]);
    let pending = world.view(
        "0x1::multisig_account::get_transaction",
        &[],
        args![vault, 1u64],
    );
    let votes = pending[0]["votes"]["data"].as_array().unwrap();
    let own = json!({"key": world.address(0).to_string(), "value": true});
    assert_eq!(votes.last(), Some(&own));
    let count = votes.len();
    (executed, count)
}

/// Returns the state key of the first proposal of `vault`.
fn proposal_slot(world: &World, vault: AccountAddress) -> StateKey {
    let tag: StructTag = "0x1::multisig_account::MultisigAccount".parse().unwrap();
    let bytes = &world.chain.state[&StateKey::resource(&vault, &tag)];
    let multisig: MultisigAccount = bcs::from_bytes(bytes).unwrap();
    StateKey::table_item(
        &multisig.transactions.handle,
        &bcs::to_bytes(&1u64).unwrap(),
    )
}

fn metadata_cases() -> Vec<Case> {
    vec![
        Case::new(
            UPDATE_METADATA,
            "metadata of maximum length",
            Expected::Success(&["0x1::multisig_account::MetadataUpdated"]),
            |world| update_metadata(world, METADATA_BYTES_MAX),
        ),
        Case::new(
            UPDATE_METADATA,
            "metadata too long",
            EMETADATA_TOO_LONG,
            |world| update_metadata(world, METADATA_BYTES_MAX + 1),
        ),
        Case::new(CREATE, "metadata too long", EMETADATA_TOO_LONG, |world| {
            let mut arguments = args![1u64];
            arguments.extend(metadata_arguments(METADATA_BYTES_MAX + 1));
            world.call(0, CREATE, &[], arguments)
        }),
    ]
}

fn resource_account_cases() -> Vec<Case> {
    const CREATE: &str = "0x1::resource_account::create_resource_account";
    const CREATE_AND_FUND: &str = "0x1::resource_account::create_resource_account_and_fund";
    vec![
        Case::new(
            CREATE,
            "1000th resource account",
            Expected::Success(&[]),
            |world| create_resource_account(world, CREATE, RESOURCE_ACCOUNTS_MAX - 1),
        ),
        Case::new(
            CREATE,
            "more than 1000 resource accounts",
            ETOO_MANY_RESOURCE_ACCOUNTS,
            |world| create_resource_account(world, CREATE, RESOURCE_ACCOUNTS_MAX),
        ),
        Case::new(
            CREATE_AND_FUND,
            "more than 1000 resource accounts",
            ETOO_MANY_RESOURCE_ACCOUNTS,
            |world| create_resource_account(world, CREATE_AND_FUND, RESOURCE_ACCOUNTS_MAX),
        ),
    ]
}

fn vote_cases() -> Vec<Case> {
    vec![
        Case::new(
            VOTE,
            "keeps the votes of 99 former owners",
            VOTED,
            |world| {
                let (executed, votes) = vote_after(world, OWNERS_MAX - 1);
                assert_eq!(votes, OWNERS_MAX);
                executed
            },
        ),
        Case::new(
            VOTE,
            "removes the votes of 100 former owners",
            VOTED,
            |world| {
                let (executed, votes) = vote_after(world, OWNERS_MAX);
                assert_eq!(votes, 1, "the votes of former owners are removed");
                executed
            },
        ),
    ]
}

pub fn cases() -> Vec<Case> {
    [metadata_cases(), resource_account_cases(), vote_cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// A stored payload, executed by a short transaction, uses no less gas than a payload that is sent.
#[test]
fn charges_a_stored_payload_like_a_sent_one() {
    const TRANSFERS: usize = 1_500;
    let gas = |is_sent: bool| {
        let mut world = World::new();
        let (vault, to) = (create_vault(&mut world), world.address(1));
        world.call_ok(
            1,
            "0x1::node_account::transfer",
            &[],
            args![vault, 5_000u64],
        );
        let transfers = args![vec![to; TRANSFERS], vec![1u64; TRANSFERS]];
        let call = world.entry("0x1::node_account::batch_transfer", &[], transfers);
        let payload = MultisigPayload::EntryFunction(call);
        let stored = bcs::to_bytes(&payload).unwrap();
        assert!(stored.len() > 60_000);
        let propose = "0x1::multisig_account::create_transaction";
        world.call_ok(0, propose, &[], args![vault, stored]);
        let mut raw = world.chain.raw(&world.key(0), world.chain.transfer(to, 0));
        raw.payload = TransactionPayload::Multisig(Multisig {
            multisig_address: vault,
            payload: is_sent.then_some(payload),
        });
        let executed = world.run(0, raw);
        assert_eq!(world.chain.facts(&vault).balance, 5_000 - TRANSFERS as u64);
        world.gas_without_storage(&executed)
    };
    let (sent, stored) = (gas(true), gas(false));
    assert!(stored >= sent, "stored {stored}, sent {sent}");
    assert!(
        stored < sent + 10,
        "a stored payload costs too much more: stored {stored}, sent {sent}"
    );
}
