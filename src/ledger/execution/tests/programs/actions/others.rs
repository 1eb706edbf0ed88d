//! Random calls on objects, escrows, exchanges, registries and accounts.

use super::{random_account, random_amount};
use crate::programs::program::{
    CallRequest, NATIVE, Program, account, args, asset_of, coin_of, object_of, resource_account_of,
};
use ledger_execution::development_accounts;
use ledger_types::{AccountAddress, transaction::TransactionPayload};

/// Returns a call on objects.
///
/// Named objects are transferred only to accounts and to named objects of a higher number. A cycle
/// of owners, which the framework does not prevent, would lock the balances of its objects.
pub(super) fn objects(program: &mut Program) -> Option<CallRequest> {
    let (number, of, other) = (
        random_account(program),
        random_account(program),
        random_account(program),
    );
    let (object, flag) = (object_of(of), program.random.bool());
    let core = "0x1::object::ObjectCore";
    Some(match program.random.u8(..9) {
        0 => program.request(
            number,
            "0x1::object::burn",
            &[core],
            args![object_of(number)],
        ),
        1 => program.request(
            number,
            "0x1::object::unburn",
            &[core],
            args![object_of(number)],
        ),
        2 if of < other => program.request(
            number,
            "0x1::object::transfer_to_object",
            &[core, core],
            args![object, object_of(other)],
        ),
        3 => program.request(
            number,
            "0x1::managed_object::set_ungated_transfer",
            &[],
            args![object, flag],
        ),
        4 => program.request(
            number,
            "0x1::managed_object::create_generated",
            &[],
            args![],
        ),
        5 => program.request(number, "0x1::managed_object::create_sticky", &[], args![]),
        6 => {
            let generated = *program.random.choice(&program.generated)?;
            let delete = "0x1::managed_object::delete";
            program.request(number, delete, &[], args![generated])
        }
        7 => program.request(
            number,
            "0x1::object::transfer_call",
            &[],
            args![object, account(other)],
        ),
        _ => program.request(
            number,
            "0x1::object::transfer",
            &[core],
            args![object, account(other)],
        ),
    })
}

/// Returns a call that sets metadata or restricts transfers. It moves no balance.
pub(super) fn descriptions(program: &mut Program) -> Option<CallRequest> {
    let number = random_account(program);
    let none = None::<String>;
    Some(match program.random.u8(..4) {
        0 => program.request(
            number,
            "0x1::managed_object::set_untransferable",
            &[],
            args![object_of(number)],
        ),
        1 => program.request(
            number,
            "0x1::managed_fungible_asset::create_untransferable",
            &[],
            args!["U", "U", 0u8, "", "", None::<u128>],
        ),
        _ => program.request(
            number,
            "0x1::managed_fungible_asset::set_metadata",
            &[],
            args![asset_of(number), Some("B"), none, Some(3u8), none, none],
        ),
    })
}

pub(super) fn escrow(program: &mut Program) -> Option<CallRequest> {
    let (number, of, to) = (
        random_account(program),
        random_account(program),
        random_account(program),
    );
    // Few coins and low numbers, so that calls are likely to hit an open escrow.
    let coin = if of > 0 {
        NATIVE.to_owned()
    } else {
        coin_of(0)
    };
    let coin = &[coin.as_str()];
    let number_of_escrow = program.random.u64(..3);
    let amount = random_amount(&mut program.random);
    let now_secs = program.chain.tip.timestamp_usecs / 1_000_000;
    let deadline_secs = now_secs + program.random.u64(..40);
    Some(match program.random.u8(..4) {
        0 => program.request(number, "0x1::escrow::cancel", coin, args![number_of_escrow]),
        1 => program.request(
            number,
            "0x1::escrow::release",
            coin,
            args![account(to), number_of_escrow],
        ),
        _ => program.request(
            number,
            "0x1::escrow::open",
            coin,
            args![account(to), amount, deadline_secs],
        ),
    })
}

/// Returns an exchange of coins or assets between two accounts. If both are the same account, the
/// transaction is rejected.
pub(super) fn exchange(program: &mut Program) -> Option<CallRequest> {
    let (first, second, of) = (
        random_account(program),
        random_account(program),
        random_account(program),
    );
    let (one, other) = (
        random_amount(&mut program.random),
        random_amount(&mut program.random),
    );
    let both = [first, second];
    Some(if program.random.bool() {
        let coin = coin_of(of);
        let exchange = "0x1::exchange::exchange_coins";
        program.request_of_two(both, exchange, &[&coin, NATIVE], args![one, other])
    } else {
        let metadata = "0x1::fungible_asset::Metadata";
        let exchange = "0x1::exchange::exchange_assets";
        let arguments = args![asset_of(of), one, AccountAddress::NATIVE_ASSET, other];
        program.request_of_two(both, exchange, &[metadata, metadata], arguments)
    })
}

pub(super) fn registry(program: &mut Program) -> Option<CallRequest> {
    let number = random_account(program);
    let name = format!("n{}", program.random.u8(..4));
    Some(if program.random.u8(..3) == 0 {
        program.request(number, "0x1::registry::remove", &[], args![name])
    } else {
        let content = vec![1u8; program.random.usize(..300)];
        program.request(number, "0x1::registry::set", &[], args![name, content])
    })
}

pub(super) fn resource_accounts(program: &mut Program) -> Option<CallRequest> {
    let number = random_account(program);
    let seed = vec![program.random.u8(..3)];
    let no_key = Vec::<u8>::new();
    Some(program.request(
        number,
        "0x1::resource_account::create_resource_account",
        &[],
        args![seed, no_key],
    ))
}

pub(super) fn accounts(program: &mut Program) -> Option<CallRequest> {
    let number = random_account(program);
    let key = AccountAddress::from_low_u64(0x1000 + program.random.u64(..20));
    Some(match program.random.u8(..4) {
        0 => program.request(number, "0x1::node_account::create_account", &[], args![key]),
        1 => {
            let allow = program.random.bool();
            let set = "0x1::node_account::set_allow_direct_coin_transfers";
            program.request(number, set, &[], args![allow])
        }
        2 => revocation(program, number),
        _ => rotation(program, number),
    })
}

/// Returns a call in which a resource account revokes the signer capability that it offered to its
/// creator at creation.
///
/// The creator's key remains the key of the resource account.
fn revocation(program: &mut Program, number: usize) -> CallRequest {
    let resource_account = resource_account_of(number);
    let (revoke, args) = if program.random.bool() {
        ("0x1::account::revoke_any_signer_capability", args![])
    } else {
        (
            "0x1::account::revoke_signer_capability",
            args![resource_account],
        )
    };
    CallRequest {
        key: number,
        sender: resource_account,
        secondary_signers: Vec::new(),
        payload: TransactionPayload::EntryFunction(program.call(revoke, &[], args)),
    }
}

/// Returns a call that rotates the key of an account to its current key, for which no proof is
/// needed.
fn rotation(program: &mut Program, number: usize) -> CallRequest {
    let key = development_accounts()
        .remove(number)
        .private_key
        .public_key();
    let hash = key.authentication_key().as_bytes().to_vec();
    match program.random.u8(..3) {
        0 => program.request(
            number,
            "0x1::account::rotate_authentication_key_call",
            &[],
            args![hash],
        ),
        1 => program.request(
            number,
            "0x1::account::rotate_authentication_key_from_public_key",
            &[],
            args![0u8, key.0.to_vec()],
        ),
        _ => program.request(
            number,
            "0x1::account::set_originating_address",
            &[],
            args![],
        ),
    }
}
