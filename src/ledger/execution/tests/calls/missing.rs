//! Calls of every entry function about objects, accounts, and coins that do not exist, by a sender
//! that has only funds.
//!
//! A call either fails with an error that names the missing item and changes nothing else, or
//! creates the item.

use crate::calls::{
    caller::Caller,
    functions::{Callable, Sample, WITHOUT_ABILITIES, callables},
};
use ledger_test_support::TestAccount;
use ledger_types::AccountAddress;
use std::collections::BTreeSet;

/// Balance of each sender, in the coin's smallest unit.
const FUNDS: u64 = 1_000_000_000;

/// Makes call number `number`, of `function`, with addresses and names that no other call uses.
fn call_with_missing_items(caller: &mut Caller, number: u64, function: &Callable) -> String {
    let unknown = AccountAddress::from_low_u64(0xbad_0000 + number);
    let sender = TestAccount::from_seed(number);
    let fund = caller.chain.transfer(sender.address, FUNDS);
    let funder = std::mem::replace(&mut caller.key, sender.key);
    assert!(
        caller.chain.run(&funder, fund).transactions[1]
            .info
            .v0()
            .status
            .is_success()
    );

    let sample = Sample {
        object: unknown,
        address: unknown,
        number: 1,
    };
    // A coin parameter gets a coin type that was never initialized.
    let type_args: Vec<&str> = function
        .type_args()
        .into_iter()
        .map(|fitting| {
            if fitting == "u8" {
                WITHOUT_ABILITIES
            } else {
                fitting
            }
        })
        .collect();
    let args = function.arguments_like(caller.chain.chain.registry(), &type_args, sample);
    let status = caller.transact_with_all_signers(function, &type_args, args);
    caller.key = funder;
    status
}

/// Returns whether the status names the missing item: an abort with a name, or a failure of the
/// called function.
fn names_missing_item(function: &str, status: &str) -> bool {
    let is_named = |abort: &str| {
        abort
            .split_once(": E")
            .is_some_and(|(_, name)| name.contains("(0x"))
    };
    status
        .strip_prefix("Move abort in 0x1::")
        .is_some_and(is_named)
        || status == format!("Execution failed in {function} at code offset 0")
}

#[test]
fn names_or_creates_missing_items() {
    let mut caller = Caller::new();
    let functions = callables(caller.chain.chain.registry());
    let (mut made, mut unnamed) = (BTreeSet::new(), Vec::new());
    for (number, function) in (1..).zip(functions.iter().filter(|function| function.is_entry)) {
        let status = call_with_missing_items(&mut caller, number, function);
        if status == "Executed successfully" {
            made.insert(function.name.as_str());
        } else if !names_missing_item(&function.name, &status) {
            unnamed.push(format!("{}: {status}", function.name));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
    let expected_creators: BTreeSet<&str> = CREATORS
        .iter()
        .flat_map(|(_, functions)| *functions)
        .copied()
        .collect();
    assert_eq!(
        made, expected_creators,
        "functions that succeed (left), CREATORS (right)"
    );
}

/// Functions that need no existing item, grouped by their effect.
const CREATORS: &[(&str, &[&str])] = &[
    (
        "they create the items that they name, for the sender",
        &[
            "0x1::managed_fungible_asset::create",
            "0x1::managed_fungible_asset::create_untransferable",
            "0x1::managed_object::create_generated",
            "0x1::managed_object::create_named",
            "0x1::managed_object::create_sticky",
            "0x1::multisig_account::create",
            "0x1::multisig_account::create_with_owners",
            "0x1::multisig_account::create_with_owners_then_remove_bootstrapper",
            "0x1::registry::initialize",
            "0x1::resource_account::create_resource_account",
            "0x1::resource_account::create_resource_account_and_fund",
        ],
    ),
    (
        "they change the sender, whose account resource the transaction creates",
        &[
            "0x1::account::rotate_authentication_key_call",
            "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key_call",
            "0x1::multisig_account::create_with_existing_account_call",
            "0x1::node_account::set_allow_direct_coin_transfers",
        ],
    ),
    (
        "they create the store of the recipient and pay with the funds of the sender",
        &[
            "0x1::node_account::batch_transfer",
            "0x1::node_account::create_account",
            "0x1::node_account::transfer",
        ],
    ),
    (
        "they move the balance of coin stores, and no coin store exists",
        &[
            "0x1::coin::migrate_coin_store_to_fungible_store",
            "0x1::coin::migrate_to_fungible_store",
        ],
    ),
];
