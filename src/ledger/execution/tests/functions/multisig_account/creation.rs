//! Cases of the creation of multisig accounts.

use super::{
    EDUPLICATE_METADATA_KEY, EDUPLICATE_OWNER, EINVALID_SIGNATURES_REQUIRED, ENOT_ENOUGH_OWNERS,
    ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH, EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF,
    ETOO_MANY_OWNERS, NO_KEYS, NO_VALUES, addresses, call, create_vault_with_key, next_address,
    owners, unused_addresses, view,
};
use crate::functions::{Case, Expected, World, args};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use serde_json::json;

pub(super) fn creation() -> Vec<Case> {
    [
        create(),
        create_with_owners(),
        rejected_create_with_owners(),
        create_without_bootstrapper(),
        conversions_by_call(),
        conversions_by_signed_message(),
        conversions_with_key_revocation(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn create() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create",
            "creator is the only owner",
            Expected::Success(&[]),
            |world| {
                let vault = next_address(world, 0);
                let keys = vec!["name".to_owned()];
                let executed = call(world, 0, "create", args![1u64, keys, vec![vec![7u8]]]);
                assert_eq!(owners(world, vault), addresses(world, &[0]));
                assert_eq!(
                    view(world, "num_signatures_required", args![vault]),
                    json!("1")
                );
                let metadata = json!({"data": [{"key": "name", "value": "0x07"}]});
                assert_eq!(view(world, "metadata", args![vault]), metadata);
                assert_eq!(
                    view(world, "next_sequence_number", args![vault]),
                    json!("1")
                );
                assert_eq!(
                    view(world, "last_resolved_sequence_number", args![vault]),
                    json!("0")
                );
                let capacity = view(world, "available_transaction_queue_capacity", args![vault]);
                assert_eq!(capacity, json!("20"));
                assert_ne!(next_address(world, 0), vault);
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create",
            "zero required signatures",
            EINVALID_SIGNATURES_REQUIRED,
            |world| call(world, 0, "create", args![0u64, NO_KEYS, NO_VALUES]),
        ),
        Case::new(
            "0x1::multisig_account::create",
            "more required signatures than owners",
            EINVALID_SIGNATURES_REQUIRED,
            |world| call(world, 0, "create", args![2u64, NO_KEYS, NO_VALUES]),
        ),
        Case::new(
            "0x1::multisig_account::create",
            "metadata key without a value",
            ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH,
            |world| call(world, 0, "create", args![1u64, vec!["a"], NO_VALUES]),
        ),
        Case::new(
            "0x1::multisig_account::create",
            "duplicate metadata key",
            EDUPLICATE_METADATA_KEY,
            |world| {
                call(
                    world,
                    0,
                    "create",
                    args![1u64, vec!["a", "a"], vec![vec![1u8], vec![2u8]]],
                )
            },
        ),
    ]
}

fn create_with_owners() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_owners",
            "creator is the last owner",
            Expected::Success(&[]),
            |world| {
                let vault = next_address(world, 0);
                let others = vec![world.address(2), world.address(1)];
                let executed = call(
                    world,
                    0,
                    "create_with_owners",
                    args![others, 3u64, NO_KEYS, NO_VALUES],
                );
                assert_eq!(owners(world, vault), addresses(world, &[2, 1, 0]));
                assert_eq!(
                    view(world, "is_owner", args![world.address(0), vault]),
                    json!(true)
                );
                assert_eq!(
                    view(world, "is_owner", args![world.address(3), vault]),
                    json!(false)
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_owners",
            "100 owners with the creator",
            Expected::Success(&[]),
            |world| {
                call(
                    world,
                    0,
                    "create_with_owners",
                    args![unused_addresses(99), 100u64, NO_KEYS, NO_VALUES],
                )
            },
        ),
    ]
}

fn rejected_create_with_owners() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_owners",
            "more than 100 owners",
            ETOO_MANY_OWNERS,
            |world| {
                call(
                    world,
                    0,
                    "create_with_owners",
                    args![unused_addresses(100), 1u64, NO_KEYS, NO_VALUES],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_owners",
            "duplicate owner",
            EDUPLICATE_OWNER,
            |world| {
                let others = vec![world.address(0)];
                call(
                    world,
                    0,
                    "create_with_owners",
                    args![others, 1u64, NO_KEYS, NO_VALUES],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_owners",
            "multisig account as its own owner",
            EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF,
            |world| {
                let others = vec![next_address(world, 0)];
                call(
                    world,
                    0,
                    "create_with_owners",
                    args![others, 1u64, NO_KEYS, NO_VALUES],
                )
            },
        ),
    ]
}

fn create_without_bootstrapper() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_owners_then_remove_bootstrapper",
            "creator is not an owner",
            Expected::Success(&["0x1::multisig_account::RemoveOwners"]),
            |world| {
                let vault = next_address(world, 0);
                let others = vec![world.address(1), world.address(2)];
                let executed = call(
                    world,
                    0,
                    "create_with_owners_then_remove_bootstrapper",
                    args![others, 2u64, NO_KEYS, NO_VALUES],
                );
                assert_eq!(owners(world, vault), addresses(world, &[1, 2]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_owners_then_remove_bootstrapper",
            "fewer remaining owners than required signatures",
            ENOT_ENOUGH_OWNERS,
            |world| {
                let others = vec![world.address(1)];
                call(
                    world,
                    0,
                    "create_with_owners_then_remove_bootstrapper",
                    args![others, 2u64, NO_KEYS, NO_VALUES],
                )
            },
        ),
    ]
}

fn conversions_by_call() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_existing_account_call",
            "keeps the authentication key",
            Expected::Success(&[]),
            |world| {
                let terms = args![vec![world.address(0)], 1u64, NO_KEYS, NO_VALUES];
                let executed = call(world, 3, "create_with_existing_account_call", terms);
                assert_eq!(owners(world, world.address(3)), addresses(world, &[0]));
                let to_itself = args![world.address(3), 1u64];
                world.call_ok(3, "0x1::node_account::transfer", &[], to_itself);
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account_call",
            "account that is already a multisig account",
            Expected::Status(
                "Execution failed in 0x1::multisig_account::create_with_existing_account_call at code offset 0",
            ),
            |world| {
                create_vault_with_key(world);
                let terms = args![vec![world.address(0)], 1u64, NO_KEYS, NO_VALUES];
                call(world, 3, "create_with_existing_account_call", terms)
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key_call",
            "revokes the authentication key",
            Expected::Success(&[]),
            |world| {
                let terms = args![vec![world.address(0)], 1u64, NO_KEYS, NO_VALUES];
                let name = "create_with_existing_account_and_revoke_auth_key_call";
                let executed = call(world, 3, name, terms);
                let key = world.chain.facts(&world.address(3)).authentication_key;
                assert_eq!(key, HashValue::ZERO);
                executed
            },
        ),
    ]
}

