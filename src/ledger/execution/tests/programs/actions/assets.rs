//! Random calls that transfer, mint, burn and freeze coins and assets.

use super::{random_account, random_amount, random_owner_address};
use crate::programs::program::{
    CallRequest, NATIVE, Program, SecondaryStore, abandoned_coin_of, account, args, asset_of,
    coin_of, object_of, primary_store, resource_account_of,
};
use ledger_types::{AccountAddress, transaction::TransactionPayload};

pub(super) fn native(program: &mut Program) -> Option<CallRequest> {
    let (number, to, amount) = (
        random_account(program),
        random_owner_address(program),
        random_amount(&mut program.random),
    );
    let also = random_owner_address(program);
    let asset = AccountAddress::NATIVE_ASSET;
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.u8(..8) {
        0 => program.request(number, "0x1::coin::transfer", &[NATIVE], args![to, amount]),
        1 => program.request(
            number,
            "0x1::node_account::transfer_coins",
            &[NATIVE],
            args![to, amount],
        ),
        2 => program.request(
            number,
            "0x1::node_account::batch_transfer",
            &[],
            args![vec![to, also], vec![amount, 7]],
        ),
        3 => program.request(
            number,
            "0x1::node_account::transfer_fungible_assets",
            &[],
            args![asset, to, amount],
        ),
        4 => program.request(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
        5 => {
            let call = program.call("0x1::node_account::transfer", &[], args![to, amount]);
            CallRequest {
                key: number,
                sender: resource_account_of(number),
                secondary_signers: Vec::new(),
                payload: TransactionPayload::EntryFunction(call),
            }
        }
        _ => program.request(
            number,
            "0x1::node_account::transfer",
            &[],
            args![to, amount],
        ),
    })
}

pub(super) fn managed_coin(program: &mut Program) -> Option<CallRequest> {
    let (number, of, to, amount) = (
        random_account(program),
        random_account(program),
        random_owner_address(program),
        random_amount(&mut program.random),
    );
    let coin = coin_of(of);
    let coin = &[coin.as_str()];
    Some(match program.random.u8(..10) {
        0 => program.request(of, "0x1::managed_coin::mint", coin, args![to, amount]),
        1 => program.request(of, "0x1::managed_coin::burn", coin, args![amount]),
        2 => program.request(number, "0x1::managed_coin::mint", coin, args![to, amount]),
        3 if program.random.u8(..3) == 0 => {
            program.request(of, "0x1::managed_coin::freeze_coin_store", coin, args![to])
        }
        3 | 4 => program.request(
            of,
            "0x1::managed_coin::unfreeze_coin_store",
            coin,
            args![to],
        ),
        5 if program.random.bool() => {
            program.request(number, "0x1::managed_coin::register", coin, args![])
        }
        5 => program.request(number, "0x1::coin::register", coin, args![]),
        6 if program.random.bool() => {
            let migrate = "0x1::coin::migrate_coin_store_to_fungible_store";
            program.request(number, migrate, coin, args![vec![to, account(of)]])
        }
        6 => {
            let migrate = "0x1::coin::migrate_to_fungible_store";
            program.request(number, migrate, coin, args![])
        }
        7 => program.request(
            number,
            "0x1::node_account::batch_transfer_coins",
            coin,
            args![vec![to, account(of)], vec![5u64, amount]],
        ),
        _ => program.request(number, "0x1::coin::transfer", coin, args![to, amount]),
    })
}

/// Returns a call on a coin whose creator sooner or later destroys its capabilities. Existing coins
/// can still be transferred.
pub(super) fn abandoned_coin(program: &mut Program) -> Option<CallRequest> {
    let (of, to, amount) = (
        random_account(program),
        random_owner_address(program),
        random_amount(&mut program.random),
    );
    let coin = abandoned_coin_of(of);
    let coin = &[coin.as_str()];
    Some(match program.random.u8(..4) {
        0 => program.request(of, "0x1::managed_coin::destroy_caps", coin, args![]),
        1 => program.request(of, "0x1::managed_coin::mint", coin, args![to, amount]),
        _ => program.request(
            of,
            "0x1::node_account::transfer_coins",
            coin,
            args![to, amount],
        ),
    })
}

/// Returns the address of the paired metadata of the coin that a development account manages.
pub(super) fn paired(program: &Program, of: usize) -> AccountAddress {
    let coin = coin_of(of).parse().unwrap();
    ledger_framework::modules::coin::paired_metadata_address(&program.chain.chain, &coin)
}

