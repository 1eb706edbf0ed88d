//! Cases of `0x1::managed_coin`, and of the supply that it changes.

mod initialize;
mod supply;

use crate::functions::{
    Case, Expected, World, args,
    coin::{account_address, create_funded_coin, freeze, initialize_coin, paired_asset, view},
};
use ledger_types::ExecutedTransaction;
use serde_json::json;

const NO_CAPABILITIES: Expected = Expected::Abort(
    "0x1::managed_coin: ENO_CAPABILITIES(0x60001): the account does not hold the capabilities of this coin",
);

/// Events of a change of the frozen flag of a store.
const FROZEN_EVENT: Expected = Expected::Success(&["0x1::fungible_asset::Frozen"]);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = initialize::cases();
    cases.extend(supply::cases());
    cases.extend(freezing());
    cases.extend(destructions());
    cases
}

fn call_on_coin_store(
    world: &mut World,
    signer: usize,
    verb: &str,
    coin: &str,
    owner: usize,
) -> ExecutedTransaction {
    let owner = account_address(owner);
    world.call(
        signer,
        &format!("0x1::managed_coin::{verb}_coin_store"),
        &[coin],
        args![owner],
    )
}

fn freezing() -> Vec<Case> {
    let (freeze_function, unfreeze_function) = (
        "0x1::managed_coin::freeze_coin_store",
        "0x1::managed_coin::unfreeze_coin_store",
    );
    vec![
        Case::new(
            freeze_function,
            "freezes the store of the coin and of its paired asset",
            FROZEN_EVENT,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                let executed = call_on_coin_store(world, 0, "freeze", &coin, 1);
                let owner = account_address(1);
                assert_eq!(
                    view(world, "is_coin_store_frozen", &coin, args![owner]),
                    true
                );
                let by_asset = world.view(
                    "0x1::primary_fungible_store::is_frozen",
                    &["0x1::fungible_asset::Metadata"],
                    args![owner, paired_asset(world, &coin)],
                );
                assert_eq!(by_asset, [json!(true)]);
                let store = world.view(
                    "0x1::primary_fungible_store::primary_store_address",
                    &["0x1::fungible_asset::Metadata"],
                    args![owner, paired_asset(world, &coin)],
                );
                let event = &executed.events[0];
                let event = world
                    .chain()
                    .registry()
                    .value_to_json(event.type_tag(), event.data());
                assert_eq!(event.unwrap(), json!({"store": store[0], "frozen": true}));
                executed
            },
        ),
        Case::new(
            freeze_function,
            "by an account without the capabilities",
            NO_CAPABILITIES,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                call_on_coin_store(world, 1, "freeze", &coin, 0)
            },
        ),
        Case::new(
            freeze_function,
            "account without a store",
            Expected::Status(
                "Execution failed in 0x1::managed_coin::freeze_coin_store at code offset 0",
            ),
            |world| {
                let coin = initialize_coin(world, true);
                call_on_coin_store(world, 0, "freeze", &coin, 1)
            },
        ),
        Case::new(
            unfreeze_function,
            "unfreezes the store",
            FROZEN_EVENT,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                freeze(world, &coin, 1);
                let executed = call_on_coin_store(world, 0, "unfreeze", &coin, 1);
                assert_eq!(
                    view(
                        world,
                        "is_coin_store_frozen",
                        &coin,
                        args![account_address(1)]
                    ),
                    false
                );
                executed
            },
        ),
        Case::new(
            unfreeze_function,
            "by the owner of the store",
            NO_CAPABILITIES,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                freeze(world, &coin, 1);
                call_on_coin_store(world, 1, "unfreeze", &coin, 1)
            },
        ),
        Case::new(
            unfreeze_function,
            "account without a store",
            Expected::Status(
                "Execution failed in 0x1::managed_coin::unfreeze_coin_store at code offset 0",
            ),
            |world| {
                let coin = initialize_coin(world, true);
                call_on_coin_store(world, 0, "unfreeze", &coin, 1)
            },
        ),
    ]
}

fn destructions() -> Vec<Case> {
    let function = "0x1::managed_coin::destroy_caps";
    vec![
        Case::new(
            function,
            "destroys the capabilities",
            Expected::Success(&[]),
            |world| {
                let coin = create_funded_coin(world, &[10]);
                world.call(0, "0x1::managed_coin::destroy_caps", &[&coin], vec![])
            },
        ),
        Case::new(
            function,
            "by an account without the capabilities",
            NO_CAPABILITIES,
            |world| {
                let coin = initialize_coin(world, true);
                world.call(1, "0x1::managed_coin::destroy_caps", &[&coin], vec![])
            },
        ),
        Case::new(
            "0x1::managed_coin::register",
            "creates the store",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let coin = initialize_coin(world, true);
                let executed = world.call(1, "0x1::managed_coin::register", &[&coin], vec![]);
                let owner = account_address(1);
                assert_eq!(
                    view(world, "is_account_registered", &coin, args![owner]),
                    true
                );
                executed
            },
        ),
    ]
}

/// Creates a coin, mints 10 units to account 0, and destroys the capabilities of the coin.
fn create_coin_without_capabilities(world: &mut World) -> String {
    let coin = create_funded_coin(world, &[10]);
    world.call_ok(0, "0x1::managed_coin::destroy_caps", &[&coin], vec![]);
    coin
}
