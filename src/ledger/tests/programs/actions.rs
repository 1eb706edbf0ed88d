//! The random calls: for each module what its users do, with now and then an amount or a name that
//! cannot be.

use crate::program::{
    ACCOUNTS, NATIVE, Program, Sent, account, args, asset_of, coin_of, object_of, primary_store,
    resource_account_of,
};
use ledger::{AccountAddress, transaction::TransactionPayload};

/// What an action makes: a call, or nothing where there is nothing to call it on.
type Action = fn(&mut Program) -> Option<Sent>;

/// The actions with how often each is taken.
const ACTIONS: &[(usize, Action)] = &[
    (6, native),
    (6, managed_coin),
    (4, paired_asset),
    (8, managed_asset),
    (4, stores),
    (5, objects),
    (4, escrow),
    (3, registry),
    (6, multisig),
    (2, resource_accounts),
    (1, accounts),
    (1, descriptions),
];

/// The next call of a program.
pub fn next(program: &mut Program) -> Option<Sent> {
    let all: usize = ACTIONS.iter().map(|(weight, _)| weight).sum();
    let mut place = program.random.below(all);
    for (weight, action) in ACTIONS {
        if place < *weight {
            return action(program);
        }
        place -= weight;
    }
    None
}

fn who(program: &mut Program) -> usize {
    program.random.below(ACCOUNTS)
}

/// Anyone who can get something and give it on: accounts, objects, resource accounts, the multisig account.
fn anyone(program: &mut Program) -> AccountAddress {
    let number = who(program);
    match program.random.below(8) {
        0 => object_of(number),
        1 => resource_account_of(number),
        2 => program.multisig,
        _ => account(number),
    }
}

fn native(program: &mut Program) -> Option<Sent> {
    let (number, to, amount) = (who(program), anyone(program), program.random.amount());
    let also = anyone(program);
    let asset = AccountAddress::NATIVE_ASSET;
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.below(8) {
        0 => program.sent(number, "0x1::coin::transfer", &[NATIVE], args![to, amount]),
        1 => program.sent(
            number,
            "0x1::node_account::transfer_coins",
            &[NATIVE],
            args![to, amount],
        ),
        2 => program.sent(
            number,
            "0x1::node_account::batch_transfer",
            &[],
            args![vec![to, also], vec![amount, 7]],
        ),
        3 => program.sent(
            number,
            "0x1::node_account::transfer_fungible_assets",
            &[],
            args![asset, to, amount],
        ),
        4 => program.sent(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
        5 => {
            let call = program.call("0x1::node_account::transfer", &[], args![to, amount]);
            Sent {
                key: number,
                sender: resource_account_of(number),
                payload: TransactionPayload::EntryFunction(call),
            }
        }
        _ => program.sent(number, "0x1::node_account::transfer", &[], args![to, amount]),
    })
}

fn managed_coin(program: &mut Program) -> Option<Sent> {
    let (number, of, to, amount) = (
        who(program),
        who(program),
        anyone(program),
        program.random.amount(),
    );
    let coin = coin_of(of);
    let coin = &[coin.as_str()];
    Some(match program.random.below(9) {
        0 => program.sent(of, "0x1::managed_coin::mint", coin, args![to, amount]),
        1 => program.sent(of, "0x1::managed_coin::burn", coin, args![amount]),
        2 => program.sent(number, "0x1::managed_coin::mint", coin, args![to, amount]),
        3 if program.random.below(3) == 0 => {
            program.sent(of, "0x1::managed_coin::freeze_coin_store", coin, args![to])
        }
        3 | 4 => program.sent(of, "0x1::managed_coin::unfreeze_coin_store", coin, args![to]),
        5 if program.random.flag() => program.sent(number, "0x1::managed_coin::register", coin, args![]),
        5 => program.sent(number, "0x1::coin::register", coin, args![]),
        6 => program.sent(
            number,
            "0x1::node_account::batch_transfer_coins",
            coin,
            args![vec![to, account(of)], vec![5u64, amount]],
        ),
        _ => program.sent(number, "0x1::coin::transfer", coin, args![to, amount]),
    })
}

/// The paired metadata of the coin that a development account manages.
fn paired(program: &Program, of: usize) -> AccountAddress {
    let coin = coin_of(of).parse().unwrap();
    ledger::framework::modules::coin::paired_metadata_address(&program.chain.chain, &coin)
}

fn paired_asset(program: &mut Program) -> Option<Sent> {
    let (number, of, to) = (who(program), who(program), anyone(program));
    let amount = program.random.amount();
    let asset = paired(program, of);
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.below(3) {
        0 => program.sent(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
        1 => program.sent(
            number,
            "0x1::node_account::batch_transfer_fungible_assets",
            &[],
            args![asset, vec![to, account(of)], vec![amount, 3]],
        ),
        _ => program.sent(
            number,
            "0x1::managed_object::transfer_fungible_assets",
            &[],
            args![object_of(number), asset, to, amount],
        ),
    })
}