pub(super) fn paired_asset(program: &mut Program) -> Option<CallRequest> {
    let (number, of, to) = (
        random_account(program),
        random_account(program),
        random_owner_address(program),
    );
    let amount = random_amount(&mut program.random);
    let asset = paired(program, of);
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.u8(..3) {
        0 => program.request(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
        1 => program.request(
            number,
            "0x1::node_account::batch_transfer_fungible_assets",
            &[],
            args![asset, vec![to, account(of)], vec![amount, 3]],
        ),
        _ => program.request(
            number,
            "0x1::managed_object::transfer_fungible_assets",
            &[],
            args![object_of(number), asset, to, amount],
        ),
    })
}

pub(super) fn managed_asset(program: &mut Program) -> Option<CallRequest> {
    let (number, of, from, to) = (
        random_account(program),
        random_account(program),
        random_owner_address(program),
        random_owner_address(program),
    );
    let amount = random_amount(&mut program.random);
    let asset = asset_of(of);
    let metadata = "0x1::fungible_asset::Metadata";
    Some(match program.random.u8(..12) {
        0 | 1 => program.request(
            of,
            "0x1::managed_fungible_asset::mint",
            &[],
            args![asset, to, amount],
        ),
        2 => program.request(
            of,
            "0x1::managed_fungible_asset::burn",
            &[],
            args![asset, from, amount],
        ),
        3 => program.request(
            of,
            "0x1::managed_fungible_asset::transfer",
            &[],
            args![asset, from, to, amount],
        ),
        4 => program.request(
            of,
            "0x1::managed_fungible_asset::freeze",
            &[],
            args![asset, to],
        ),
        5 | 6 => program.request(
            of,
            "0x1::managed_fungible_asset::unfreeze",
            &[],
            args![asset, to],
        ),
        7 => program.request(
            number,
            "0x1::managed_object::transfer_fungible_assets",
            &[],
            args![object_of(number), asset, to, amount],
        ),
        8 => program.request(
            number,
            "0x1::primary_fungible_store::transfer_assert_minimum_deposit",
            &[metadata],
            args![asset, to, amount, amount],
        ),
        9 => program.request(
            number,
            "0x1::managed_fungible_asset::mint",
            &[],
            args![asset, to, amount],
        ),
        _ => program.request(
            number,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset, to, amount],
        ),
    })
}

pub(super) fn stores(program: &mut Program) -> Option<CallRequest> {
    let (number, of) = (random_account(program), random_account(program));
    let amount = random_amount(&mut program.random) % 1_000;
    let store_type = "0x1::fungible_asset::FungibleStore";
    if program.stores.is_empty() || program.random.u8(..5) == 0 {
        let create = "0x1::managed_fungible_asset::create_store";
        let asset = match program.random.u8(..4) {
            0 => AccountAddress::NATIVE_ASSET,
            1 => paired(program, of),
            _ => asset_of(of),
        };
        return Some(program.request(number, create, &[], args![asset]));
    }
    // One of the newest two, so that withdrawals are likely to hit a store with a deposit.
    let newest = program.stores.len() - 1;
    let SecondaryStore {
        address: store,
        asset,
    } = program.stores[newest.saturating_sub(program.random.usize(..2))];
    let primary = primary_store(account(number), asset);
    let with_minimum = "0x1::dispatchable_fungible_asset::transfer_assert_minimum_deposit";
    if program.random.u8(..6) == 0 {
        let arguments = args![primary, store, amount, amount];
        return Some(program.request(number, with_minimum, &[store_type], arguments));
    }
    let transfer = if program.random.bool() {
        "0x1::fungible_asset::transfer"
    } else {
        "0x1::dispatchable_fungible_asset::transfer"
    };
    Some(match program.random.u8(..8) {
        0 => program.request(
            number,
            "0x1::managed_fungible_asset::remove_store",
            &[],
            args![store],
        ),
        1 => program.request(
            of,
            "0x1::managed_fungible_asset::freeze_store",
            &[],
            args![store],
        ),
        2 => program.request(
            of,
            "0x1::managed_fungible_asset::unfreeze_store",
            &[],
            args![store],
        ),
        3 | 4 => program.request(
            of,
            "0x1::managed_fungible_asset::burn_from_store",
            &[],
            args![store, amount],
        ),
        5 => program.request(
            number,
            "0x1::object::transfer",
            &[store_type],
            args![store, account(of)],
        ),
        6 => program.request(
            number,
            transfer,
            &[store_type],
            args![store, primary, amount],
        ),
        _ => program.request(
            number,
            transfer,
            &[store_type],
            args![primary, store, amount],
        ),
    })
}
