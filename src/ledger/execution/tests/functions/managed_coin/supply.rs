//! Cases of minting and burning.

use super::{NO_CAPABILITIES, create_coin_without_capabilities};
use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NATIVE, PAIRED, RESERVED, UNKNOWN_ADDRESS, account_address,
        assert_holds, create_funded_coin, freeze, has_store, initialize_coin, mint, moon_type,
        paired_asset, view,
    },
};
use ledger_framework::modules::fungible_asset::ConcurrentSupply;
use ledger_types::{
    AccountAddress, ExecutedTransaction,
    state::{GroupMembers, group_members},
};
use serde_json::json;

/// Events of minting.
const MINTED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Deposit",
    "0x1::fungible_asset::DepositEvent",
]);
/// Events of the first minting of a coin, which creates its paired asset.
const MINTED_FIRST: Expected = Expected::Success(&[
    "0x1::fungible_asset::Creation",
    "0x1::coin::PairCreation",
    "0x1::fungible_asset::Deposit",
    "0x1::fungible_asset::DepositEvent",
]);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = minting();
    cases.extend(rejected_minting());
    cases.extend(burning());
    cases
}

fn mint_by(
    world: &mut World,
    signer: usize,
    coin: &str,
    to: usize,
    amount: u64,
) -> ExecutedTransaction {
    let to = account_address(to);
    world.call(
        signer,
        "0x1::managed_coin::mint",
        &[coin],
        args![to, amount],
    )
}

fn minting() -> Vec<Case> {
    let function = "0x1::managed_coin::mint";
    vec![
        Case::new(function, "increases the supply", MINTED, |world| {
            let coin = initialize_coin(world, true);
            mint(world, &coin, account_address(0), u64::MAX);
            let executed = mint_by(world, 0, &coin, 1, u64::MAX);
            assert_holds(world, &coin, account_address(1), u64::MAX);
            let twice = (2 * u128::from(u64::MAX)).to_string();
            assert_eq!(
                view(world, "supply", &coin, vec![]),
                json!({"vec": [twice]})
            );
            executed
        }),
        Case::new(
            function,
            "coin whose supply is not tracked",
            MINTED_FIRST,
            |world| {
                let coin = initialize_coin(world, false);
                let executed = mint_by(world, 0, &coin, 1, 5);
                assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": []}));
                executed
            },
        ),
        Case::new(function, "generic type", MINTED_FIRST, |world| {
            let coin = format!("{}::pool::Share<{NATIVE}, vector<u8>>", account_address(0));
            let arguments = args![b"Share".to_vec(), b"SHR".to_vec(), 8u8, true];
            world.call_ok(0, "0x1::managed_coin::initialize", &[&coin], arguments);
            let executed = world.call(
                0,
                "0x1::managed_coin::mint",
                &[&coin],
                args![UNKNOWN_ADDRESS, 5u64],
            );
            assert_holds(world, &coin, UNKNOWN_ADDRESS, 5);
            executed
        }),
        Case::new(
            function,
            "zero amount creates the paired asset and the recipient's store",
            PAIRED,
            |world| {
                let coin = initialize_coin(world, true);
                let executed = mint_by(world, 0, &coin, 1, 0);
                assert!(has_store(world, &coin, account_address(1)));
                executed
            },
        ),
        Case::new(
            function,
            "to an address of the framework",
            RESERVED,
            |world| {
                let (coin, to) = (initialize_coin(world, true), AccountAddress::ONE);
                world.call(0, "0x1::managed_coin::mint", &[&coin], args![to, 1u64])
            },
        ),
    ]
}