fn managed_asset(program: &mut Program) -> Option<Sent> {
    let (number, of, from, to) = (who(program), who(program), anyone(program), anyone(program));
    let amount = program.random.amount();
    let asset = asset_of(of);
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.below(12) {
        0 | 1 => program.sent(
            of,
            "0x1::managed_fungible_asset::mint",
            &[],
            args![asset, to, amount],
        ),
        2 => program.sent(
            of,
            "0x1::managed_fungible_asset::burn",
            &[],
            args![asset, from, amount],
        ),
        3 => program.sent(
            of,
            "0x1::managed_fungible_asset::transfer",
            &[],
            args![asset, from, to, amount],
        ),
        4 => program.sent(of, "0x1::managed_fungible_asset::freeze", &[], args![asset, to]),
        5 | 6 => program.sent(of, "0x1::managed_fungible_asset::unfreeze", &[], args![asset, to]),
        7 => program.sent(
            number,
            "0x1::managed_object::transfer_fungible_assets",
            &[],
            args![object_of(number), asset, to, amount],
        ),
        8 => program.sent(
            number,
            "0x1::primary_fungible_store::transfer_assert_minimum_deposit",
            &[metadata],
            args![asset, to, amount, amount],
        ),
        9 => program.sent(
            number,
            "0x1::managed_fungible_asset::mint",
            &[],
            args![asset, to, amount],
        ),
        _ => program.sent(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
    })
}

fn stores(program: &mut Program) -> Option<Sent> {
    let (number, of) = (who(program), who(program));
    let amount = program.random.amount() % 1_000;
    let store_type = "0x1::fungible_asset::FungibleStore";
    if program.stores.is_empty() || program.random.below(5) == 0 {
        let create = "0x1::managed_fungible_asset::create_store";
        return Some(program.sent(number, create, &[], args![asset_of(of)]));
    }
    let place = program.random.below(program.stores.len());
    let store = program.stores[place];
    let primary = primary_store(account(number), asset_of(of));
    let with_minimum = "0x1::dispatchable_fungible_asset::transfer_assert_minimum_deposit";
    if program.random.below(6) == 0 {
        let arguments = args![primary, store, amount, amount];
        return Some(program.sent(number, with_minimum, &[store_type], arguments));
    }
    let transfer = if program.random.flag() {
        "0x1::fungible_asset::transfer"
    } else {
        "0x1::dispatchable_fungible_asset::transfer"
    };
    Some(match program.random.below(7) {
        0 => program.sent(
            number,
            "0x1::managed_fungible_asset::remove_store",
            &[],
            args![store],
        ),
        1 => program.sent(of, "0x1::managed_fungible_asset::freeze_store", &[], args![store]),
        2 => program.sent(
            of,
            "0x1::managed_fungible_asset::unfreeze_store",
            &[],
            args![store],
        ),
        3 => program.sent(
            of,
            "0x1::managed_fungible_asset::burn_from_store",
            &[],
            args![store, amount],
        ),
        4 => program.sent(
            number,
            "0x1::object::transfer",
            &[store_type],
            args![store, account(of)],
        ),
        5 => program.sent(number, transfer, &[store_type], args![store, primary, amount]),
        _ => program.sent(number, transfer, &[store_type], args![primary, store, amount]),
    })
}

/// Named objects go to accounts, or to named objects of a higher number: a circle of owners would lock
/// what its objects hold, which is its makers' doing.
fn objects(program: &mut Program) -> Option<Sent> {
    let (number, of, other) = (who(program), who(program), who(program));
    let (object, flag) = (object_of(of), program.random.flag());
    let core = "0x1::object::ObjectCore";
    Some(match program.random.below(9) {
        0 => program.sent(number, "0x1::object::burn", &[core], args![object_of(number)]),
        1 => program.sent(number, "0x1::object::unburn", &[core], args![object_of(number)]),
        2 if of < other => program.sent(
            number,
            "0x1::object::transfer_to_object",
            &[core, core],
            args![object, object_of(other)],
        ),
        3 => program.sent(
            number,
            "0x1::managed_object::set_ungated_transfer",
            &[],
            args![object, flag],
        ),
        4 => program.sent(number, "0x1::managed_object::create_generated", &[], args![]),
        5 => program.sent(number, "0x1::managed_object::create_sticky", &[], args![]),
        6 => {
            let place = program.random.below(program.generated.len());
            let delete = "0x1::managed_object::delete";
            program.sent(number, delete, &[], args![program.generated[place]])
        }
        7 => program.sent(
            number,
            "0x1::object::transfer_call",
            &[],
            args![object, account(other)],
        ),
        _ => program.sent(
            number,
            "0x1::object::transfer",
            &[core],
            args![object, account(other)],
        ),
    })
}

