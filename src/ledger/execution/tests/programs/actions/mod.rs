//! Random calls of the users of each module, some of them with invalid amounts or names.

mod assets;
mod multisig;
mod others;

use assets::{abandoned_coin, managed_asset, managed_coin, native, paired_asset, stores};
use multisig::{changes, creations, proposals};
use others::{accounts, descriptions, escrow, exchange, objects, registry, resource_accounts};

use crate::programs::program::{
    ACCOUNTS, CallRequest, Program, account, object_of, resource_account_of,
};
use fastrand::Rng;
use ledger_types::AccountAddress;

/// A function that returns a random call, or `None` if there is nothing to call it on.
type Action = fn(&mut Program) -> Option<CallRequest>;

/// The actions, each with its weight in the random choice.
const ACTIONS: &[(usize, Action)] = &[
    (6, native),
    (6, managed_coin),
    (4, paired_asset),
    (8, managed_asset),
    (10, stores),
    (7, objects),
    (4, escrow),
    (3, exchange),
    (3, registry),
    (6, proposals),
    (1, changes),
    (1, creations),
    (2, resource_accounts),
    (1, abandoned_coin),
    (2, accounts),
    (1, descriptions),
];

/// Returns the call of a randomly chosen action.
pub fn random_call(program: &mut Program) -> Option<CallRequest> {
    let all: usize = ACTIONS.iter().map(|(weight, _)| weight).sum();
    let mut remaining_weight = program.random.usize(..all);
    for (weight, action) in ACTIONS {
        if remaining_weight < *weight {
            return action(program);
        }
        remaining_weight -= weight;
    }
    None
}

/// Returns the number of a random development account.
fn random_account(program: &mut Program) -> usize {
    program.random.usize(..ACCOUNTS)
}

/// Returns a random amount: mostly below 1,000,000, sometimes 0 or a boundary value of 64 bits.
fn random_amount(random: &mut Rng) -> u64 {
    match random.u8(..16) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::MAX - 1_000,
        3 => 1 << 63,
        _ => random.u64(..1_000_000),
    }
}

/// Returns the address of a random owner that can receive and send: an account, an object, a
/// resource account or the multisig account.
fn random_owner_address(program: &mut Program) -> AccountAddress {
    let number = random_account(program);
    match program.random.u8(..8) {
        0 => object_of(number),
        1 => resource_account_of(number),
        2 => program.multisig,
        _ => account(number),
    }
}
