//! Cases of `0x1::managed_coin`, and of the supply that it changes.

mod initialize;
mod supply;

use crate::functions::{
    Case, Expected, World, args,
    coin::{
        NOT_PUBLISHED, account_address, assert_writes_only_the_fee, create_funded_coin, event_data,
        freeze, has_store, initialize_coin, is_frozen, moon_type, paired_asset,
    },
    fungible_asset::primary_store,
};
use ledger_types::ExecutedTransaction;
use serde_json::json;

const NO_CAPABILITIES: Expected = Expected::Abort(
    "0x1::managed_coin: ENO_CAPABILITIES(0x60001): the account does not hold the capabilities of this coin",
);

/// Events of a change of the frozen flag of a store.
const FROZEN_EVENT: Expected = Expected::Success(&[
    "0x1::fungible_asset::Frozen",
    "0x1::fungible_asset::FrozenEvent",
]);
/// Events of a change of the frozen flag by the first operation on a coin.
const FROZEN_FIRST: Expected = Expected::Success(&[
    "0x1::fungible_asset::Creation",
    "0x1::coin::PairCreation",
    "0x1::fungible_asset::Frozen",
    "0x1::fungible_asset::FrozenEvent",
]);

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
            "freezes the primary store of the paired asset",
            FROZEN_EVENT,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                let executed = call_on_coin_store(world, 0, "freeze", &coin, 1);
                let owner = account_address(1);
                assert!(is_frozen(world, &coin, owner));
                assert!(!is_frozen(world, &coin, account_address(0)));
                let store = primary_store(world, owner, paired_asset(world, &coin));
                assert_eq!(
                    event_data(world, &executed),
                    [
                        json!({"store": store.to_string(), "frozen": true}),
                        json!({"frozen": true}),
                    ]
                );
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
            "account without a store receives a frozen one",
            FROZEN_FIRST,
            |world| {
                let coin = initialize_coin(world, true);
                let executed = call_on_coin_store(world, 0, "freeze", &coin, 1);
                assert!(is_frozen(world, &coin, account_address(1)));
                executed
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
                assert!(!is_frozen(world, &coin, account_address(1)));
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
            "account without a store receives one",
            FROZEN_FIRST,
            |world| {
                let coin = initialize_coin(world, true);
                let executed = call_on_coin_store(world, 0, "unfreeze", &coin, 1);
                assert!(has_store(world, &coin, account_address(1)));
                assert!(!is_frozen(world, &coin, account_address(1)));
                executed
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
            "changes nothing, because every account can receive the coin",
            Expected::Success(&[]),
            |world| {
                let coin = initialize_coin(world, true);
                let executed = world.call(1, "0x1::managed_coin::register", &[&coin], vec![]);
                assert_writes_only_the_fee(&executed, 1);
                executed
            },
        ),
        Case::new(
            "0x1::managed_coin::register",
            "uninitialized coin type",
            NOT_PUBLISHED,
            |world| world.call(1, "0x1::managed_coin::register", &[&moon_type()], vec![]),
        ),
    ]
}

/// Creates a coin, mints 10 units to account 0, and destroys the capabilities of the coin.
fn create_coin_without_capabilities(world: &mut World) -> String {
    let coin = create_funded_coin(world, &[10]);
    world.call_ok(0, "0x1::managed_coin::destroy_caps", &[&coin], vec![]);
    coin
}
