//! Cases of `0x1::coin`, and helpers for the cases of other coin modules.

use crate::functions::{Case, Expected, World, args};
use ledger_execution::{
    development_accounts,
    genesis::{DEVELOPMENT_ACCOUNT_COUNT, DEVELOPMENT_BALANCE, FAUCET_BALANCE},
};
use ledger_framework::{AssetType, balance};
use ledger_types::{AccountAddress, StateKeyParts};
use serde_json::{Value, json};

/// An address without an account.
pub(crate) const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
/// The chain's coin.
pub(crate) const NATIVE: &str = "0x1::node_coin::NodeCoin";

pub(crate) const INSUFFICIENT: Expected = Expected::Abort(
    "0x1::coin: EINSUFFICIENT_BALANCE(0x10006): the account holds less than the amount",
);
pub(crate) const FROZEN: Expected =
    Expected::Abort("0x1::coin: EFROZEN(0x5000a): the account's coin store is frozen");
pub(crate) const NOT_PUBLISHED: Expected = Expected::Abort(
    "0x1::coin: ECOIN_INFO_NOT_PUBLISHED(0x10003): this type is no coin: it was not initialised",
);
pub(crate) const OVERFLOW: Expected = Expected::Abort(
    "0x1::coin: EBALANCE_OVERFLOW(0x2001e): the recipient's balance would exceed 64 bits",
);
pub(crate) const RESERVED: Expected = Expected::Abort(
    "0x1::account: ECANNOT_RESERVED_ADDRESS(0x10005): this address is reserved for the framework",
);

/// Events of a payment to an existing store.
pub(crate) const PAID: Expected =
    Expected::Success(&["0x1::coin::WithdrawEvent", "0x1::coin::DepositEvent"]);
/// Events of a payment to an address without a store.
pub(crate) const PAID_FIRST: Expected = Expected::Success(&[
    "0x1::coin::WithdrawEvent",
    "0x1::account::CoinRegisterEvent",
    "0x1::coin::DepositEvent",
]);

