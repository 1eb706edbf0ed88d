//! Cases of `0x1::coin`, and helpers for the cases of other coin modules.

use crate::functions::{
    Case, Expected, World, args,
    coin_stores::{native_store, written_slots},
    fungible_asset::{METADATA, STORE, primary_store},
};
use ledger_execution::development_accounts;
use ledger_framework::{AssetType, balance, modules::account::Account};
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::{Value, json};

/// An address without an account.
pub(crate) const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
/// The chain's coin.
pub(crate) const NATIVE: &str = "0x1::node_coin::NodeCoin";

pub(crate) const INSUFFICIENT: Expected = Expected::Abort(
    "0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
);
pub(crate) const FROZEN: Expected = Expected::Abort(
    "0x1::fungible_asset: ESTORE_IS_FROZEN(0x50003): the store of this asset is frozen",
);
pub(crate) const NOT_PUBLISHED: Expected = Expected::Abort(
    "0x1::coin: ECOIN_INFO_NOT_PUBLISHED(0x10003): this type is no coin: it was not initialised",
);
pub(crate) const RESERVED: Expected = Expected::Abort(
    "0x1::account: ECANNOT_RESERVED_ADDRESS(0x10005): this address is reserved for the framework",
);

/// Events of a payment. The stores of a coin have event streams, which repeat the module events.
pub(crate) const PAID: Expected = Expected::Success(&[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::WithdrawEvent",
    "0x1::fungible_asset::Deposit",
    "0x1::fungible_asset::DepositEvent",
]);
/// Events of the first operation on a coin, which creates its paired asset.
pub(crate) const PAIRED: Expected =
    Expected::Success(&["0x1::fungible_asset::Creation", "0x1::coin::PairCreation"]);

/// Returns whether there is an account resource at `address`.
pub(crate) fn has_account_resource(world: &World, address: AccountAddress) -> bool {
    let registry = world.chain().registry();
    let key = registry.resource_key::<Account>(&address, &[]);
    world.chain.state.contains_key(&key)
}

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

/// Returns the address of the paired asset of a coin, which exists.
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

/// Returns whether `owner` has a primary store of the coin's paired asset.
pub(crate) fn has_store(world: &World, coin: &str, owner: AccountAddress) -> bool {
    let exists = "0x1::primary_fungible_store::primary_store_exists";
    world.view(exists, &[METADATA], args![owner, paired_asset(world, coin)])[0] == true
}

/// Returns whether the primary store of `owner` is frozen.
pub(crate) fn is_frozen(world: &World, coin: &str, owner: AccountAddress) -> bool {
    let is_frozen = "0x1::primary_fungible_store::is_frozen";
    world.view(
        is_frozen,
        &[METADATA],
        args![owner, paired_asset(world, coin)],
    )[0] == true
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
    cases.extend(migrations());
    cases.extend(transfer());
    cases.extend(rejected_transfers());
    cases
}

fn register() -> Vec<Case> {
    let function = "0x1::coin::register";
    vec![
        Case::new(
            function,
            "changes nothing, because every account can receive the coin",
            Expected::Success(&[]),
            |world| {
                let coin = initialize_coin(world, true);
                assert_eq!(
                    view(
                        world,
                        "is_account_registered",
                        &coin,
                        args![UNKNOWN_ADDRESS]
                    ),
                    true
                );
                let executed = world.call(1, "0x1::coin::register", &[&coin], vec![]);
                assert_writes_only_the_fee(&executed, 1);
                assert_eq!(
                    view(world, "paired_metadata", &coin, vec![]),
                    json!({"vec": []})
                );
                let balance = view(world, "balance", &coin, args![account_address(1)]);
                assert_eq!(balance, "0");
                executed
            },
        ),
        Case::new(function, "native coin", Expected::Success(&[]), |world| {
            let executed = world.call(1, "0x1::coin::register", &[NATIVE], vec![]);
            assert_writes_only_the_fee(&executed, 1);
            executed
        }),
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
            |world| {
                let name = world.try_view("0x1::coin::name", &["vector<u8>"], vec![]);
                let error = "Move abort in 0x1::type_info: E_NATIVE_FUN_NOT_AVAILABLE(0x1)";
                assert!(name.unwrap_err().starts_with(error));
                world.call(1, "0x1::coin::register", &["vector<u8>"], vec![])
            },
        ),
    ]
}

/// Asserts that a call of a development account wrote only its sequence number and its fee.
pub(crate) fn assert_writes_only_the_fee(executed: &ExecutedTransaction, account: usize) {
    let sender = account_address(account);
    let mut expected = vec![
        (sender, "Account".to_owned()),
        (native_store(sender), "ObjectGroup".to_owned()),
    ];
    expected.sort();
    assert_eq!(written_slots(executed), expected);
}

