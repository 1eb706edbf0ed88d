//! Cases of `0x1::multisig_account`. Some functions need the signature of the multisig account
//! itself. An account with a key that became a multisig account calls them here; the tests of
//! `../multisig/` call them by executed payloads.

mod creation;
mod owners;
mod proposals;
mod votes;

use crate::functions::{Case, Expected, World, args};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::Value;

const NO_KEYS: &[String] = &[];
const NO_VALUES: &[Vec<u8>] = &[];
const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

const EACCOUNT_NOT_MULTISIG: Expected = Expected::Abort(
    "0x1::multisig_account: EACCOUNT_NOT_MULTISIG(0x307d2): the account is not a multisig account",
);
const EDUPLICATE_METADATA_KEY: Expected = Expected::Abort(
    "0x1::multisig_account: EDUPLICATE_METADATA_KEY(0x10010): a metadata key is given twice",
);
const EDUPLICATE_OWNER: Expected = Expected::Abort(
    "0x1::multisig_account: EDUPLICATE_OWNER(0x10001): an account is named twice among the owners",
);
const EINVALID_PAYLOAD_HASH: Expected = Expected::Abort(
    "0x1::multisig_account: EINVALID_PAYLOAD_HASH(0x1000c): the hash of a payload has 32 bytes",
);
const EINVALID_SEQUENCE_NUMBER: Expected = Expected::Abort(
    "0x1::multisig_account: EINVALID_SEQUENCE_NUMBER(0x10011): no transaction of the multisig account that fits has this number",
);
const EINVALID_SIGNATURES_REQUIRED: Expected = Expected::Abort(
    "0x1::multisig_account: EINVALID_SIGNATURES_REQUIRED(0x1000b): the number of required signatures must be at least 1 and at most the number of owners",
);
const EMAX_PENDING_TRANSACTIONS_EXCEEDED: Expected = Expected::Abort(
    "0x1::multisig_account: EMAX_PENDING_TRANSACTIONS_EXCEEDED(0x30013): the multisig account has as many pending transactions as it may have",
);
const ENOT_ENOUGH_OWNERS: Expected = Expected::Abort(
    "0x1::multisig_account: ENOT_ENOUGH_OWNERS(0x30005): there would be fewer owners than required signatures",
);
const ENOT_ENOUGH_REJECTIONS: Expected = Expected::Abort(
    "0x1::multisig_account: ENOT_ENOUGH_REJECTIONS(0x3000a): too few owners have rejected the transaction",
);
const ENOT_OWNER: Expected = Expected::Abort(
    "0x1::multisig_account: ENOT_OWNER(0x507d3): the account is not an owner of the multisig account",
);
const ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH: Expected = Expected::Abort(
    "0x1::multisig_account: ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH(0x1000f): there must be as many metadata values as keys",
);
const EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP: Expected = Expected::Abort(
    "0x1::multisig_account: EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP(0x10012): an account is both to be added to and removed from the owners",
);
const EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF: Expected = Expected::Abort(
    "0x1::multisig_account: EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF(0x1000d): a multisig account cannot own itself",
);
const EPAYLOAD_CANNOT_BE_EMPTY: Expected = Expected::Abort(
    "0x1::multisig_account: EPAYLOAD_CANNOT_BE_EMPTY(0x10004): a proposed transaction needs a payload",
);
const ETRANSACTION_NOT_FOUND: Expected = Expected::Abort(
    "0x1::multisig_account: ETRANSACTION_NOT_FOUND(0x607d6): the multisig account has no pending transaction with this number",
);
const ETOO_MANY_METADATA_PAIRS: Expected = Expected::Abort(
    "0x1::multisig_account: ETOO_MANY_METADATA_PAIRS(0x10066): a multisig account has at most 100 pairs of metadata",
);
const ETOO_MANY_OWNERS: Expected = Expected::Abort(
    "0x1::multisig_account: ETOO_MANY_OWNERS(0x10065): a multisig account has at most 100 owners",
);

/// Returns addresses without accounts.
fn unused_addresses(count: u64) -> Vec<AccountAddress> {
    (0..count)
        .map(|number| AccountAddress::from_low_u64(0x1000 + number))
        .collect()
}

/// Returns the address of the next multisig account of a development account.
fn next_address(world: &World, creator: usize) -> AccountAddress {
    let view = "0x1::multisig_account::get_next_multisig_account_address";
    let next = world.view(view, &[], args![world.address(creator)]);
    next[0].as_str().unwrap().parse().unwrap()
}

