//! Cases of the initialization of a coin.

use super::create_coin_without_capabilities;
use crate::functions::{
    Case, Expected, World, args,
    coin::{NATIVE, account_address, initialize_coin, moon_type, view},
};
use ledger_types::{ExecutedTransaction, StructTag, TypeTag};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = initialize();
    cases.extend(rejected_initialize());
    cases
}

fn initialize_with(
    world: &mut World,
    coin: &str,
    name: &[u8],
    symbol: &[u8],
    decimals: u8,
) -> ExecutedTransaction {
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
        Case::new(
            function,
            "creates the coin without its paired asset",
            Expected::Success(&[]),
            |world| {
                let coin = moon_type();
                // Name, symbol, and decimals have their maximum.
                let executed = initialize_with(world, &coin, &[b'n'; 32], &[b's'; 32], 32);
                let field = |name: &str| view(world, name, &coin, vec![]);
                assert_eq!(field("name"), json!("n".repeat(32)));
                assert_eq!(field("symbol"), json!("s".repeat(32)));
                assert_eq!(field("decimals"), json!(32));
                assert_eq!(field("supply"), json!({"vec": ["0"]}));
                assert_eq!(field("coin_supply"), json!({"vec": ["0"]}));
                assert_eq!(field("is_coin_initialized"), true);
                assert_eq!(field("paired_metadata"), json!({"vec": []}));
                executed
            },
        ),
        Case::new(function, "generic type", Expected::Success(&[]), |world| {
            let coin = format!("{}::pool::Share<{NATIVE}, vector<u8>>", account_address(0));
            let executed = initialize_with(world, &coin, b"Share", b"SHR", 8);
            assert_eq!(view(world, "symbol", &coin, vec![]), "SHR");
            executed
        }),
        Case::new(
            function,
            "supply not tracked",
            Expected::Success(&[]),
            |world| {
                let coin = moon_type();
                let arguments = args![b"Moon".to_vec(), b"MOON".to_vec(), 0u8, false];
                let executed = world.call(0, "0x1::managed_coin::initialize", &[&coin], arguments);
                assert_eq!(view(world, "supply", &coin, vec![]), json!({"vec": []}));
                executed
            },
        ),
    ]
}

fn rejected_initialize() -> Vec<Case> {
    let function = "0x1::managed_coin::initialize";
    let mismatch = Expected::Abort(
        "0x1::coin: ECOIN_INFO_ADDRESS_MISMATCH(0x10001): only the account at the address of a coin's type can initialise the coin",
    );
    let published = Expected::Abort(
        "0x1::coin: ECOIN_INFO_ALREADY_PUBLISHED(0x80002): this coin is initialised already",
    );
    let name = Expected::Abort(
        "0x1::coin: ECOIN_NAME_TOO_LONG(0x1000c): the name of a coin has at most 32 bytes",
    );
    let symbol = Expected::Abort(
        "0x1::coin: ECOIN_SYMBOL_TOO_LONG(0x1000d): the symbol of a coin has at most 32 bytes",
    );
    let decimals = Expected::Abort(
        "0x1::coin: ECOIN_DECIMALS_TOO_LARGE(0x1001d): a coin has at most 32 decimal places",
    );
    let text = Expected::Abort("0x1::string: EINVALID_UTF8(0x1): the bytes are no UTF-8 text");
    vec![
        Case::new(function, "type of another account", mismatch, |world| {
            let coin = format!("{}::moon::Coin", account_address(1));
            initialize_with(world, &coin, b"Moon", b"MOON", 6)
        }),
        Case::new(function, "native coin", mismatch, |world| {
            initialize_with(world, NATIVE, b"Moon", b"MOON", 6)
        }),
        Case::new(function, "type that is not a struct", mismatch, |world| {
            initialize_with(world, "u8", b"Moon", b"MOON", 6)
        }),
        Case::new(function, "initialized coin", published, |world| {
            let coin = initialize_coin(world, true);
            initialize_with(world, &coin, b"Moon", b"MOON", 6)
        }),
        Case::new(
            function,
            "initialized coin without capabilities",
            published,
            |world| {
                let coin = create_coin_without_capabilities(world);
                initialize_with(world, &coin, b"Moon", b"MOON", 6)
            },
        ),
        Case::new(function, "name of 33 bytes", name, |world| {
            let coin = moon_type();
            initialize_with(world, &coin, &[b'n'; 33], b"MOON", 6)
        }),
        Case::new(function, "symbol of 33 bytes", symbol, |world| {
            let coin = moon_type();
            initialize_with(world, &coin, b"Moon", &[b's'; 33], 6)
        }),
        Case::new(function, "33 decimal places", decimals, |world| {
            let coin = moon_type();
            initialize_with(world, &coin, b"Moon", b"MOON", 33)
        }),
        Case::new(function, "symbol that is not valid UTF-8", text, |world| {
            let coin = moon_type();
            initialize_with(world, &coin, b"Moon", &[0xff], 6)
        }),
        Case::new(
            function,
            "type too long to parse",
            Expected::Status("TYPE_RESOLUTION_FAILURE"),
            |world| {
                let argument = format!("0x5::{}::{}", "m".repeat(255), "s".repeat(255));
                let coin = format!(
                    "{}::m::S<{}>",
                    account_address(0),
                    [argument.as_str(); 8].join(", ")
                );
                // The parser rejects a type of this length, so the test assembles it.
                let mut tag: StructTag = moon_type().parse().unwrap();
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