/// Returns the cases of the functions that the reference node keeps for coin stores. This ledger has
/// none.
fn migrations() -> Vec<Case> {
    let (migrate, migrate_accounts) = (
        "0x1::coin::migrate_to_fungible_store",
        "0x1::coin::migrate_coin_store_to_fungible_store",
    );
    let unsupported = Expected::Abort(
        "0x1::coin: ECOIN_SUPPLY_UPGRADE_NOT_SUPPORTED(0x3000b): the supply of a coin is no longer upgraded",
    );
    vec![
        Case::new(
            migrate,
            "account without a coin store",
            Expected::Success(&[]),
            |world| {
                let coin = create_funded_coin(world, &[10]);
                let migrate = "0x1::coin::migrate_to_fungible_store";
                let executed = world.call(0, migrate, &[&coin], vec![]);
                assert_writes_only_the_fee(&executed, 0);
                assert_holds(world, &coin, account_address(0), 10);
                executed
            },
        ),
        Case::new(
            migrate,
            "uninitialized coin type",
            Expected::Success(&[]),
            |world| {
                let migrate = "0x1::coin::migrate_to_fungible_store";
                let executed = world.call(0, migrate, &[&moon_type()], vec![]);
                assert_writes_only_the_fee(&executed, 0);
                executed
            },
        ),
        Case::new(
            migrate_accounts,
            "accounts without coin stores",
            Expected::Success(&[]),
            |world| {
                let coin = create_funded_coin(world, &[10, 5]);
                let accounts = vec![account_address(0), account_address(1), UNKNOWN_ADDRESS];
                let migrate = "0x1::coin::migrate_coin_store_to_fungible_store";
                let executed = world.call(2, migrate, &[&coin], args![accounts]);
                assert_writes_only_the_fee(&executed, 2);
                assert_holds(world, &coin, account_address(0), 10);
                assert_holds(world, &coin, account_address(1), 5);
                executed
            },
        ),
        Case::new(
            "0x1::coin::upgrade_supply",
            "supply of an initialized coin",
            unsupported,
            |world| {
                let coin = initialize_coin(world, true);
                world.call(0, "0x1::coin::upgrade_supply", &[&coin], vec![])
            },
        ),
    ]
}

pub(crate) fn pay(
    world: &mut World,
    coin: &str,
    to: AccountAddress,
    amount: u64,
) -> ExecutedTransaction {
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
        Case::new(function, "native coin to a new address", PAID, |world| {
            assert!(!has_store(world, NATIVE, UNKNOWN_ADDRESS));
            let executed = pay(world, NATIVE, UNKNOWN_ADDRESS, 7);
            assert_holds(world, NATIVE, UNKNOWN_ADDRESS, 7);
            assert!(has_store(world, NATIVE, UNKNOWN_ADDRESS));
            assert!(!has_account_resource(world, UNKNOWN_ADDRESS));
            assert_eq!(world.chain.facts(&UNKNOWN_ADDRESS).balance, 7);
            executed
        }),
        Case::new(function, "maximum balance of a store", PAID, |world| {
            let coin = create_funded_coin(world, &[u64::MAX]);
            let executed = pay(world, &coin, UNKNOWN_ADDRESS, u64::MAX);
            assert_holds(world, &coin, UNKNOWN_ADDRESS, u64::MAX);
            assert_holds(world, &coin, account_address(0), 0);
            executed
        }),
        Case::new(function, "sender is the recipient", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let executed = pay(world, &coin, account_address(0), 10);
            assert_holds(world, &coin, account_address(0), 10);
            executed
        }),
        Case::new(
            function,
            "zero amount creates the paired asset and both stores",
            PAIRED,
            |world| {
                let coin = initialize_coin(world, true);
                let executed = pay(world, &coin, UNKNOWN_ADDRESS, 0);
                assert!(has_store(world, &coin, UNKNOWN_ADDRESS));
                assert!(has_store(world, &coin, account_address(0)));
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
        Case::new(function, "to the address of an object", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let object = paired_asset(world, &coin);
            let executed = pay(world, &coin, object, 3);
            assert_holds(world, &coin, object, 3);
            executed
        }),
        Case::new(
            function,
            "to the address of the native coin's paired asset",
            RESERVED,
            |world| pay(world, NATIVE, AccountAddress::NATIVE_ASSET, 1),
        ),
        Case::new(function, "restores a burned store", PAID, |world| {
            let coin = create_funded_coin(world, &[10]);
            let store = primary_store(world, account_address(0), paired_asset(world, &coin));
            world.call_ok(0, "0x1::object::burn", &[STORE], args![store]);
            let executed = pay(world, &coin, account_address(1), 4);
            let is_burnt = world.view("0x1::object::is_burnt", &[STORE], args![store]);
            assert_eq!(is_burnt[0], false);
            assert_holds(world, &coin, account_address(0), 6);
            executed
        }),
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
            Expected::Status("Execution failed in 0x1::coin::transfer at code offset 0"),
            |world| {
                let coin = create_funded_coin(world, &[1, u64::MAX]);
                pay(world, &coin, account_address(1), 1)
            },
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

/// Returns the data of the events of a transaction in JSON, without the fee statement at the end.
pub(crate) fn event_data(world: &World, executed: &ExecutedTransaction) -> Vec<Value> {
    let (_, events) = executed.events.split_last().unwrap();
    let registry = world.chain().registry();
    let json = |event: &ledger_types::ContractEvent| {
        registry
            .value_to_json(event.type_tag(), event.data())
            .unwrap()
    };
    events.iter().map(json).collect()
}