fn escrow(program: &mut Program) -> Option<Sent> {
    let (number, of, to) = (who(program), who(program), who(program));
    // Few coins and low numbers, so that escrows that are released are ones that were opened.
    let coin = if of > 0 { NATIVE.to_owned() } else { coin_of(0) };
    let coin = &[coin.as_str()];
    let number_of_escrow = program.random.below(3) as u64;
    let amount = program.random.amount();
    let now_secs = program.chain.tip.timestamp_usecs / 1_000_000;
    let deadline_secs = now_secs + program.random.below(40) as u64;
    Some(match program.random.below(4) {
        0 => program.sent(number, "0x1::escrow::cancel", coin, args![number_of_escrow]),
        1 => program.sent(
            number,
            "0x1::escrow::release",
            coin,
            args![account(to), number_of_escrow],
        ),
        _ => program.sent(
            number,
            "0x1::escrow::open",
            coin,
            args![account(to), amount, deadline_secs],
        ),
    })
}

/// What an asset or an object is called or allowed, which moves nothing.
fn descriptions(program: &mut Program) -> Option<Sent> {
    let number = who(program);
    let none = None::<String>;
    Some(match program.random.below(4) {
        0 => program.sent(
            number,
            "0x1::managed_object::set_untransferable",
            &[],
            args![object_of(number)],
        ),
        1 => program.sent(
            number,
            "0x1::managed_fungible_asset::create_untransferable",
            &[],
            args!["U", "U", 0u8, "", "", None::<u128>],
        ),
        _ => program.sent(
            number,
            "0x1::managed_fungible_asset::set_metadata",
            &[],
            args![asset_of(number), Some("B"), none, Some(3u8), none, none],
        ),
    })
}

fn registry(program: &mut Program) -> Option<Sent> {
    let number = who(program);
    let name = format!("n{}", program.random.below(4));
    Some(if program.random.below(3) == 0 {
        program.sent(number, "0x1::registry::remove", &[], args![name])
    } else {
        let content = vec![1u8; program.random.below(300)];
        program.sent(number, "0x1::registry::set", &[], args![name, content])
    })
}

/// Proposals move the chain's coin or an asset out of the multisig account.
fn multisig(program: &mut Program) -> Option<Sent> {
    let number = who(program);
    let multisig = program.multisig;
    let numbers = program.view(
        "0x1::multisig_account::last_resolved_sequence_number",
        &[],
        args![multisig],
    );
    let next: u64 = numbers[0].as_str().unwrap().parse::<u64>().unwrap() + 1;
    Some(match program.random.below(11) {
        7 => {
            let vote = ["vote_transaction", "vote_transanction"][program.random.below(2)];
            let vote = format!("0x1::multisig_account::{vote}");
            let approved = program.random.flag();
            program.sent(number, &vote, &[], args![multisig, next, approved])
        }
        8 => program.sent(
            number,
            "0x1::multisig_account::vote_transactions",
            &[],
            args![multisig, next, next, program.chain.tip.height.is_multiple_of(2)],
        ),
        9 => program.sent(
            number,
            "0x1::multisig_account::execute_rejected_transactions",
            &[],
            args![multisig, next],
        ),
        10 => program.sent(
            number,
            "0x1::multisig_account::create_transaction_with_hash",
            &[],
            args![multisig, vec![7u8; 32]],
        ),
        0 | 1 => {
            let (to, amount) = (anyone(program), program.random.amount());
            let call = program.call("0x1::node_account::transfer", &[], args![to, amount]);
            let payload = ledger::transaction::MultisigPayload::EntryFunction(call);
            let payload = bcs::to_bytes(&payload).unwrap();
            let create = "0x1::multisig_account::create_transaction";
            program.sent(number, create, &[], args![multisig, payload])
        }
        2 | 3 => program.sent(
            number,
            "0x1::multisig_account::approve_transaction",
            &[],
            args![multisig, next],
        ),
        4 => program.sent(
            number,
            "0x1::multisig_account::reject_transaction",
            &[],
            args![multisig, next],
        ),
        5 => program.sent(
            number,
            "0x1::multisig_account::execute_rejected_transaction",
            &[],
            args![multisig],
        ),
        _ => program.sent_as_multisig(number, None),
    })
}

fn resource_accounts(program: &mut Program) -> Option<Sent> {
    let number = who(program);
    let seed = vec![program.random.below(3) as u8];
    let no_key = Vec::<u8>::new();
    Some(program.sent(
        number,
        "0x1::resource_account::create_resource_account",
        &[],
        args![seed, no_key],
    ))
}

fn accounts(program: &mut Program) -> Option<Sent> {
    let number = who(program);
    let key = AccountAddress::from_low_u64(0x1000 + program.random.below(20) as u64);
    Some(if program.random.flag() {
        program.sent(number, "0x1::node_account::create_account", &[], args![key])
    } else {
        let allow = program.random.flag();
        let set = "0x1::node_account::set_allow_direct_coin_transfers";
        program.sent(number, set, &[], args![allow])
    })
}
