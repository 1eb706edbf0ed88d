//! Cases of `0x1::managed_coin` and of the supply that it changes.

use crate::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NATIVE, NOBODY, OVERFLOW, RESERVED, account, assert_holds, asset, freeze,
        funded, initialise, mint, moon, view,
    },
};
use ledger::{ExecutedTransaction, StateKey, StructTag, TypeTag};
use serde_json::json;

const NO_CAPABILITIES: Expected = Expected::Abort(
    "0x1::managed_coin: ENO_CAPABILITIES(0x60001): the account does not hold the capabilities of this coin",
);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = initialize();
    cases.extend(refused_initialize());
    cases.extend(minting());
    cases.extend(refused_minting());
    cases.extend(burning());
    cases.extend(freezing());
    cases.extend(giving_up());
    cases
}

const MADE: Expected = Expected::Success(&["0x1::fungible_asset::Creation", "0x1::coin::PairCreation"]);

fn described(world: &mut World, coin: &str, name: &[u8], symbol: &[u8], decimals: u8) -> ExecutedTransaction {
    world.call(
        0,
        "0x1::managed_coin::initialize",
        &[coin],
        args![name.to_vec(), symbol.to_vec(), decimals, true],
    )
}

fn initialize() -> Vec<Case> {
    let function = "0x1::managed_coin::initialize";
    vec![
        Case::new(function, "makes the coin and its paired asset", MADE, |world| {
            let coin = moon();
            // The longest of everything.
            let executed = described(world, &coin, &[b'n'; 32], &[b's'; 32], 32);
            let seen = |name: &str| view(world, name, &coin, vec![]);
            assert_eq!(seen("name"), json!("n".repeat(32)));
            assert_eq!(seen("symbol"), json!("s".repeat(32)));
            assert_eq!(seen("decimals"), json!(32));
            assert_eq!(seen("supply"), json!({"vec": ["0"]}));
            assert_eq!(seen("coin_supply"), json!({"vec": ["0"]}));
            assert_eq!(seen("is_coin_initialized"), true);
            let metadata = "0x1::fungible_asset::Metadata";
            let of_asset = |name| world.view(name, &[metadata], args![asset(world, &coin)]);
            assert_eq!(of_asset("0x1::fungible_asset::name"), [json!("n".repeat(32))]);
            assert_eq!(of_asset("0x1::fungible_asset::supply"), [json!({"vec": ["0"]})]);
            assert_eq!(of_asset("0x1::object::owner"), [json!("0xa")]);
            executed
        }),
        Case::new(function, "of a generic type", MADE, |world| {
            let coin = format!("{}::pool::Share<{NATIVE}, vector<u8>>", account(0));
            let executed = described(world, &coin, b"Share", b"SHR", 8);
            let pair = world.view("0x1::coin::paired_coin", &[], args![asset(world, &coin)]);
            let name = format!("Share<{NATIVE}, vector<u8>>");
            let expected = json!({
                "account_address": account(0).to_string(),
                "module_name": format!("0x{}", hex::encode("pool")),
                "struct_name": format!("0x{}", hex::encode(name)),
            });
            assert_eq!(pair, [json!({"vec": [expected]})]);
            mint(world, &coin, NOBODY, 5);
            assert_holds(world, &coin, NOBODY, 5);
            executed
        }),
        Case::new(function, "without counting the supply", MADE, |world| {
            let coin = moon();
            let arguments = args![b"Moon".to_vec(), b"MOON".to_vec(), 0u8, false];
            let executed = world.call(0, "0x1::managed_coin::initialize", &[&coin], arguments);
            mint(world, &coin, NOBODY, 5);
            assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": []}));
            executed
        }),
    ]
}

