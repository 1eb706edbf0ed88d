//! Cases of `0x1::{vendor}_account`.

use crate::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NATIVE, NOBODY, NOT_PUBLISHED, OVERFLOW, PAID, PAID_FIRST, RESERVED, account,
        assert_holds, asset, freeze, funded, initialise, view,
    },
};
use ledger::{AccountAddress, ExecutedTransaction};
use serde_json::json;

const MISMATCH: Expected = Expected::Abort(
    "0x1::node_account: EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH(0x10005): a batch needs as many amounts as recipients",
);
const NOT_ACCEPTED: Expected = Expected::Abort(
    "0x1::node_account: EACCOUNT_DOES_NOT_ACCEPT_DIRECT_COIN_TRANSFERS(0x50003): the recipient has not registered for this coin and accepts no other coins",
);
/// What a payment of an asset that is no coin's tells, where both stores are there.
const ASSET_PAID: &[&str] = &["0x1::fungible_asset::Withdraw", "0x1::fungible_asset::Deposit"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = creation();
    cases.extend(transfers());
    cases.extend(batches());
    cases.extend(coins());
    cases.extend(assets());
    cases.extend(refused_assets());
    cases.extend(direct_transfers());
    cases
}

fn creation() -> Vec<Case> {
    let function = "0x1::node_account::create_account";
    let exists = Expected::Abort(
        "0x1::account: EACCOUNT_ALREADY_EXISTS(0x80001): there is an account at this address",
    );
    vec![
        Case::new(
            function,
            "makes account and store",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let executed = world.call(0, "0x1::node_account::create_account", &[], args![NOBODY]);
                assert_eq!(view(world, "is_account_registered", NATIVE, args![NOBODY]), true);
                executed
            },
        ),
        Case::new(function, "where there is one", exists, |world| {
            let at = account(1);
            world.call(0, "0x1::node_account::create_account", &[], args![at])
        }),
        Case::new(function, "at an address of the framework", RESERVED, |world| {
            world.call(
                0,
                "0x1::node_account::create_account",
                &[],
                args![AccountAddress::ONE],
            )
        }),
    ]
}

fn pay(world: &mut World, to: AccountAddress, amount: u64) -> ExecutedTransaction {
    world.call(0, "0x1::node_account::transfer", &[], args![to, amount])
}

fn transfers() -> Vec<Case> {
    let function = "0x1::node_account::transfer";
    vec![
        Case::new(function, "between two accounts", PAID, |world| {
            let (before, to) = (world.balance(1), account(1));
            let executed = pay(world, to, 9);
            assert_eq!(world.balance(1), before + 9);
            executed
        }),
        Case::new(function, "makes the recipient", PAID_FIRST, |world| {
            let executed = pay(world, NOBODY, 9);
            assert_holds(world, NATIVE, NOBODY, 9);
            executed
        }),
        Case::new(function, "more than there is", INSUFFICIENT, |world| {
            pay(world, NOBODY, u64::MAX)
        }),
        Case::new(function, "to an address of the framework", RESERVED, |world| {
            pay(world, AccountAddress::ZERO, 1)
        }),
    ]
}

fn pay_all(world: &mut World, recipients: Vec<AccountAddress>, amounts: Vec<u64>) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::batch_transfer",
        &[],
        args![recipients, amounts],
    )
}

fn batches() -> Vec<Case> {
    let function = "0x1::node_account::batch_transfer";
    vec![
        Case::new(
            function,
            "each recipient gets its amount, one that stands twice both",
            Expected::Success(&[
                "0x1::coin::WithdrawEvent",
                "0x1::account::CoinRegisterEvent",
                "0x1::coin::DepositEvent",
                "0x1::coin::WithdrawEvent",
                "0x1::coin::DepositEvent",
                "0x1::coin::WithdrawEvent",
                "0x1::coin::DepositEvent",
            ]),
            |world| {
                let before = world.balance(1);
                let recipients = vec![NOBODY, account(1), NOBODY];
                let executed = pay_all(world, recipients, vec![3, 4, 5]);
                assert_holds(world, NATIVE, NOBODY, 8);
                assert_eq!(world.balance(1), before + 4);
                executed
            },
        ),
        Case::new(function, "of none", Expected::Success(&[]), |world| {
            pay_all(world, vec![], vec![])
        }),
        Case::new(function, "is all or nothing", INSUFFICIENT, |world| {
            let executed = pay_all(world, vec![NOBODY, NOBODY], vec![3, u64::MAX]);
            assert_holds(world, NATIVE, NOBODY, 0);
            executed
        }),
        Case::new(function, "fewer amounts than recipients", MISMATCH, |world| {
            pay_all(world, vec![NOBODY], vec![])
        }),
        Case::new(function, "with a recipient in the framework", RESERVED, |world| {
            pay_all(world, vec![NOBODY, AccountAddress::ONE], vec![1, 1])
        }),
    ]
}