/// Returns the address of a development account.
pub(crate) fn account_address(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

/// Returns a coin type of account 0.
pub(crate) fn moon_type() -> String {
    format!("{}::moon::Coin", account_address(0))
}

/// Initializes the coin of account 0. The coin has a supply if `monitored` is set.
pub(crate) fn initialize_coin(world: &mut World, monitored: bool) -> String {
    let coin = moon_type();
    let arguments = args![b"Moon".to_vec(), b"MOON".to_vec(), 6u8, monitored];
    world.call_ok(0, "0x1::managed_coin::initialize", &[&coin], arguments);
    coin
}

/// Initializes the coin of account 0 and mints each of `amounts` to one of the first accounts.
pub(crate) fn create_funded_coin(world: &mut World, amounts: &[u64]) -> String {
    let coin = initialize_coin(world, false);
    for (number, amount) in amounts.iter().enumerate() {
        mint(world, &coin, account_address(number), *amount);
    }
    coin
}

pub(crate) fn mint(world: &mut World, coin: &str, to: AccountAddress, amount: u64) {
    world.call_ok(0, "0x1::managed_coin::mint", &[coin], args![to, amount]);
}

pub(crate) fn freeze(world: &mut World, coin: &str, number: usize) {
    let owner = account_address(number);
    world.call_ok(
        0,
        "0x1::managed_coin::freeze_coin_store",
        &[coin],
        args![owner],
    );
}

/// Returns the single value of a view function of a coin.
pub(crate) fn view(world: &World, name: &str, coin: &str, arguments: Vec<Vec<u8>>) -> Value {
    world
        .view(&format!("0x1::coin::{name}"), &[coin], arguments)
        .remove(0)
}

/// Returns the address of the paired asset of a coin.
pub(crate) fn paired_asset(world: &World, coin: &str) -> AccountAddress {
    let paired = view(world, "paired_metadata", coin, vec![]);
    paired["vec"][0]["inner"].as_str().unwrap().parse().unwrap()
}

/// Creates an asset that is not paired with a coin, and mints 10 units to account 0.
pub(crate) fn create_unpaired_asset(world: &mut World) -> AccountAddress {
    let (name, symbol) = ("Gold".to_owned(), "GLD".to_owned());
    world.call_ok(
        0,
        "0x1::managed_fungible_asset::create",
        &[],
        args![
            name,
            symbol,
            8u8,
            String::new(),
            String::new(),
            None::<u128>
        ],
    );
    let asset = world.view(
        "0x1::managed_fungible_asset::asset_address",
        &[],
        args![account_address(0), symbol],
    );
    let asset: AccountAddress = asset[0].as_str().unwrap().parse().unwrap();
    let arguments = args![asset, account_address(0), 10u64];
    world.call_ok(0, "0x1::managed_fungible_asset::mint", &[], arguments);
    asset
}

/// Returns the balance of an asset that the REST API reports.
pub(crate) fn balance_of(world: &World, owner: AccountAddress, asset: &AssetType) -> u64 {
    balance(world.chain(), &world.chain, &owner, asset).unwrap()
}

/// Asserts the balance of `owner`, by the name of the coin and by that of its paired asset.
pub(crate) fn assert_holds(world: &World, coin: &str, owner: AccountAddress, amount: u64) {
    assert_eq!(
        view(world, "balance", coin, args![owner]),
        json!(amount.to_string())
    );
    let by_asset = world.view(
        "0x1::primary_fungible_store::balance",
        &["0x1::fungible_asset::Metadata"],
        args![owner, paired_asset(world, coin)],
    );
    assert_eq!(by_asset, [json!(amount.to_string())]);
    assert_eq!(
        view(world, "is_balance_at_least", coin, args![owner, amount]),
        true
    );
    if let Some(more) = amount.checked_add(1) {
        assert_eq!(
            view(world, "is_balance_at_least", coin, args![owner, more]),
            false
        );
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = register();
    cases.extend(transfer());
    cases.extend(rejected_transfers());
    cases
}

fn register() -> Vec<Case> {
    let function = "0x1::coin::register";
    vec![
        Case::new(
            function,
            "creates the store",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let coin = initialize_coin(world, true);
                let owner = account_address(1);
                assert_eq!(
                    view(world, "is_account_registered", &coin, args![owner]),
                    false
                );
                let executed = world.call(1, "0x1::coin::register", &[&coin], vec![]);
                assert_eq!(
                    view(world, "is_account_registered", &coin, args![owner]),
                    true
                );
                assert_eq!(
                    view(world, "is_coin_store_frozen", &coin, args![owner]),
                    false
                );
                assert_holds(world, &coin, owner, 0);
                executed
            },
        ),
        Case::new(
            function,
            "existing store stays unchanged",
            Expected::Success(&[]),
            |world| world.call(1, "0x1::coin::register", &[NATIVE], vec![]),
        ),
        Case::new(
            function,
            "uninitialized coin type",
            NOT_PUBLISHED,
            |world| {
                let coin = moon_type();
                let result = world.try_view(
                    "0x1::coin::is_account_registered",
                    &[&coin],
                    args![UNKNOWN_ADDRESS],
                );
                assert!(
                    result
                        .unwrap_err()
                        .contains("ECOIN_INFO_NOT_PUBLISHED(0x10003)")
                );
                assert_eq!(view(world, "is_coin_initialized", &coin, vec![]), false);
                assert_eq!(
                    view(world, "paired_metadata", &coin, vec![]),
                    json!({"vec": []})
                );
                let name = world.try_view("0x1::coin::name", &[&coin], vec![]);
                assert_eq!(
                    name.unwrap_err(),
                    "Execution failed in 0x1::coin::name at code offset 0"
                );
                world.call(1, "0x1::coin::register", &[&coin], vec![])
            },
        ),
        Case::new(
            function,
            "type that is not a struct",
            NOT_PUBLISHED,
            |world| world.call(1, "0x1::coin::register", &["vector<u8>"], vec![]),
        ),
    ]
}

fn pay(
    world: &mut World,
    coin: &str,
    to: AccountAddress,
    amount: u64,
) -> ledger_types::ExecutedTransaction {
    world.call(0, "0x1::coin::transfer", &[coin], args![to, amount])
}

fn transfer() -> Vec<Case> {
    let function = "0x1::coin::transfer";
    vec![
        Case::new(function, "between existing stores", PAID, |world| {
            let coin = create_funded_coin(world, &[10, 5]);
            let executed = pay(world, &coin, account_address(1), 4);
            assert_holds(world, &coin, account_address(0), 6);
            assert_holds(world, &coin, account_address(1), 9);
            executed
        }),
        Case::new(
            function,
            "native coin to a new account",
            PAID_FIRST,
            |world| {
                let executed = pay(world, NATIVE, UNKNOWN_ADDRESS, 7);
                assert_holds(world, NATIVE, UNKNOWN_ADDRESS, 7);
                assert_eq!(world.chain.facts(&UNKNOWN_ADDRESS).balance, 7);
                executed
            },
        ),
        Case::new(
            function,
            "maximum balance of a store",
            PAID_FIRST,
            |world| {
                let coin = create_funded_coin(world, &[u64::MAX]);
                let executed = pay(world, &coin, UNKNOWN_ADDRESS, u64::MAX);
                assert_holds(world, &coin, UNKNOWN_ADDRESS, u64::MAX);
                assert_holds(world, &coin, account_address(0), 0);
                executed
            },
        ),
        Case::new(function, "sender is the recipient", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let executed = pay(world, &coin, account_address(0), 10);
            assert_holds(world, &coin, account_address(0), 10);
            executed
        }),
        Case::new(
            function,
            "zero amount creates the recipient's store",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let coin = initialize_coin(world, true);
                let executed = pay(world, &coin, UNKNOWN_ADDRESS, 0);
                assert_eq!(
                    view(
                        world,
                        "is_account_registered",
                        &coin,
                        args![UNKNOWN_ADDRESS]
                    ),
                    true
                );
                executed
            },
        ),
        Case::new(
            function,
            "zero amount emits no event",
            Expected::Success(&[]),
            |world| {
                let coin = create_funded_coin(world, &[10, 5]);
                pay(world, &coin, account_address(1), 0)
            },
        ),
        Case::new(
            function,
            "to the address of an object",
            PAID_FIRST,
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let object = paired_asset(world, &coin);
                let executed = pay(world, &coin, object, 3);
                assert_holds(world, &coin, object, 3);
                executed
            },
        ),
    ]
}

