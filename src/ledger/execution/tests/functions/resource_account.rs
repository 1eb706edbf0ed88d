//! Cases of `0x1::resource_account`.

use crate::functions::{
    Case, Expected, World,
    account::fresh_key,
    args,
    coin::{INSUFFICIENT, PAID},
};
use ledger_crypto::HashValue;
use ledger_framework::modules::account::resource_address;
use ledger_types::{AccountAddress, ExecutedTransaction, StateKey};
use serde_json::json;

const CREATE: &str = "0x1::resource_account::create_resource_account";
const CREATE_AND_FUND: &str = "0x1::resource_account::create_resource_account_and_fund";

const MALFORMED: Expected = Expected::Abort(
    "0x1::account: EMALFORMED_AUTHENTICATION_KEY(0x10004): an authentication key has 32 bytes",
);
const EXISTS: Expected = Expected::Abort(
    "0x1::account: ERESOURCE_ACCCOUNT_EXISTS(0x8000f): there is a resource account of this creator and seed",
);

fn create(world: &mut World, seed: &[u8], key: &[u8]) -> ExecutedTransaction {
    world.call(0, CREATE, &[], args![seed, key])
}

fn resource_account_address(world: &World, seed: &[u8]) -> AccountAddress {
    resource_address(world.address(0), seed)
}

/// Returns the resource accounts of account 0 in JSON form.
fn resource_accounts(world: &World) -> serde_json::Value {
    let tag: ledger_types::StructTag = "0x1::resource_account::Container".parse().unwrap();
    let bytes = &world.chain.state[&StateKey::resource(&world.address(0), &tag)];
    let registry = world.chain().registry();
    registry.value_to_json(&tag.into(), bytes).unwrap()["store"]["data"].clone()
}

pub fn cases() -> Vec<Case> {
    [creations(), rejected_creations(), creation_with_funds()]
        .into_iter()
        .flatten()
        .collect()
}

fn creations() -> Vec<Case> {
    vec![
        Case::new(
            CREATE,
            "creator's authentication key",
            Expected::Success(&[]),
            |world| {
                create(world, b"first", b"");
                let executed = create(world, b"second", b"");
                let (first, second) = (
                    resource_account_address(world, b"first"),
                    resource_account_address(world, b"second"),
                );
                let creator = world.chain.facts(&world.address(0));
                assert_eq!(
                    world.chain.facts(&second).authentication_key,
                    creator.authentication_key
                );
                let offered = world.view(
                    "0x1::account::get_signer_capability_offer_for",
                    &[],
                    args![second],
                );
                assert_eq!(offered, [json!(second.to_string())]);
                let element = |account: AccountAddress| json!({"key": account.to_string(), "value": {"account": account.to_string()}});
                assert_eq!(
                    resource_accounts(world),
                    json!([element(first), element(second)])
                );
                executed
            },
        ),
        Case::new(
            CREATE,
            "separate authentication key",
            Expected::Success(&[]),
            |world| {
                let key = fresh_key(101).public_key().authentication_key();
                let executed = create(world, b"seed", key.as_bytes());
                assert_eq!(
                    world
                        .chain
                        .facts(&resource_account_address(world, b"seed"))
                        .authentication_key,
                    key
                );
                executed
            },
        ),
        Case::new(
            CREATE,
            "address that holds coins",
            Expected::Success(&[]),
            |world| {
                let to = resource_account_address(world, b"seed");
                let transfer = world.chain.transfer(to, 5);
                let raw = world.chain.raw(&world.key(1), transfer);
                world.run(1, raw);
                let executed = create(world, b"seed", &[7; 32]);
                let facts = world.chain.facts(&to);
                assert_eq!(
                    (facts.balance, facts.authentication_key),
                    (5, HashValue::new([7; 32]))
                );
                executed
            },
        ),
    ]
}

fn rejected_creations() -> Vec<Case> {
    vec![
        Case::new(CREATE, "existing resource account", EXISTS, |world| {
            create(world, b"seed", b"");
            create(world, b"seed", b"")
        }),
        Case::new(CREATE, "authentication key too short", MALFORMED, |world| {
            create(world, b"seed", &[1; 31])
        }),
        Case::new(
            CREATE,
            "account that revoked its signer capability",
            Expected::Abort(
                "0x1::account: EACCOUNT_ALREADY_USED(0x30010): the account at this address has sent transactions",
            ),
            |world| {
                world.call_ok(
                    0,
                    CREATE_AND_FUND,
                    &[],
                    args![b"seed".to_vec(), b"".to_vec(), 1_000_000_000u64],
                );
                // The key of the creator signs for the resource account.
                let revoke =
                    world.entry("0x1::account::revoke_any_signer_capability", &[], args![]);
                let mut raw = world.chain.raw(&world.key(0), revoke);
                (raw.sender, raw.sequence_number) = (resource_account_address(world, b"seed"), 0);
                world.run(0, raw);
                create(world, b"seed", b"")
            },
        ),
    ]
}

fn creation_with_funds() -> Vec<Case> {
    vec![
        Case::new(
            CREATE_AND_FUND,
            "transfers coins and creates the store",
            PAID,
            |world| {
                let executed = world.call(
                    0,
                    CREATE_AND_FUND,
                    &[],
                    args![b"seed".to_vec(), vec![7u8; 32], 5u64],
                );
                let facts = world.chain.facts(&resource_account_address(world, b"seed"));
                assert_eq!(
                    (facts.balance, facts.authentication_key),
                    (5, HashValue::new([7; 32]))
                );
                executed
            },
        ),
        Case::new(
            CREATE_AND_FUND,
            "amount above the balance",
            INSUFFICIENT,
            |world| {
                let executed = world.call(
                    0,
                    CREATE_AND_FUND,
                    &[],
                    args![b"seed".to_vec(), vec![7u8; 32], u64::MAX],
                );
                let offered = world.view(
                    "0x1::account::is_signer_capability_offered",
                    &[],
                    args![resource_account_address(world, b"seed")],
                );
                assert_eq!(offered, [json!(false)], "nothing was created");
                executed
            },
        ),
        Case::new(
            CREATE_AND_FUND,
            "existing resource account",
            EXISTS,
            |world| {
                create(world, b"seed", b"");
                world.call(
                    0,
                    CREATE_AND_FUND,
                    &[],
                    args![b"seed".to_vec(), b"".to_vec(), 0u64],
                )
            },
        ),
        Case::new(
            CREATE_AND_FUND,
            "authentication key too short",
            MALFORMED,
            |world| {
                world.call(
                    0,
                    CREATE_AND_FUND,
                    &[],
                    args![b"seed".to_vec(), vec![1u8], 0u64],
                )
            },
        ),
    ]
}