fn pay_coin(world: &mut World, coin: &str, to: AccountAddress, amount: u64) -> ExecutedTransaction {
    world.call(0, "0x1::node_account::transfer_coins", &[coin], args![to, amount])
}

fn pay_coin_to_all(
    world: &mut World,
    coin: &str,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::batch_transfer_coins",
        &[coin],
        args![recipients, amounts],
    )
}

fn coins() -> Vec<Case> {
    let (one, all) = (
        "0x1::node_account::transfer_coins",
        "0x1::node_account::batch_transfer_coins",
    );
    vec![
        Case::new(one, "makes the recipient", PAID_FIRST, |world| {
            let coin = funded(world, &[10]);
            let executed = pay_coin(world, &coin, NOBODY, 4);
            assert_holds(world, &coin, NOBODY, 4);
            executed
        }),
        Case::new(one, "more than there is", INSUFFICIENT, |world| {
            let coin = funded(world, &[10]);
            pay_coin(world, &coin, NOBODY, 11)
        }),
        Case::new(one, "to a frozen store", FROZEN, |world| {
            let coin = funded(world, &[10, 10]);
            freeze(world, &coin, 1);
            pay_coin(world, &coin, account(1), 1)
        }),
        Case::new(
            one,
            "more than the recipient's store can hold",
            OVERFLOW,
            |world| {
                let coin = funded(world, &[1, u64::MAX]);
                pay_coin(world, &coin, account(1), 1)
            },
        ),
        Case::new(one, "of a type that is no coin", NOT_PUBLISHED, |world| {
            pay_coin(world, "address", NOBODY, 0)
        }),
        Case::new(
            all,
            "each recipient gets its amount",
            Expected::Success(&[
                "0x1::coin::WithdrawEvent",
                "0x1::coin::DepositEvent",
                "0x1::coin::WithdrawEvent",
                "0x1::account::CoinRegisterEvent",
                "0x1::coin::DepositEvent",
            ]),
            |world| {
                let coin = funded(world, &[10]);
                // The sender may be among the recipients.
                let recipients = vec![account(0), NOBODY];
                let executed = pay_coin_to_all(world, &coin, recipients, vec![10, 10]);
                assert_holds(world, &coin, NOBODY, 10);
                assert_holds(world, &coin, account(0), 0);
                executed
            },
        ),
        Case::new(all, "fewer recipients than amounts", MISMATCH, |world| {
            let coin = funded(world, &[10]);
            pay_coin_to_all(world, &coin, vec![NOBODY], vec![1, 2])
        }),
        Case::new(all, "is all or nothing", INSUFFICIENT, |world| {
            let coin = funded(world, &[10]);
            let executed = pay_coin_to_all(world, &coin, vec![NOBODY, NOBODY], vec![6, 5]);
            assert_holds(world, &coin, NOBODY, 0);
            assert_holds(world, &coin, account(0), 10);
            executed
        }),
    ]
}

/// An asset that is no coin's, of which account 0 holds 10.
fn plain_asset(world: &mut World) -> AccountAddress {
    let (name, symbol) = ("Gold".to_owned(), "GLD".to_owned());
    world.must(
        0,
        "0x1::managed_fungible_asset::create",
        &[],
        args![name, symbol, 8u8, String::new(), String::new(), None::<u128>],
    );
    let at = world.view(
        "0x1::managed_fungible_asset::asset_address",
        &[],
        args![account(0), symbol],
    );
    let at: AccountAddress = at[0].as_str().unwrap().parse().unwrap();
    let to = account(0);
    world.must(0, "0x1::managed_fungible_asset::mint", &[], args![at, to, 10u64]);
    at
}

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
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::batch_transfer_fungible_assets",
        &[],
        args![metadata, recipients, amounts],
    )
}

fn held(world: &World, metadata: AccountAddress, owner: AccountAddress) -> serde_json::Value {
    world
        .view(
            "0x1::primary_fungible_store::balance",
            &["0x1::fungible_asset::Metadata"],
            args![owner, metadata],
        )
        .remove(0)
}

