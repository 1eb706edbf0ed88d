//! Seeded random programs that mix the functions of the framework.
//!
//! They neither create nor destroy nor lock coins and assets, and a replay of the chain has the
//! same hashes. On half of the chains, the stores of coins have no event streams.

// The test prints its seeds.
#![allow(clippy::print_stdout)]

mod actions;
pub(crate) mod census;
mod disjoint;
mod program;
mod withdrawal;

use ledger_framework::FRAMEWORK_VERSION;
use ledger_types::{AccountAddress, ModuleId};
use program::Program;
use std::collections::{BTreeMap, BTreeSet};

fn run(seed: u64, calls: usize) -> Program {
    println!("seed {seed}");
    let mut program = Program::new(seed);
    for call in 0..calls {
        if let Some(request) = actions::random_call(&mut program) {
            program.run_in_any_form(request);
        }
        if call % 50 == 0 {
            program.assert_conserved();
        }
    }
    program.assert_conserved();
    program
}

#[test]
fn conserves_coins_and_assets_in_random_programs() {
    let mut succeeded: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 1..=10 {
        let mut program = run(seed, 600);
        withdrawal::withdraw_all(&mut program);
        program.assert_conserved();
        program.assert_replay_is_equal();
        assert!(
            program.orderless > 50,
            "only {} transactions are orderless",
            program.orderless
        );
        assert!(
            program.sponsored > 50,
            "only {} transactions are sponsored",
            program.sponsored
        );
        for (function, count) in program.succeeded {
            *succeeded.entry(function).or_default() += count;
        }
    }
    let entry_functions = entry_functions();
    let not_succeeded: BTreeSet<&str> = entry_functions
        .iter()
        .map(String::as_str)
        .filter(|name| !succeeded.contains_key(*name))
        .collect();
    let expected: BTreeSet<&str> = NEVER_SUCCESSFUL.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        not_succeeded, expected,
        "functions that never succeeded (left), NEVER_SUCCESSFUL (right)"
    );
}

/// Entry functions that random calls never execute successfully, with the reason.
///
/// The cases of `tests/functions` cover them.
const NEVER_SUCCESSFUL: &[(&str, &str)] = &[
    ("0x1::account::rotate_authentication_key", NEEDS_PROOF),
    (
        "0x1::account::rotate_authentication_key_with_rotation_capability",
        NEEDS_PROOF,
    ),
    ("0x1::account::offer_rotation_capability", NEEDS_PROOF),
    ("0x1::account::offer_signer_capability", NEEDS_PROOF),
    ("0x1::account::revoke_any_rotation_capability", NEEDS_OFFER),
    ("0x1::account::revoke_rotation_capability", NEEDS_OFFER),
    ("0x1::account::set_originating_address", "it always fails"),
    ("0x1::coin::upgrade_supply", "it always fails"),
    (
        "0x1::multisig_account::create_with_existing_account",
        NEEDS_PROOF,
    ),
    (
        "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key",
        NEEDS_PROOF,
    ),
    (
        "0x1::multisig_account::create_with_existing_account_and_revoke_auth_key_call",
        "it revokes the key of the account, which then cannot send any more calls",
    ),
];

const NEEDS_PROOF: &str = "its arguments are signed proofs of one transaction";
const NEEDS_OFFER: &str = "it revokes an offer, which needs a signed proof";

fn entry_functions() -> Vec<String> {
    let chain = ledger_test_support::MemoryChain::development().chain;
    let registry = chain.registry();
    let modules = registry.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION);
    let of_module = |name| {
        let module = ModuleId {
            address: AccountAddress::ONE,
            name,
        };
        let abi = registry.module_abi(&module).unwrap();
        let functions = abi["exposed_functions"].as_array().unwrap().clone();
        functions
            .into_iter()
            .filter(|function| function["is_entry"] == true)
            .map(move |function| format!("{module}::{}", function["name"].as_str().unwrap()))
    };
    modules.into_iter().flat_map(of_module).collect()
}
