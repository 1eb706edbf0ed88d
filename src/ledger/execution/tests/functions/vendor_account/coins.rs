//! Cases of transfers of any coin, and of the flag that an account sets to accept them.

use super::MISMATCH;
use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NOT_PUBLISHED, PAID, UNKNOWN_ADDRESS, account_address, assert_holds,
        create_funded_coin, freeze, has_account_resource,
    },
};
use ledger_types::{AccountAddress, ExecutedTransaction};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = coins();
    cases.extend(direct_transfers());
    cases
}

fn pay_coin(world: &mut World, coin: &str, to: AccountAddress, amount: u64) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::transfer_coins",
        &[coin],
        args![to, amount],
    )
}

fn pay_coin_to_all(
    world: &mut World,
    coin: &str,
    recipients: &[AccountAddress],
    amounts: &[u64],
) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::node_account::batch_transfer_coins",
        &[coin],
        args![recipients, amounts],
    )
}

fn coins() -> Vec<Case> {
    let (transfer, batch_transfer) = (
        "0x1::node_account::transfer_coins",
        "0x1::node_account::batch_transfer_coins",
    );
    vec![
        Case::new(
            transfer,
            "creates the recipient's store without an account resource",
            PAID,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let executed = pay_coin(world, &coin, UNKNOWN_ADDRESS, 4);
                assert_holds(world, &coin, UNKNOWN_ADDRESS, 4);
                assert!(!has_account_resource(world, UNKNOWN_ADDRESS));
                executed
            },
        ),
        Case::new(
            transfer,
            "amount above the balance",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                pay_coin(world, &coin, UNKNOWN_ADDRESS, 11)
            },
        ),
        Case::new(transfer, "to a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10, 10]);
            freeze(world, &coin, 1);
            pay_coin(world, &coin, account_address(1), 1)
        }),
        Case::new(
            transfer,
            "recipient's balance overflows",
            Expected::Status(
                "Execution failed in 0x1::node_account::transfer_coins at code offset 0",
            ),
            |world| {
                let coin = create_funded_coin(world, &[1, u64::MAX]);
                pay_coin(world, &coin, account_address(1), 1)
            },
        ),
        Case::new(
            transfer,
            "type that is not a struct",
            NOT_PUBLISHED,
            |world| pay_coin(world, "address", UNKNOWN_ADDRESS, 0),
        ),
        Case::new(
            batch_transfer,
            "sender among the recipients",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
            ]),
            |world| {
                let coin = create_funded_coin(world, &[10]);
                // The sender may be one of the recipients.
                let recipients = [account_address(0), UNKNOWN_ADDRESS];
                let executed = pay_coin_to_all(world, &coin, &recipients, &[10, 10]);
                assert_holds(world, &coin, UNKNOWN_ADDRESS, 10);
                assert_holds(world, &coin, account_address(0), 0);
                executed
            },
        ),
        Case::new(
            batch_transfer,
            "fewer recipients than amounts",
            MISMATCH,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                pay_coin_to_all(world, &coin, &[UNKNOWN_ADDRESS], &[1, 2])
            },
        ),
        Case::new(
            batch_transfer,
            "failure reverts all transfers",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let executed =
                    pay_coin_to_all(world, &coin, &[UNKNOWN_ADDRESS, UNKNOWN_ADDRESS], &[6, 5]);
                assert_holds(world, &coin, UNKNOWN_ADDRESS, 0);
                assert_holds(world, &coin, account_address(0), 10);
                executed
            },
        ),
    ]
}

fn set_allow_direct_transfers(
    world: &mut World,
    number: usize,
    is_allowed: bool,
) -> ExecutedTransaction {
    world.call(
        number,
        "0x1::node_account::set_allow_direct_coin_transfers",
        &[],
        args![is_allowed],
    )
}

fn direct_transfers() -> Vec<Case> {
    let function = "0x1::node_account::set_allow_direct_coin_transfers";
    let updated = Expected::Success(&["0x1::node_account::DirectCoinTransferConfigUpdated"]);
    vec![
        Case::new(function, "first setting emits an event", updated, |world| {
            assert!(accepts_direct_transfers(world));
            let executed = set_allow_direct_transfers(world, 1, true);
            assert!(accepts_direct_transfers(world));
            executed
        }),
        Case::new(function, "change emits an event", updated, |world| {
            set_allow_direct_transfers(world, 1, false);
            assert!(!accepts_direct_transfers(world));
            let executed = set_allow_direct_transfers(world, 1, true);
            assert!(accepts_direct_transfers(world));
            executed
        }),
        Case::new(
            function,
            "unchanged setting emits no event",
            Expected::Success(&[]),
            |world| {
                set_allow_direct_transfers(world, 1, false);
                set_allow_direct_transfers(world, 1, false)
            },
        ),
        Case::new(
            "0x1::node_account::transfer_coins",
            "recipient whose setting rejects direct transfers",
            PAID,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                set_allow_direct_transfers(world, 1, false);
                assert!(!accepts_direct_transfers(world));
                let executed = pay_coin(world, &coin, account_address(1), 1);
                assert_holds(world, &coin, account_address(1), 1);
                executed
            },
        ),
        Case::new(
            "0x1::node_account::batch_transfer_coins",
            "recipient whose setting rejects direct transfers",
            PAID,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                set_allow_direct_transfers(world, 1, false);
                let recipients = [account_address(1)];
                pay_coin_to_all(world, &coin, &recipients, &[1])
            },
        ),
    ]
}

fn accepts_direct_transfers(world: &World) -> bool {
    let function = "0x1::node_account::can_receive_direct_coin_transfers";
    world
        .view(function, &[], args![account_address(1)])
        .remove(0)
        == true
}
