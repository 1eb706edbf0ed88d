//! Cases of `0x1::exchange`: payments in both directions between two accounts, in one transaction
//! that both sign.

use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NATIVE as COIN, NOT_PUBLISHED, assert_holds, create_funded_coin,
        freeze,
    },
};
use ledger_framework::modules::object::named_address;
use ledger_types::{AccountAddress, ExecutedTransaction};

const COINS: &str = "0x1::exchange::exchange_coins";
const ASSETS: &str = "0x1::exchange::exchange_assets";
const METADATA: &str = "0x1::fungible_asset::Metadata";
const EZERO_AMOUNT: Expected = Expected::Abort(
    "0x1::exchange: EZERO_AMOUNT(0x10001): both sides of an exchange give at least one unit",
);
const NUMBER_OF_SIGNERS: Expected = Expected::Status("NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH");

/// Creates an asset of account 0 and mints 50 units to account 0.
fn create_asset(world: &mut World) -> AccountAddress {
    let create = "0x1::managed_fungible_asset::create";
    world.call_ok(0, create, &[], args!["A", "A", 6u8, "", "", None::<u128>]);
    let asset = named_address(world.address(0), b"A");
    let mint = "0x1::managed_fungible_asset::mint";
    world.call_ok(0, mint, &[], args![asset, world.address(0), 50u64]);
    asset
}

fn balance(world: &World, account: usize, asset: AccountAddress) -> u64 {
    let function = "0x1::primary_fungible_store::balance";
    let values = world.view(function, &[METADATA], args![world.address(account), asset]);
    values[0].as_str().unwrap().parse().unwrap()
}

/// Exchanges coins of account 0 for the chain's coin of account 1.
fn exchange_coins(world: &mut World, coin: &str, amounts: [u64; 2]) -> ExecutedTransaction {
    world.call_with_signers(&[0, 1], COINS, &[coin, COIN], args![amounts[0], amounts[1]])
}

/// Exchanges an asset of account 0 for the chain's coin of account 1, by its paired asset.
fn exchange_assets(
    world: &mut World,
    asset: AccountAddress,
    amounts: [u64; 2],
) -> ExecutedTransaction {
    let native = AccountAddress::NATIVE_ASSET;
    let arguments = args![asset, amounts[0], native, amounts[1]];
    world.call_with_signers(&[0, 1], ASSETS, &[METADATA, METADATA], arguments)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = coins();
    cases.extend(assets());
    cases.extend(signers());
    cases
}

fn coins() -> Vec<Case> {
    vec![
        Case::new(
            COINS,
            "transfers both amounts",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
                "0x1::exchange::CoinsExchanged",
            ]),
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let (before, other) = (world.balance(0), world.balance(1));
                let executed = exchange_coins(world, &coin, [4, 700]);
                assert_holds(world, &coin, world.address(0), 6);
                assert_holds(world, &coin, world.address(1), 4);
                assert_eq!(world.balance(1), other - 700);
                let net_fee = world.net_fee(&executed);
                assert_eq!(
                    i128::from(world.balance(0)),
                    i128::from(before) + 700 - net_fee
                );
                executed
            },
        ),
        Case::new(
            COINS,
            "zero amount of the first signer",
            EZERO_AMOUNT,
            |world| exchange_coins(world, COIN, [0, 1]),
        ),
        Case::new(
            COINS,
            "zero amount of the second signer",
            EZERO_AMOUNT,
            |world| exchange_coins(world, COIN, [1, 0]),
        ),
        Case::new(COINS, "uninitialized coin type", NOT_PUBLISHED, |world| {
            exchange_coins(world, "0xabc::moon::Coin", [1, 1])
        }),
        Case::new(
            COINS,
            "amount above the second signer's balance",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let executed = exchange_coins(world, &coin, [4, u64::MAX]);
                assert_holds(world, &coin, world.address(0), 10);
                executed
            },
        ),
        Case::new(COINS, "first signer's store is frozen", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10]);
            freeze(world, &coin, 0);
            exchange_coins(world, &coin, [1, 1])
        }),
    ]
}

fn assets() -> Vec<Case> {
    vec![
        Case::new(
            ASSETS,
            "asset for the native coin",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
                "0x1::exchange::AssetsExchanged",
            ]),
            |world| {
                let asset = create_asset(world);
                let before = world.balance(1);
                let executed = exchange_assets(world, asset, [20, 700]);
                assert_eq!(
                    (balance(world, 0, asset), balance(world, 1, asset)),
                    (30, 20)
                );
                assert_eq!(world.balance(1), before - 700);
                executed
            },
        ),
        Case::new(
            ASSETS,
            "zero amount of the first signer",
            EZERO_AMOUNT,
            |world| {
                let asset = create_asset(world);
                exchange_assets(world, asset, [0, 1])
            },
        ),
        Case::new(
            ASSETS,
            "amount above the second signer's balance",
            INSUFFICIENT,
            |world| {
                let asset = create_asset(world);
                let executed = exchange_assets(world, asset, [20, u64::MAX]);
                assert_eq!(
                    (balance(world, 0, asset), balance(world, 1, asset)),
                    (50, 0)
                );
                executed
            },
        ),
    ]
}

fn signers() -> Vec<Case> {
    vec![
        Case::new(COINS, "one signer", NUMBER_OF_SIGNERS, |world| {
            world.call(0, COINS, &[COIN, COIN], args![1u64, 1u64])
        }),
        Case::new(COINS, "three signers", NUMBER_OF_SIGNERS, |world| {
            world.call_with_signers(&[0, 1, 2], COINS, &[COIN, COIN], args![1u64, 1u64])
        }),
        Case::new(
            "0x1::coin::transfer",
            "two signers",
            NUMBER_OF_SIGNERS,
            |world| {
                let to = world.address(2);
                world.call_with_signers(&[0, 1], "0x1::coin::transfer", &[COIN], args![to, 1u64])
            },
        ),
        Case::new(
            COINS,
            "one signer and too few arguments",
            NUMBER_OF_SIGNERS,
            |world| world.call(0, COINS, &[COIN, COIN], args![1u64]),
        ),
    ]
}