fn assets() -> Vec<Case> {
    let (one, all) = (
        "0x1::node_account::transfer_fungible_assets",
        "0x1::node_account::batch_transfer_fungible_assets",
    );
    vec![
        Case::new(
            one,
            "of an asset that is no coin's",
            Expected::Success(ASSET_PAID),
            |world| {
                let metadata = plain_asset(world);
                let executed = pay_asset(world, metadata, NOBODY, 4);
                assert_eq!(held(world, metadata, NOBODY), json!("4"));
                assert_eq!(held(world, metadata, account(0)), json!("6"));
                executed
            },
        ),
        Case::new(
            one,
            "of a coin's paired asset moves the coin",
            PAID_FIRST,
            |world| {
                let coin = funded(world, &[10]);
                let metadata = asset(world, &coin);
                let executed = pay_asset(world, metadata, NOBODY, 4);
                assert_holds(world, &coin, NOBODY, 4);
                executed
            },
        ),
        Case::new(one, "of 0xa moves the chain's coin", PAID, |world| {
            let (before, to) = (world.balance(1), account(1));
            let executed = pay_asset(world, AccountAddress::NATIVE_ASSET, to, 4);
            assert_eq!(world.balance(1), before + 4);
            executed
        }),
        Case::new(
            all,
            "of an asset that is no coin's",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
            ]),
            |world| {
                let metadata = plain_asset(world);
                let recipients = vec![NOBODY, account(1)];
                let executed = pay_asset_to_all(world, metadata, recipients, vec![3, 7]);
                assert_eq!(held(world, metadata, NOBODY), json!("3"));
                assert_eq!(held(world, metadata, account(1)), json!("7"));
                executed
            },
        ),
        Case::new(all, "of a coin's paired asset", PAID_FIRST, |world| {
            let coin = funded(world, &[10]);
            let metadata = asset(world, &coin);
            pay_asset_to_all(world, metadata, vec![NOBODY], vec![10])
        }),
    ]
}

fn refused_assets() -> Vec<Case> {
    let (one, all) = (
        "0x1::node_account::transfer_fungible_assets",
        "0x1::node_account::batch_transfer_fungible_assets",
    );
    let no_object =
        Expected::Abort("0x1::object: EOBJECT_DOES_NOT_EXIST(0x60002): there is no object at this address");
    vec![
        Case::new(one, "where there is no asset", no_object, |world| {
            pay_asset(world, NOBODY, NOBODY, 1)
        }),
        Case::new(one, "more of a coin than there is", INSUFFICIENT, |world| {
            let coin = funded(world, &[10]);
            let metadata = asset(world, &coin);
            pay_asset(world, metadata, NOBODY, 11)
        }),
        Case::new(one, "of a coin from a frozen store", FROZEN, |world| {
            let coin = funded(world, &[10]);
            freeze(world, &coin, 0);
            let metadata = asset(world, &coin);
            pay_asset(world, metadata, NOBODY, 1)
        }),
        Case::new(all, "fewer amounts than recipients", MISMATCH, |world| {
            pay_asset_to_all(world, AccountAddress::NATIVE_ASSET, vec![NOBODY], vec![])
        }),
        Case::new(all, "is all or nothing", INSUFFICIENT, |world| {
            let coin = funded(world, &[10]);
            let metadata = asset(world, &coin);
            let executed = pay_asset_to_all(world, metadata, vec![NOBODY, NOBODY], vec![10, 1]);
            assert_holds(world, &coin, NOBODY, 0);
            executed
        }),
    ]
}

fn allow(world: &mut World, number: usize, allow: bool) -> ExecutedTransaction {
    world.call(
        number,
        "0x1::node_account::set_allow_direct_coin_transfers",
        &[],
        args![allow],
    )
}

fn direct_transfers() -> Vec<Case> {
    let function = "0x1::node_account::set_allow_direct_coin_transfers";
    let told = Expected::Success(&["0x1::node_account::DirectCoinTransferConfigUpdated"]);
    vec![
        Case::new(function, "the first word is told", told, |world| {
            assert!(accepts_all(world));
            let executed = allow(world, 1, true);
            assert!(accepts_all(world));
            executed
        }),
        Case::new(function, "a change is told", told, |world| {
            allow(world, 1, false);
            assert!(!accepts_all(world));
            let executed = allow(world, 1, true);
            assert!(accepts_all(world));
            executed
        }),
        Case::new(
            function,
            "what changes nothing is not told",
            Expected::Success(&[]),
            |world| {
                allow(world, 1, false);
                allow(world, 1, false)
            },
        ),
        Case::new(
            "0x1::node_account::transfer_coins",
            "to who accepts no other coins",
            NOT_ACCEPTED,
            |world| {
                let coin = funded(world, &[10]);
                allow(world, 1, false);
                pay_coin(world, &coin, account(1), 1)
            },
        ),
        Case::new(
            "0x1::node_account::batch_transfer_coins",
            "to who accepts no other coins",
            NOT_ACCEPTED,
            |world| {
                let coin = funded(world, &[10]);
                allow(world, 1, false);
                let recipients = vec![account(1)];
                pay_coin_to_all(world, &coin, recipients, vec![1])
            },
        ),
        Case::new(
            "0x1::node_account::transfer_coins",
            "to who accepts no other coins but registered for this one",
            PAID,
            |world| {
                let coin = initialise(world, false);
                allow(world, 1, false);
                world.must(1, "0x1::coin::register", &[&coin], vec![]);
                crate::coin::mint(world, &coin, account(0), 10);
                pay_coin(world, &coin, account(1), 1)
            },
        ),
    ]
}

fn accepts_all(world: &World) -> bool {
    let asked = "0x1::node_account::can_receive_direct_coin_transfers";
    world.view(asked, &[], args![account(1)]).remove(0) == true
}
