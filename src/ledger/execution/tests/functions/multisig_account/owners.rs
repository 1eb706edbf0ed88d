//! Cases of changes of owners, required signatures, and metadata.

use super::{
    EACCOUNT_NOT_MULTISIG, EDUPLICATE_OWNER, EINVALID_SIGNATURES_REQUIRED, ENOT_ENOUGH_OWNERS,
    EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF, EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP,
    ETOO_MANY_METADATA_PAIRS, ETOO_MANY_OWNERS, NO_KEYS, NO_VALUES, addresses, call,
    create_vault_with_key, owners, unused_addresses, view,
};
use crate::functions::{Case, Expected, args};
use serde_json::json;

const ADDED: Expected = Expected::Success(&["0x1::multisig_account::AddOwners"]);
const REMOVED: Expected = Expected::Success(&["0x1::multisig_account::RemoveOwners"]);
const SWAPPED: Expected = Expected::Success(&[
    "0x1::multisig_account::AddOwners",
    "0x1::multisig_account::RemoveOwners",
]);

pub(super) fn owner_changes() -> Vec<Case> {
    [
        additions(),
        additions_with_signatures(),
        removals(),
        swaps(),
        swaps_with_signatures(),
        signatures_required(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn additions() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::add_owner",
            "appends the owner",
            ADDED,
            |world| {
                let account = create_vault_with_key(world);
                let executed = call(world, 3, "add_owner", args![world.address(4)]);
                assert_eq!(owners(world, account), addresses(world, &[0, 1, 4]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::add_owner",
            "account that is not a multisig account",
            EACCOUNT_NOT_MULTISIG,
            |world| call(world, 3, "add_owner", args![world.address(4)]),
        ),
        Case::new(
            "0x1::multisig_account::add_owners",
            "appends the owners in order",
            ADDED,
            |world| {
                let account = create_vault_with_key(world);
                let new = vec![world.address(4), world.address(2)];
                let executed = call(world, 3, "add_owners", args![new]);
                assert_eq!(owners(world, account), addresses(world, &[0, 1, 4, 2]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::add_owners",
            "existing owner",
            EDUPLICATE_OWNER,
            |world| {
                create_vault_with_key(world);
                call(world, 3, "add_owners", args![vec![world.address(1)]])
            },
        ),
        Case::new(
            "0x1::multisig_account::add_owners",
            "multisig account as its own owner",
            EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF,
            |world| {
                create_vault_with_key(world);
                call(world, 3, "add_owners", args![vec![world.address(3)]])
            },
        ),
        Case::new(
            "0x1::multisig_account::add_owners",
            "more than 100 owners",
            ETOO_MANY_OWNERS,
            |world| {
                create_vault_with_key(world);
                call(world, 3, "add_owners", args![unused_addresses(99)])
            },
        ),
    ]
}

fn additions_with_signatures() -> Vec<Case> {
    vec![Case::new(
        "0x1::multisig_account::add_owners_and_update_signatures_required",
        "updates the owners and the required signatures",
        Expected::Success(&[
            "0x1::multisig_account::AddOwners",
            "0x1::multisig_account::UpdateSignaturesRequired",
        ]),
        |world| {
            let account = create_vault_with_key(world);
            let name = "add_owners_and_update_signatures_required";
            let executed = call(world, 3, name, args![vec![world.address(4)], 3u64]);
            assert_eq!(
                view(world, "num_signatures_required", args![account]),
                json!("3")
            );
            executed
        },
    )]
}

fn removals() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::remove_owner",
            "last owner moves to the removed position",
            REMOVED,
            |world| {
                let account = create_vault_with_key(world);
                let executed = call(world, 3, "remove_owner", args![world.address(0)]);
                assert_eq!(owners(world, account), addresses(world, &[1]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::remove_owner",
            "ignores an account that is not an owner",
            Expected::Success(&[]),
            |world| {
                let account = create_vault_with_key(world);
                let executed = call(world, 3, "remove_owner", args![world.address(4)]);
                assert_eq!(owners(world, account), addresses(world, &[0, 1]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::remove_owners",
            "duplicate accounts are removed once",
            REMOVED,
            |world| {
                let account = create_vault_with_key(world);
                let new = args![vec![world.address(4), world.address(2)]];
                world.call_ok(3, "0x1::multisig_account::add_owners", &[], new);
                let removed_owners = vec![
                    world.address(0),
                    world.address(2),
                    world.address(0),
                    world.address(4),
                ];
                let executed = call(world, 3, "remove_owners", args![removed_owners]);
                assert_eq!(owners(world, account), addresses(world, &[1]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::remove_owners",
            "fewer remaining owners than required signatures",
            ENOT_ENOUGH_OWNERS,
            |world| {
                create_vault_with_key(world);
                let removed_owners = vec![world.address(0), world.address(1)];
                call(world, 3, "remove_owners", args![removed_owners])
            },
        ),
    ]
}

fn swaps() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::swap_owner",
            "replaces one owner",
            SWAPPED,
            |world| {
                let account = create_vault_with_key(world);
                let executed = call(
                    world,
                    3,
                    "swap_owner",
                    args![world.address(4), world.address(0)],
                );
                assert_eq!(owners(world, account), addresses(world, &[4, 1]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::swap_owners",
            "replaces two owners with one",
            SWAPPED,
            |world| {
                let account = create_vault_with_key(world);
                let (new, removed_owners) = (
                    vec![world.address(4)],
                    vec![world.address(0), world.address(1)],
                );
                let executed = call(world, 3, "swap_owners", args![new, removed_owners]);
                assert_eq!(owners(world, account), addresses(world, &[4]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::swap_owners",
            "swap with 100 owners",
            SWAPPED,
            |world| {
                create_vault_with_key(world);
                world.call_ok(
                    3,
                    "0x1::multisig_account::add_owners",
                    &[],
                    args![unused_addresses(98)],
                );
                call(
                    world,
                    3,
                    "swap_owners",
                    args![vec![world.address(4)], vec![world.address(0)]],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::swap_owners",
            "account both added and removed",
            EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP,
            |world| {
                create_vault_with_key(world);
                let both = vec![world.address(0)];
                call(world, 3, "swap_owners", args![both, both])
            },
        ),
    ]
}

fn swaps_with_signatures() -> Vec<Case> {
    vec![Case::new(
        "0x1::multisig_account::swap_owners_and_update_signatures_required",
        "updates the owners and the required signatures",
        Expected::Success(&[
            "0x1::multisig_account::AddOwners",
            "0x1::multisig_account::RemoveOwners",
            "0x1::multisig_account::UpdateSignaturesRequired",
        ]),
        |world| {
            let account = create_vault_with_key(world);
            let (new, removed_owners) = (vec![world.address(4)], vec![world.address(0)]);
            let name = "swap_owners_and_update_signatures_required";
            let executed = call(world, 3, name, args![new, removed_owners, 2u64]);
            assert_eq!(
                view(world, "num_signatures_required", args![account]),
                json!("2")
            );
            executed
        },
    )]
}

fn signatures_required() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::update_signatures_required",
            "changes the required signatures",
            Expected::Success(&["0x1::multisig_account::UpdateSignaturesRequired"]),
            |world| {
                let account = create_vault_with_key(world);
                let executed = call(world, 3, "update_signatures_required", args![2u64]);
                assert_eq!(
                    view(world, "num_signatures_required", args![account]),
                    json!("2")
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::update_signatures_required",
            "zero required signatures",
            EINVALID_SIGNATURES_REQUIRED,
            |world| {
                create_vault_with_key(world);
                call(world, 3, "update_signatures_required", args![0u64])
            },
        ),
        Case::new(
            "0x1::multisig_account::update_signatures_required",
            "more required signatures than owners",
            ENOT_ENOUGH_OWNERS,
            |world| {
                create_vault_with_key(world);
                call(world, 3, "update_signatures_required", args![3u64])
            },
        ),
    ]
}

pub(super) fn metadata() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::update_metadata",
            "new pairs replace the old pairs",
            Expected::Success(&["0x1::multisig_account::MetadataUpdated"]),
            |world| {
                let account = create_vault_with_key(world);
                let first = args![vec!["a", "b"], vec![vec![1u8], vec![2u8]]];
                world.call_ok(3, "0x1::multisig_account::update_metadata", &[], first);
                let executed = call(
                    world,
                    3,
                    "update_metadata",
                    args![vec!["c"], vec![vec![3u8]]],
                );
                let metadata = json!({"data": [{"key": "c", "value": "0x03"}]});
                assert_eq!(view(world, "metadata", args![account]), metadata);
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::update_metadata",
            "more than 100 pairs",
            ETOO_MANY_METADATA_PAIRS,
            |world| {
                create_vault_with_key(world);
                let keys: Vec<String> = (0..101).map(|number| number.to_string()).collect();
                call(
                    world,
                    3,
                    "update_metadata",
                    args![keys, vec![vec![1u8]; 101]],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::update_metadata",
            "account that is not a multisig account",
            EACCOUNT_NOT_MULTISIG,
            |world| call(world, 3, "update_metadata", args![NO_KEYS, NO_VALUES]),
        ),
    ]
}
