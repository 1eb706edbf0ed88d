//! The JSON of values and calls, and the ABI, from the framework's declarations.

mod kit;

use ledger::{Framework, ModuleId, TypeTag, Vendor};
use proptest::prelude::*;
use serde_json::{Value, json};

fn framework() -> Framework {
    Framework::new(&"APTOS".parse::<Vendor>().unwrap())
}

fn tag(text: &str) -> TypeTag {
    text.parse().unwrap()
}

#[test]
fn every_form_of_the_interface() {
    let framework = framework();
    let address = format!("0x{}", "ab".repeat(32));
    let cases = [
        ("bool", json!(true), "01"),
        ("u8", json!(255), "ff"),
        ("u16", json!(258), "0201"),
        ("u32", json!(1), "01000000"),
        ("u64", json!("18446744073709551615"), "ffffffffffffffff"),
        ("u128", json!("1"), "01000000000000000000000000000000"),
        ("u256", json!("256"), &format!("0001{}", "00".repeat(30))),
        ("i8", json!(-1), "ff"),
        ("i64", json!("-2"), "feffffffffffffff"),
        ("i256", json!("-1"), &"ff".repeat(32)),
        ("address", json!("0x1"), &format!("{}01", "00".repeat(31))),
        ("address", json!(address), &"ab".repeat(32)),
        ("vector<u8>", json!("0x0102"), "020102"),
        ("vector<u8>", json!("0x"), "00"),
        ("vector<u16>", json!([1, 2]), "0201000200"),
        ("vector<vector<bool>>", json!([[true], []]), "02010100"),
        ("0x1::string::String", json!("hé"), "0368c3a9"),
        ("0x1::option::Option<u8>", json!({"vec": []}), "00"),
        ("0x1::option::Option<u8>", json!({"vec": [7]}), "0107"),
        (
            "0x1::object::Object<0x1::account::Account>",
            json!({"inner": "0xa"}),
            &format!("{}0a", "00".repeat(31)),
        ),
        (
            "0x1::coin::DepositEvent",
            json!({"amount": "7"}),
            "0700000000000000",
        ),
    ];
    for (type_text, value, bytes) in cases {
        let bytes = hex::decode(bytes).unwrap();
        assert_eq!(
            framework.value_from_json(&tag(type_text), &value).unwrap(),
            bytes,
            "{type_text}"
        );
        assert_eq!(
            framework.value_to_json(&tag(type_text), &bytes).unwrap(),
            value,
            "{type_text}"
        );
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let framework = framework();
    let cases = [
        ("u8", json!(256)),
        ("u8", json!("1")),
        ("u64", json!(1)),
        ("u64", json!("-1")),
        ("u64", json!("+1")),
        ("u64", json!("18446744073709551616")),
        ("bool", json!(1)),
        ("address", json!("0xzz")),
        ("vector<u8>", json!("0x123")),
        ("vector<u8>", json!([1])),
        ("vector<u16>", json!("0x")),
        ("0x1::option::Option<u8>", json!({"vec": [1, 2]})),
        ("0x1::coin::DepositEvent", json!({})),
        ("0x1::coin::DepositEvent", json!({"amount": "1", "more": 1})),
        ("0x1::coin::Nothing", json!({})),
        ("0x1::coin::Coin", json!({"value": "1"})),
    ];
    for (type_text, value) in cases {
        assert!(
            framework.value_from_json(&tag(type_text), &value).is_err(),
            "{type_text} {value}"
        );
    }
    for (type_text, bytes) in [
        ("bool", "02"),
        ("u64", "00"),
        ("u8", "0000"),
        ("vector<u64>", "ffffffff07"),
        ("vector<u8>", "8000"),
    ] {
        let bytes = hex::decode(bytes).unwrap();
        assert!(
            framework.value_to_json(&tag(type_text), &bytes).is_err(),
            "{type_text}"
        );
    }
}

#[test]
fn values_nest_no_deeper_than_their_bound() {
    let framework = framework();
    let nested = |depth: usize| (0..depth).fold(TypeTag::Bool, |inner, _| TypeTag::Vector(Box::new(inner)));
    let (json, bytes) = ((0..31).fold(json!(true), |inner, _| json!([inner])), vec![1; 32]);
    assert_eq!(framework.value_from_json(&nested(31), &json).unwrap(), bytes);
    assert_eq!(framework.value_to_json(&nested(31), &bytes).unwrap(), json);
    assert!(framework.value_from_json(&nested(32), &json!([json])).is_err());
    assert!(framework.value_to_json(&nested(32), &[1; 33]).is_err());
}

#[test]
fn calls_are_read_by_the_declaration() {
    let framework = framework();
    let call = |function: &str, arguments: Vec<Value>| framework.call_from_json(function, &[], &arguments);
    let good = call("0x1::aptos_account::transfer", vec![json!("0x2"), json!("7")]).unwrap();
    assert_eq!(framework.arguments_to_json(&good), [json!("0x2"), json!("7")]);
    let text = |result: Result<_, ledger::FormError>| {
        result.map(|_: ledger::EntryFunction| ()).unwrap_err().to_string()
    };
    assert_eq!(
        text(call("0x1::a::b", vec![])),
        "could not find entry function by 0x1::a::b"
    );
    assert_eq!(
        text(call("0x1::aptos_account::create_account", vec![])),
        "expected 1 arguments [string<address>], but got 0 ([])"
    );
    assert!(
        text(call("0x1::aptos_account::transfer", vec![json!("0x2"), json!(7)]))
            .starts_with("parse arguments[1] failed, expect string<u64>, caused by error: ")
    );
}

#[test]
fn errors_do_not_repeat_all_that_a_client_sent() {
    let framework = framework();
    let long = "x".repeat(100_000);
    let calls = [
        framework.call_from_json(&long, &[], &[]),
        framework.call_from_json("0x1::aptos_account::transfer", &[], &[json!(long)]),
        framework.call_from_json("0x1::aptos_account::transfer", &[], &[json!(long), json!(long)]),
        framework.call_from_json(
            "0x1::aptos_account::transfer",
            &[],
            &[json!("0x1"), json!([long])],
        ),
    ];
    for call in calls {
        assert!(call.unwrap_err().to_string().len() < 1_000);
    }
}

#[test]
fn the_abi_names_what_sdks_look_for() {
    let framework = framework();
    let abi = |name: &str| framework.module_abi(&name.parse::<ModuleId>().unwrap()).unwrap();
    let account = abi("0x1::aptos_account");
    let transfer = account["exposed_functions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["name"] == "transfer")
        .unwrap();
    assert_eq!(transfer["params"], json!(["&signer", "address", "u64"]));
    assert_eq!(transfer["is_entry"], json!(true));
    let coin = abi("0x1::coin");
    let store = coin["structs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == "CoinStore")
        .unwrap();
    assert_eq!(
        store["fields"][0],
        json!({"name": "coin", "type": "0x1::coin::Coin<T0>"})
    );
    assert_eq!(
        store["fields"][2],
        json!({"name": "deposit_events", "type": "0x1::event::EventHandle<0x1::coin::DepositEvent>"})
    );
    assert_eq!(abi("0x1::aptos_coin")["structs"][0]["name"], json!("AptosCoin"));
    assert!(framework.module_abi(&"0x2::coin".parse().unwrap()).is_none());
}

#[test]
fn genesis_state_decodes_by_the_declarations() {
    let chain = kit::MemoryChain::development();
    for (key, bytes) in &chain.state {
        let ledger::StateKeyParts::Resource { tag, .. } = key.parts().unwrap() else {
            panic!("only resources")
        };
        let tag = TypeTag::from(tag);
        let json = chain.chain.framework().value_to_json(&tag, bytes).unwrap();
        assert_eq!(
            &chain.chain.framework().value_from_json(&tag, &json).unwrap(),
            bytes,
            "{tag}"
        );
    }
}

fn any_type() -> impl Strategy<Value = TypeTag> {
    let leaf = prop::sample::select(vec![
        "bool",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "u256",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "i256",
        "address",
        "0x1::string::String",
        "0x1::guid::ID",
        "0x1::coin::CoinStore<u8>",
        "0x1::account::Account",
        "0x1::block::NewBlockEvent",
    ])
    .prop_map(tag);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|t| TypeTag::Vector(Box::new(t))),
            inner.prop_map(|t| tag(&format!("0x1::option::Option<{t}>"))),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_decodes_encodes_to_the_same_bytes(tag in any_type(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let framework = framework();
        if let Ok(json) = framework.value_to_json(&tag, &bytes) {
            // Text that is not UTF-8 is shown, not kept.
            if !json.to_string().contains("Unparsable") {
                prop_assert_eq!(framework.value_from_json(&tag, &json).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn decoding_is_total(text in "[a-z0-9:<>, ]{0,40}", bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(tag) = text.parse::<TypeTag>() {
            let _ = framework().value_to_json(&tag, &bytes);
        }
    }
}