/// Creates a multisig account of accounts 0, 1, and 2. Account 0 is the creator.
fn create_vault(world: &mut World, num_signatures_required: u64) -> AccountAddress {
    let vault = next_address(world, 0);
    let owners = vec![world.address(1), world.address(2)];
    let arguments = args![owners, num_signatures_required, NO_KEYS, NO_VALUES];
    world.call_ok(
        0,
        "0x1::multisig_account::create_with_owners",
        &[],
        arguments,
    );
    vault
}

/// Makes account 3 a multisig account of accounts 0 and 1. Its key still signs for it.
fn create_vault_with_key(world: &mut World) -> AccountAddress {
    let owners = vec![world.address(0), world.address(1)];
    let arguments = args![owners, 1u64, NO_KEYS, NO_VALUES];
    world.call_ok(
        3,
        "0x1::multisig_account::create_with_existing_account_call",
        &[],
        arguments,
    );
    world.address(3)
}

/// Proposes a payload with account 0.
fn propose(world: &mut World, vault: AccountAddress) {
    world.call_ok(
        0,
        "0x1::multisig_account::create_transaction",
        &[],
        args![vault, vec![1u8]],
    );
}

fn view(world: &World, name: &str, args: Vec<Vec<u8>>) -> Value {
    let mut values = world.view(&format!("0x1::multisig_account::{name}"), &[], args);
    if values.len() == 1 {
        values.remove(0)
    } else {
        values.into()
    }
}

fn owners(world: &World, vault: AccountAddress) -> Value {
    view(world, "owners", args![vault])
}

fn addresses(world: &World, accounts: &[usize]) -> Value {
    accounts
        .iter()
        .map(|account| world.address(*account).to_string())
        .collect()
}

/// Calls a function of the module with a development account.
fn call(world: &mut World, account: usize, name: &str, args: Vec<Vec<u8>>) -> ExecutedTransaction {
    world.call(
        account,
        &format!("0x1::multisig_account::{name}"),
        &[],
        args,
    )
}

pub fn cases() -> Vec<Case> {
    [
        creation::creation(),
        proposals::proposals(),
        votes::votes(),
        votes::rejections(),
        owners::owner_changes(),
        owners::metadata(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Views fail for an address without a multisig account, because its resource is missing.
#[test]
fn views_fail_without_a_multisig_account() {
    let world = World::new();
    let arguments = args![UNKNOWN_ADDRESS];
    for name in [
        "owners",
        "metadata",
        "num_signatures_required",
        "get_pending_transactions",
    ] {
        let name = format!("0x1::multisig_account::{name}");
        let failed = world.try_view(&name, &[], arguments.clone()).unwrap_err();
        assert_eq!(
            failed,
            format!("Execution failed in {name} at code offset 0")
        );
    }
}

/// Views of one transaction fail for sequence numbers that are not assigned.
#[test]
fn views_reject_unassigned_sequence_numbers() {
    let mut world = World::new();
    let vault = create_vault(&mut world, 2);
    propose(&mut world, vault);
    for number in [0u64, 2] {
        for name in ["get_transaction", "can_be_executed", "can_be_rejected"] {
            let name = format!("0x1::multisig_account::{name}");
            let failed = world
                .try_view(&name, &[], args![vault, number])
                .unwrap_err();
            assert!(
                failed.contains("EINVALID_SEQUENCE_NUMBER(0x10011)"),
                "{failed}"
            );
        }
    }
}

/// SDKs query this address. It is the address of a resource account with the vendor name in its
/// seed.
#[test]
fn derives_the_next_address_from_creator_and_sequence_number() {
    let mut world = World::new();
    for sequence_number in 0..3u64 {
        let creator = world.address(0);
        let seed = [
            b"node_framework::multisig_account".as_slice(),
            &sequence_number.to_le_bytes(),
        ];
        let hash = HashValue::sha3_of(&[creator.as_bytes(), seed[0], seed[1], &[0xff]]);
        assert_eq!(
            next_address(&world, 0),
            AccountAddress::new(*hash.as_bytes())
        );
        let created = create_vault(&mut world, 1);
        assert_eq!(created.as_bytes(), hash.as_bytes());
        assert_eq!(view(&world, "is_owner", args![creator, created]), true);
    }
}