fn refused_initialize() -> Vec<Case> {
    let function = "0x1::managed_coin::initialize";
    let mismatch = Expected::Abort(
        "0x1::coin: ECOIN_INFO_ADDRESS_MISMATCH(0x10001): only the account at the address of a coin's type can initialise the coin",
    );
    let published =
        Expected::Abort("0x1::coin: ECOIN_INFO_ALREADY_PUBLISHED(0x80002): this coin is initialised already");
    let name =
        Expected::Abort("0x1::coin: ECOIN_NAME_TOO_LONG(0x1000c): the name of a coin has at most 32 bytes");
    let symbol = Expected::Abort(
        "0x1::coin: ECOIN_SYMBOL_TOO_LONG(0x1000d): the symbol of a coin has at most 32 bytes",
    );
    let decimals =
        Expected::Abort("0x1::coin: ECOIN_DECIMALS_TOO_LARGE(0x1001d): a coin has at most 32 decimal places");
    let text = Expected::Abort("0x1::string: EINVALID_UTF8(0x1): the bytes are no UTF-8 text");
    vec![
        Case::new(function, "of another account's type", mismatch, |world| {
            let coin = format!("{}::moon::Coin", account(1));
            described(world, &coin, b"Moon", b"MOON", 6)
        }),
        Case::new(function, "of the chain's coin", mismatch, |world| {
            described(world, NATIVE, b"Moon", b"MOON", 6)
        }),
        Case::new(function, "of a type that is no struct", mismatch, |world| {
            described(world, "u8", b"Moon", b"MOON", 6)
        }),
        Case::new(function, "a second time", published, |world| {
            let coin = initialise(world, true);
            described(world, &coin, b"Moon", b"MOON", 6)
        }),
        Case::new(function, "a name of 33 bytes", name, |world| {
            let coin = moon();
            described(world, &coin, &[b'n'; 33], b"MOON", 6)
        }),
        Case::new(function, "a symbol of 33 bytes", symbol, |world| {
            let coin = moon();
            described(world, &coin, b"Moon", &[b's'; 33], 6)
        }),
        Case::new(function, "33 decimal places", decimals, |world| {
            let coin = moon();
            described(world, &coin, b"Moon", b"MOON", 33)
        }),
        Case::new(function, "a symbol that is no text", text, |world| {
            let coin = moon();
            described(world, &coin, b"Moon", &[0xff], 6)
        }),
        Case::new(
            function,
            "a type too long to be read back",
            Expected::Status("TYPE_RESOLUTION_FAILURE"),
            |world| {
                let argument = format!("0x5::{}::{}", "m".repeat(255), "s".repeat(255));
                let coin = format!("{}::m::S<{}>", account(0), [argument.as_str(); 8].join(", "));
                // The parser takes it no more, so it is put together.
                let mut tag: StructTag = moon().parse().unwrap();
                tag.type_args = vec![argument.parse::<TypeTag>().unwrap(); 8];
                assert!(coin.len() > 4_096 && coin.parse::<StructTag>().is_err());
                let arguments = args![b"Moon".to_vec(), b"MOON".to_vec(), 6u8, true];
                let mut call = world.entry("0x1::managed_coin::initialize", &[], arguments);
                call.type_args = vec![tag.into()];
                let raw = world.chain.raw(&world.key(0), call);
                world.run(0, raw)
            },
        ),
    ]
}

fn give(world: &mut World, signer: usize, coin: &str, to: usize, amount: u64) -> ExecutedTransaction {
    let to = account(to);
    world.call(signer, "0x1::managed_coin::mint", &[coin], args![to, amount])
}

fn minting() -> Vec<Case> {
    let function = "0x1::managed_coin::mint";
    vec![
        Case::new(
            function,
            "raises the supply",
            Expected::Success(&["0x1::account::CoinRegisterEvent", "0x1::coin::DepositEvent"]),
            |world| {
                let coin = initialise(world, true);
                mint(world, &coin, account(0), u64::MAX);
                let executed = give(world, 0, &coin, 1, u64::MAX);
                assert_holds(world, &coin, account(1), u64::MAX);
                let twice = (2 * u128::from(u64::MAX)).to_string();
                assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": [twice]}));
                executed
            },
        ),
        Case::new(
            function,
            "nothing, to an account without a store",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let coin = initialise(world, true);
                give(world, 0, &coin, 1, 0)
            },
        ),
    ]
}