fn conversions_by_signed_message() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_existing_account",
            "sent by an account other than the signer",
            Expected::Success(&[]),
            |world| {
                let args = signed_arguments(world, 3, PLAIN, 1);
                let executed = call(world, 0, "create_with_existing_account", args);
                assert_eq!(owners(world, world.address(3)), addresses(world, &[0, 1]));
                let key = world.chain.facts(&world.address(3)).authentication_key;
                assert_eq!(key.as_bytes(), world.address(3).as_bytes());
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account",
            "arguments that differ from the signed message",
            INVALID_PROOF,
            |world| {
                let mut args = signed_arguments(world, 3, PLAIN, 2);
                args[2] = bcs::to_bytes(&1u64).unwrap();
                call(world, 0, "create_with_existing_account", args)
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account",
            "message with an outdated sequence number",
            INVALID_PROOF,
            |world| {
                let args = signed_arguments(world, 3, PLAIN, 1);
                let to_itself = args![world.address(3), 1u64];
                world.call_ok(3, "0x1::node_account::transfer", &[], to_itself);
                call(world, 0, "create_with_existing_account", args)
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account",
            "public key of another account",
            Expected::Abort(
                "0x1::account: EWRONG_CURRENT_PUBLIC_KEY(0x10007): the public key is not the account's current one",
            ),
            |world| {
                let mut args = signed_arguments(world, 3, PLAIN, 1);
                args[0] = bcs::to_bytes(&world.address(4)).unwrap();
                call(world, 0, "create_with_existing_account", args)
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account",
            "account that is already a multisig account",
            Expected::Status(
                "Execution failed in 0x1::multisig_account::create_with_existing_account at code offset 0",
            ),
            |world| {
                let args = signed_arguments(world, 3, PLAIN, 1);
                let function = "0x1::multisig_account::create_with_existing_account";
                world.call_ok(0, function, &[], args.clone());
                call(world, 0, "create_with_existing_account", args)
            },
        ),
    ]
}

fn conversions_with_key_revocation() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key",
            "revokes the authentication key",
            Expected::Success(&[]),
            |world| {
                let args = signed_arguments(world, 3, REVOKING, 1);
                let name = "create_with_existing_account_and_revoke_auth_key";
                let executed = call(world, 0, name, args);
                assert_eq!(owners(world, world.address(3)), addresses(world, &[0, 1]));
                let key = world.chain.facts(&world.address(3)).authentication_key;
                assert_eq!(key, HashValue::ZERO);
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key",
            "signed message without revocation",
            INVALID_PROOF,
            |world| {
                let args = signed_arguments(world, 3, PLAIN, 1);
                let name = "create_with_existing_account_and_revoke_auth_key";
                call(world, 0, name, args)
            },
        ),
    ]
}

const PLAIN: &str = "MultisigAccountCreationMessage";
const REVOKING: &str = "MultisigAccountCreationWithAuthKeyRevocationMessage";
const INVALID_PROOF: Expected = Expected::Abort(
    "0x1::account: EINVALID_PROOF_OF_KNOWLEDGE(0x10008): the signature does not hold over the challenge",
);

/// Returns the arguments that make an account a multisig account of accounts 0 and 1. They include
/// the signature of its key over the message of type `message`.
fn signed_arguments(
    world: &World,
    account: usize,
    message: &str,
    num_signatures_required: u64,
) -> Vec<Vec<u8>> {
    let (key, address) = (world.key(account), world.address(account));
    let owners = vec![world.address(0), world.address(1)];
    let signed_bytes = [
        args![AccountAddress::ONE, "multisig_account", message],
        args![
            world.chain().id(),
            address,
            world.chain.facts(&address).sequence_number
        ],
        args![owners, num_signatures_required],
    ];
    let signature = key.sign(&signed_bytes.concat().concat());
    let signature = signature.0.to_vec();
    let public_key = key.public_key().0.to_vec();
    args![
        address,
        owners,
        num_signatures_required,
        0u8,
        public_key,
        signature,
        NO_KEYS,
        NO_VALUES
    ]
}
