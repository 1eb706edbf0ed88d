//! Cases of transfers of fungible assets.

use super::MISMATCH;
use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, PAID, RESERVED, UNKNOWN_ADDRESS, account_address, assert_holds,
        balance_of, create_funded_coin, create_unpaired_asset, freeze, paired_asset,
    },
};
use ledger_framework::AssetType;
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = assets();
    cases.extend(rejected_assets());
    cases
}

/// Events of a payment, between existing stores, of an asset that is not paired with a coin.
const ASSET_PAID: &[&str] = &[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::Deposit",
];

fn pay_asset(
    world: &mut World,
    metadata: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::transfer_fungible_assets",
        &[],
        args![metadata, to, amount],
    )
}

fn pay_asset_to_all(
    world: &mut World,
    metadata: AccountAddress,
    recipients: &[AccountAddress],
    amounts: &[u64],
) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::batch_transfer_fungible_assets",
        &[],
        args![metadata, recipients, amounts],
    )
}

fn asset_balance(world: &World, metadata: AccountAddress, owner: AccountAddress) -> u64 {
    let values = world.view(
        "0x1::primary_fungible_store::balance",
        &["0x1::fungible_asset::Metadata"],
        args![owner, metadata],
    );
    let balance = balance_of(world, owner, &AssetType::FungibleAsset(metadata));
    assert_eq!(values, [json!(balance.to_string())]);
    balance
}

fn assets() -> Vec<Case> {
    let (transfer, batch_transfer) = (
        "0x1::node_account::transfer_fungible_assets",
        "0x1::node_account::batch_transfer_fungible_assets",
    );
    vec![
        Case::new(
            transfer,
            "asset without a paired coin",
            Expected::Success(ASSET_PAID),
            |world| {
                let metadata = create_unpaired_asset(world);
                let executed = pay_asset(world, metadata, UNKNOWN_ADDRESS, 4);
                assert_eq!(asset_balance(world, metadata, UNKNOWN_ADDRESS), 4);
                assert_eq!(asset_balance(world, metadata, account_address(0)), 6);
                executed
            },
        ),
        Case::new(transfer, "paired asset transfers the coin", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let metadata = paired_asset(world, &coin);
            let executed = pay_asset(world, metadata, UNKNOWN_ADDRESS, 4);
            assert_holds(world, &coin, UNKNOWN_ADDRESS, 4);
            executed
        }),
        Case::new(
            transfer,
            "asset 0xa transfers the native coin",
            PAID,
            |world| {
                let (before, to) = (world.balance(1), account_address(1));
                let executed = pay_asset(world, AccountAddress::NATIVE_ASSET, to, 4);
                assert_eq!(world.balance(1), before + 4);
                executed
            },
        ),
        Case::new(
            transfer,
            "to an address of the framework",
            RESERVED,
            |world| pay_asset(world, AccountAddress::NATIVE_ASSET, AccountAddress::ONE, 4),
        ),
        Case::new(
            batch_transfer,
            "asset without a paired coin",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
            ]),
            |world| {
                let metadata = create_unpaired_asset(world);
                let recipients = [UNKNOWN_ADDRESS, account_address(1)];
                let executed = pay_asset_to_all(world, metadata, &recipients, &[3, 7]);
                assert_eq!(asset_balance(world, metadata, UNKNOWN_ADDRESS), 3);
                assert_eq!(asset_balance(world, metadata, account_address(1)), 7);
                executed
            },
        ),
        Case::new(batch_transfer, "paired asset of a coin", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let metadata = paired_asset(world, &coin);
            pay_asset_to_all(world, metadata, &[UNKNOWN_ADDRESS], &[10])
        }),
    ]
}

fn rejected_assets() -> Vec<Case> {
    let (transfer, batch_transfer) = (
        "0x1::node_account::transfer_fungible_assets",
        "0x1::node_account::batch_transfer_fungible_assets",
    );
    let no_object = Expected::Abort(
        "0x1::object: EOBJECT_DOES_NOT_EXIST(0x60002): there is no object at this address",
    );
    vec![
        Case::new(transfer, "address without an asset", no_object, |world| {
            pay_asset(world, UNKNOWN_ADDRESS, UNKNOWN_ADDRESS, 1)
        }),
        Case::new(
            transfer,
            "coin amount above the balance",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let metadata = paired_asset(world, &coin);
                pay_asset(world, metadata, UNKNOWN_ADDRESS, 11)
            },
        ),
        Case::new(transfer, "coin from a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10]);
            freeze(world, &coin, 0);
            let metadata = paired_asset(world, &coin);
            pay_asset(world, metadata, UNKNOWN_ADDRESS, 1)
        }),
        Case::new(
            batch_transfer,
            "fewer amounts than recipients",
            MISMATCH,
            |world| pay_asset_to_all(world, AccountAddress::NATIVE_ASSET, &[UNKNOWN_ADDRESS], &[]),
        ),
        Case::new(
            batch_transfer,
            "failure reverts all transfers",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let metadata = paired_asset(world, &coin);
                let executed = pay_asset_to_all(
                    world,
                    metadata,
                    &[UNKNOWN_ADDRESS, UNKNOWN_ADDRESS],
                    &[10, 1],
                );
                assert_holds(world, &coin, UNKNOWN_ADDRESS, 0);
                executed
            },
        ),
    ]
}