fn rejected_transfers() -> Vec<Case> {
    let function = "0x1::coin::transfer";
    vec![
        Case::new(
            function,
            "amount above the balance",
            INSUFFICIENT,
            |world| {
                let coin = create_funded_coin(world, &[10, 0]);
                pay(world, &coin, account_address(1), 11)
            },
        ),
        Case::new(
            function,
            "from an account without a store",
            INSUFFICIENT,
            |world| {
                let coin = initialize_coin(world, true);
                pay(world, &coin, account_address(1), 1)
            },
        ),
        Case::new(function, "from a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10]);
            freeze(world, &coin, 0);
            pay(world, &coin, account_address(1), 0)
        }),
        Case::new(function, "to a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10, 5]);
            freeze(world, &coin, 1);
            pay(world, &coin, account_address(1), 0)
        }),
        Case::new(
            function,
            "recipient's balance overflows",
            OVERFLOW,
            |world| {
                let coin = create_funded_coin(world, &[1, u64::MAX]);
                pay(world, &coin, account_address(1), 1)
            },
        ),
        Case::new(
            function,
            "to the address of the native coin's paired asset",
            RESERVED,
            |world| pay(world, NATIVE, AccountAddress::NATIVE_ASSET, 1),
        ),
        Case::new(
            function,
            "zero amount of an uninitialized coin type",
            NOT_PUBLISHED,
            |world| {
                let coin = moon_type();
                pay(world, &coin, UNKNOWN_ADDRESS, 0)
            },
        ),
        Case::new(
            function,
            "type that is not a struct",
            NOT_PUBLISHED,
            |world| pay(world, "u8", UNKNOWN_ADDRESS, 1),
        ),
    ]
}