/// Puts the supply of the coin of account 0 where no number of calls would bring it in a lifetime.
fn set_supply(world: &mut World, coin: &str, supply: u128) {
    let info: StructTag = format!("0x1::coin::CoinInfo<{coin}>").parse().unwrap();
    let key = StateKey::resource(&account(0), &info);
    let tag = TypeTag::from(info);
    let mut json = {
        let bytes = &world.chain.state[&key];
        world.chain().framework().value_to_json(&tag, bytes).unwrap()
    };
    json["supply"]["vec"][0]["integer"]["vec"][0]["value"] = json!(supply.to_string());
    let bytes = world.chain().framework().value_from_json(&tag, &json).unwrap();
    world.chain.state.insert(key, bytes.into());
}

fn refused_minting() -> Vec<Case> {
    let function = "0x1::managed_coin::mint";
    let supply = Expected::Abort(
        "0x1::optional_aggregator: EAGGREGATOR_OVERFLOW(0x20001): the supply would exceed its limit",
    );
    vec![
        Case::new(
            function,
            "by who did not make the coin",
            NO_CAPABILITIES,
            |world| {
                let coin = initialise(world, true);
                give(world, 1, &coin, 1, 1)
            },
        ),
        Case::new(function, "of the chain's coin", NO_CAPABILITIES, |world| {
            give(world, 0, NATIVE, 0, 1)
        }),
        Case::new(
            function,
            "of a coin that is not initialised",
            NO_CAPABILITIES,
            |world| {
                let coin = moon();
                give(world, 0, &coin, 0, 1)
            },
        ),
        Case::new(function, "more than the store can hold", OVERFLOW, |world| {
            let coin = funded(world, &[u64::MAX]);
            give(world, 0, &coin, 0, 1)
        }),
        Case::new(function, "more than the supply can count", supply, |world| {
            let coin = initialise(world, true);
            set_supply(world, &coin, u128::MAX - 1);
            give(world, 0, &coin, 0, 2)
        }),
        Case::new(function, "to a frozen store", FROZEN, |world| {
            let coin = funded(world, &[1]);
            freeze(world, &coin, 0);
            give(world, 0, &coin, 0, 1)
        }),
        Case::new(function, "to an address of the framework", RESERVED, |world| {
            let coin = initialise(world, true);
            let to = ledger::AccountAddress::ONE;
            world.call(0, "0x1::managed_coin::mint", &[&coin], args![to, 1u64])
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
            "lowers the supply",
            Expected::Success(&["0x1::coin::WithdrawEvent"]),
            |world| {
                let coin = initialise(world, true);
                mint(world, &coin, account(0), 10);
                let executed = burn(world, 0, &coin, 4);
                assert_holds(world, &coin, account(0), 6);
                assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": ["6"]}));
                executed
            },
        ),
        Case::new(function, "nothing", Expected::Success(&[]), |world| {
            let coin = initialise(world, true);
            burn(world, 0, &coin, 0)
        }),
        Case::new(
            function,
            "by who did not make the coin",
            NO_CAPABILITIES,
            |world| {
                let coin = funded(world, &[10, 10]);
                burn(world, 1, &coin, 1)
            },
        ),
        Case::new(function, "more than there is", INSUFFICIENT, |world| {
            let coin = funded(world, &[10, 10]);
            burn(world, 0, &coin, 11)
        }),
        Case::new(function, "from a frozen store", FROZEN, |world| {
            let coin = funded(world, &[10]);
            freeze(world, &coin, 0);
            burn(world, 0, &coin, 1)
        }),
        Case::new(
            function,
            "more than was counted",
            Expected::Status("Execution failed in 0x1::managed_coin::burn at code offset 0"),
            |world| {
                let coin = initialise(world, true);
                mint(world, &coin, account(0), 10);
                set_supply(world, &coin, 9);
                burn(world, 0, &coin, 10)
            },
        ),
    ]
}

fn ask(world: &mut World, signer: usize, verb: &str, coin: &str, owner: usize) -> ExecutedTransaction {
    let owner = account(owner);
    world.call(
        signer,
        &format!("0x1::managed_coin::{verb}_coin_store"),
        &[coin],
        args![owner],
    )
}

fn freezing() -> Vec<Case> {
    let (freeze_it, unfreeze_it) = (
        "0x1::managed_coin::freeze_coin_store",
        "0x1::managed_coin::unfreeze_coin_store",
    );
    vec![
        Case::new(
            freeze_it,
            "stops the store under both names",
            Expected::Success(&[]),
            |world| {
                let coin = funded(world, &[10, 10]);
                let executed = ask(world, 0, "freeze", &coin, 1);
                let owner = account(1);
                assert_eq!(view(world, "is_coin_store_frozen", &coin, args![owner]), true);
                let by_asset = world.view(
                    "0x1::primary_fungible_store::is_frozen",
                    &["0x1::fungible_asset::Metadata"],
                    args![owner, asset(world, &coin)],
                );
                assert_eq!(by_asset, [json!(true)]);
                executed
            },
        ),
        Case::new(
            freeze_it,
            "by who did not make the coin",
            NO_CAPABILITIES,
            |world| {
                let coin = funded(world, &[10, 10]);
                ask(world, 1, "freeze", &coin, 0)
            },
        ),
        Case::new(
            freeze_it,
            "an account without a store",
            Expected::Status("Execution failed in 0x1::managed_coin::freeze_coin_store at code offset 0"),
            |world| {
                let coin = initialise(world, true);
                ask(world, 0, "freeze", &coin, 1)
            },
        ),
        Case::new(
            unfreeze_it,
            "lets the store go",
            Expected::Success(&[]),
            |world| {
                let coin = funded(world, &[10, 10]);
                freeze(world, &coin, 1);
                let executed = ask(world, 0, "unfreeze", &coin, 1);
                world.must(1, "0x1::coin::transfer", &[&coin], args![NOBODY, 10u64]);
                assert_holds(world, &coin, NOBODY, 10);
                executed
            },
        ),
        Case::new(
            unfreeze_it,
            "by the owner of the store",
            NO_CAPABILITIES,
            |world| {
                let coin = funded(world, &[10, 10]);
                freeze(world, &coin, 1);
                ask(world, 1, "unfreeze", &coin, 1)
            },
        ),
        Case::new(
            unfreeze_it,
            "an account without a store",
            Expected::Status("Execution failed in 0x1::managed_coin::unfreeze_coin_store at code offset 0"),
            |world| {
                let coin = initialise(world, true);
                ask(world, 0, "unfreeze", &coin, 1)
            },
        ),
    ]
}

fn giving_up() -> Vec<Case> {
    let function = "0x1::managed_coin::destroy_caps";
    vec![
        Case::new(
            function,
            "no one mints any more",
            Expected::Success(&[]),
            |world| {
                let coin = funded(world, &[10]);
                let executed = world.call(0, "0x1::managed_coin::destroy_caps", &[&coin], vec![]);
                let status = give(world, 0, &coin, 0, 1).info.v0().status.clone();
                assert!(!status.is_success());
                // The same type cannot be a second coin.
                let again = described(world, &coin, b"Moon", b"MOON", 6)
                    .info
                    .v0()
                    .status
                    .clone();
                assert!(!again.is_success());
                executed
            },
        ),
        Case::new(
            function,
            "by who did not make the coin",
            NO_CAPABILITIES,
            |world| {
                let coin = initialise(world, true);
                world.call(1, "0x1::managed_coin::destroy_caps", &[&coin], vec![])
            },
        ),
        Case::new(
            "0x1::managed_coin::register",
            "makes the store, as the function of coins does",
            Expected::Success(&["0x1::account::CoinRegisterEvent"]),
            |world| {
                let coin = initialise(world, true);
                let executed = world.call(1, "0x1::managed_coin::register", &[&coin], vec![]);
                let owner = account(1);
                assert_eq!(view(world, "is_account_registered", &coin, args![owner]), true);
                executed
            },
        ),
    ]
}
