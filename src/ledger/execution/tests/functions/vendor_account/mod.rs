//! Cases of `0x1::{vendor}_account`.

mod assets;
mod coins;

use crate::functions::{
    Case, Expected, World, args,
    coin::{
        INSUFFICIENT, NATIVE, PAID, RESERVED, UNKNOWN_ADDRESS, account_address, assert_holds,
        assert_writes_only_the_fee, has_account_resource, has_store,
    },
};
use ledger_types::{AccountAddress, ExecutedTransaction};

const MISMATCH: Expected = Expected::Abort(
    "0x1::node_account: EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH(0x10005): a batch needs as many amounts as recipients",
);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = creation();
    cases.extend(transfers());
    cases.extend(batches());
    cases.extend(coins::cases());
    cases.extend(assets::cases());
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
            "creates the store without an account resource",
            Expected::Success(&[]),
            |world| {
                let executed = world.call(
                    0,
                    "0x1::node_account::create_account",
                    &[],
                    args![UNKNOWN_ADDRESS],
                );
                assert!(has_store(world, NATIVE, UNKNOWN_ADDRESS));
                assert!(!has_account_resource(world, UNKNOWN_ADDRESS));
                executed
            },
        ),
        Case::new(
            function,
            "changes nothing if the store exists",
            Expected::Success(&[]),
            |world| {
                pay(world, UNKNOWN_ADDRESS, 1);
                let function = "0x1::node_account::create_account";
                let executed = world.call(0, function, &[], args![UNKNOWN_ADDRESS]);
                assert_writes_only_the_fee(&executed, 0);
                executed
            },
        ),
        Case::new(
            function,
            "reserved address with an account",
            exists,
            |world| {
                let function = "0x1::node_account::create_account";
                world.call(0, function, &[], args![AccountAddress::ONE])
            },
        ),
        Case::new(function, "existing account", exists, |world| {
            let existing = account_address(1);
            world.call(0, "0x1::node_account::create_account", &[], args![existing])
        }),
        Case::new(function, "reserved address", RESERVED, |world| {
            world.call(
                0,
                "0x1::node_account::create_account",
                &[],
                args![AccountAddress::ZERO],
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
        Case::new(function, "between existing accounts", PAID, |world| {
            let (before, to) = (world.balance(1), account_address(1));
            let executed = pay(world, to, 9);
            assert_eq!(world.balance(1), before + 9);
            executed
        }),
        Case::new(
            function,
            "creates the recipient's store without an account resource",
            PAID,
            |world| {
                let executed = pay(world, UNKNOWN_ADDRESS, 9);
                assert_holds(world, NATIVE, UNKNOWN_ADDRESS, 9);
                assert!(!has_account_resource(world, UNKNOWN_ADDRESS));
                executed
            },
        ),
        Case::new(
            function,
            "amount above the balance",
            INSUFFICIENT,
            |world| pay(world, UNKNOWN_ADDRESS, u64::MAX),
        ),
        Case::new(
            function,
            "to an address of the framework",
            RESERVED,
            |world| pay(world, AccountAddress::ONE, 1),
        ),
        Case::new(
            function,
            "to an address of the framework, on a chain that allows it",
            PAID,
            |world| {
                *world = World::with_transfers_to_framework();
                let executed = pay(world, AccountAddress::ONE, 1);
                assert_holds(world, NATIVE, AccountAddress::ONE, 1);
                executed
            },
        ),
        Case::new(
            function,
            "recipient's balance overflows",
            Expected::Status("Execution failed in 0x1::node_account::transfer at code offset 0"),
            |world| {
                let to = account_address(1);
                world.chain.replace_balance(&to, u64::MAX);
                let executed = pay(world, to, 1);
                assert_eq!(world.balance(1), u64::MAX);
                executed
            },
        ),
    ]
}

fn pay_all(
    world: &mut World,
    recipients: &[AccountAddress],
    amounts: &[u64],
) -> ExecutedTransaction {
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
            "duplicate recipient receives both amounts",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
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
                let before = world.balance(1);
                let recipients = [UNKNOWN_ADDRESS, account_address(1), UNKNOWN_ADDRESS];
                let executed = pay_all(world, &recipients, &[3, 4, 5]);
                assert_holds(world, NATIVE, UNKNOWN_ADDRESS, 8);
                assert_eq!(world.balance(1), before + 4);
                executed
            },
        ),
        Case::new(function, "empty batch", Expected::Success(&[]), |world| {
            pay_all(world, &[], &[])
        }),
        Case::new(
            function,
            "failure reverts all transfers",
            INSUFFICIENT,
            |world| {
                let executed = pay_all(world, &[UNKNOWN_ADDRESS, UNKNOWN_ADDRESS], &[3, u64::MAX]);
                assert_holds(world, NATIVE, UNKNOWN_ADDRESS, 0);
                executed
            },
        ),
        Case::new(
            function,
            "fewer amounts than recipients",
            MISMATCH,
            |world| pay_all(world, &[UNKNOWN_ADDRESS], &[]),
        ),
    ]
}