/// Sets the supply of the paired asset of a coin to a value that calls could not reach in a
/// lifetime.
fn set_supply(world: &mut World, coin: &str, supply: u128) {
    let asset = paired_asset(world, coin);
    let registry = world.chain().registry();
    let (key, tag) = (
        registry.group_key(&asset),
        registry.tag_of::<ConcurrentSupply>(&[]),
    );
    let mut members: GroupMembers = group_members(&world.chain.state[&key]).unwrap();
    let mut resource: ConcurrentSupply = bcs::from_bytes(&members[&tag]).unwrap();
    resource.current.value = supply;
    members.insert(tag, bcs::to_bytes(&resource).unwrap().into());
    let group = bcs::to_bytes(&members).unwrap();
    world.chain.state.insert(key, group.into());
}

fn rejected_minting() -> Vec<Case> {
    let function = "0x1::managed_coin::mint";
    let supply = Expected::Abort(
        "0x1::fungible_asset: EMAX_SUPPLY_EXCEEDED(0x20005): the supply would exceed the maximum of this asset",
    );
    vec![
        Case::new(
            function,
            "by an account without the capabilities",
            NO_CAPABILITIES,
            |world| {
                let coin = initialize_coin(world, true);
                mint_by(world, 1, &coin, 1, 1)
            },
        ),
        Case::new(
            function,
            "after the capabilities were destroyed",
            NO_CAPABILITIES,
            |world| {
                let coin = create_coin_without_capabilities(world);
                mint_by(world, 0, &coin, 0, 1)
            },
        ),
        Case::new(function, "native coin", NO_CAPABILITIES, |world| {
            mint_by(world, 0, NATIVE, 0, 1)
        }),
        Case::new(
            function,
            "uninitialized coin type",
            NO_CAPABILITIES,
            |world| {
                let coin = moon_type();
                mint_by(world, 0, &coin, 0, 1)
            },
        ),
        Case::new(
            function,
            "recipient's balance overflows",
            Expected::Status("Execution failed in 0x1::managed_coin::mint at code offset 0"),
            |world| {
                let coin = create_funded_coin(world, &[u64::MAX]);
                mint_by(world, 0, &coin, 0, 1)
            },
        ),
        Case::new(function, "supply overflows", supply, |world| {
            let coin = create_funded_coin(world, &[1]);
            set_supply(world, &coin, u128::MAX - 1);
            mint_by(world, 0, &coin, 0, 2)
        }),
        Case::new(function, "to a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[1]);
            freeze(world, &coin, 0);
            mint_by(world, 0, &coin, 0, 1)
        }),
    ]
}

fn burn(world: &mut World, signer: usize, coin: &str, amount: u64) -> ExecutedTransaction {
    world.call(signer, "0x1::managed_coin::burn", &[coin], args![amount])
}

fn burning() -> Vec<Case> {
    let function = "0x1::managed_coin::burn";
    vec![
        Case::new(
            function,
            "decreases the supply",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
            ]),
            |world| {
                let coin = initialize_coin(world, true);
                mint(world, &coin, account_address(0), 10);
                let executed = burn(world, 0, &coin, 4);
                assert_holds(world, &coin, account_address(0), 6);
                assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": ["6"]}));
                executed
            },
        ),
        Case::new(function, "zero amount", PAIRED, |world| {
            let coin = initialize_coin(world, true);
            burn(world, 0, &coin, 0)
        }),
        Case::new(
            function,
            "by an account without the capabilities",
            NO_CAPABILITIES,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                burn(world, 1, &coin, 1)
            },
        ),
        Case::new(
            function,
            "amount above the balance",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10, 10]);
                burn(world, 0, &coin, 11)
            },
        ),
        Case::new(function, "from a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10]);
            freeze(world, &coin, 0);
            burn(world, 0, &coin, 1)
        }),
        Case::new(
            function,
            "amount above the supply",
            Expected::Status("Execution failed in 0x1::managed_coin::burn at code offset 0"),
            |world| {
                let coin = initialize_coin(world, true);
                mint(world, &coin, account_address(0), 10);
                set_supply(world, &coin, 9);
                burn(world, 0, &coin, 10)
            },
        ),
    ]
}