#[test]
fn describes_the_native_coin_under_both_names() {
    let world = World::new();
    let field = |name: &str| view(&world, name, NATIVE, vec![]);
    assert_eq!(field("name"), "Node Coin");
    assert_eq!(field("symbol"), "NODE");
    assert_eq!(field("decimals"), 8);
    assert_eq!(field("is_coin_initialized"), true);
    assert_eq!(field("paired_metadata"), json!({"vec": [{"inner": "0xa"}]}));
    let accounts = DEVELOPMENT_BALANCE * u64::from(DEVELOPMENT_ACCOUNT_COUNT);
    let supply = FAUCET_BALANCE + accounts;
    assert_eq!(field("supply"), json!({"vec": [supply.to_string()]}));
    for name in ["name", "symbol", "decimals", "supply"] {
        let of_asset = world.view(
            &format!("0x1::fungible_asset::{name}"),
            &["0x1::object::ObjectCore"],
            args![AccountAddress::NATIVE_ASSET],
        );
        assert_eq!(of_asset, [field(name)], "{name}");
    }
    let paired = world.view(
        "0x1::coin::paired_coin",
        &[],
        args![AccountAddress::NATIVE_ASSET],
    );
    let struct_name = format!("0x{}", hex::encode("NodeCoin"));
    assert_eq!(paired[0]["vec"][0]["struct_name"], struct_name);
    // The asset has no reference objects, so that only the capabilities of the coin control it.
    for power in ["mint", "transfer", "burn"] {
        assert_eq!(field(&format!("paired_{power}_ref_exists")), false);
    }
    let owner = world.view(
        "0x1::object::owner",
        &["0x1::fungible_asset::Metadata"],
        args![AccountAddress::NATIVE_ASSET],
    );
    assert_eq!(owner, ["0x1"]);
}

#[test]
fn returns_no_paired_coin_for_an_unpaired_asset() {
    let mut world = World::new();
    let asset = create_unpaired_asset(&mut world);
    let paired = world.view("0x1::coin::paired_coin", &[], args![asset]);
    assert_eq!(paired, [json!({"vec": []})]);
}

/// Returns the written slots of a transaction: their addresses and the names of their structs.
fn written_slots(executed: &ledger_types::ExecutedTransaction) -> Vec<(AccountAddress, String)> {
    let slot = |key: &ledger_types::StateKey| match key.decode().unwrap() {
        StateKeyParts::Resource { address, tag }
        | StateKeyParts::ResourceGroup { address, tag } => (address, tag.name.to_string()),
        other => panic!("{other:?}"),
    };
    let mut slots: Vec<_> = executed.writes.iter().map(|(key, _)| slot(key)).collect();
    slots.sort();
    slots
}

#[test]
fn writes_only_the_slots_of_both_accounts_in_a_transfer() {
    let mut world = World::new();
    let coin = create_funded_coin(&mut world, &[10, 10]);
    let mut expected = vec![
        (account_address(0), "Account".to_owned()),
        (account_address(0), "CoinStore".to_owned()),
        (account_address(1), "CoinStore".to_owned()),
    ];
    expected.sort();
    let native = pay(&mut world, NATIVE, account_address(1), 1);
    assert_eq!(written_slots(&native), expected);
    // Another coin has its own stores; the store of the chain's coin pays the fee.
    expected.push((account_address(0), "CoinStore".to_owned()));
    expected.sort();
    let other = pay(&mut world, &coin, account_address(1), 1);
    assert_eq!(written_slots(&other), expected);
}
