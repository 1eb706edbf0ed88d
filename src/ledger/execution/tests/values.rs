//! The JSON form of values and calls, and the ABI, from the declarations of the framework.

use crate::programs::census::table_types;
use ledger_framework::module_registry;
use ledger_types::{ModuleId, StateKeyParts, StructTag, TYPE_DEPTH_MAX, TypeTag, Vendor};
use ledger_vm::ModuleRegistry;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn registry() -> ModuleRegistry {
    module_registry(&"APTOS".parse::<Vendor>().unwrap())
}

fn tag(text: &str) -> TypeTag {
    text.parse().unwrap()
}

#[test]
fn converts_every_kind_of_value() {
    let registry = registry();
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
            registry.value_from_json(&tag(type_text), &value).unwrap(),
            bytes,
            "{type_text}"
        );
        assert_eq!(
            registry.value_to_json(&tag(type_text), &bytes).unwrap(),
            value,
            "{type_text}"
        );
    }
}

/// Clients may write some values in other forms than the printed one.
#[test]
fn accepts_lenient_forms_of_input() {
    let registry = registry();
    let object = "0x1::object::Object<0x1::account::Account>";
    let id = json!({"creation_num": "1", "addr": "0x2"});
    let cases = [
        ("address", json!("0x0a"), json!("0xa")),
        ("address", json!("A"), json!("0xa")),
        ("address", json!("0".repeat(63) + "b"), json!("0xb")),
        ("vector<u8>", json!("0aFF"), json!("0x0aff")),
        ("vector<u8>", json!(""), json!("0x")),
        ("u64", json!("007"), json!("7")),
        ("i64", json!("-0"), json!("0")),
        (object, json!("0xa"), json!({"inner": "0xa"})),
        ("0x1::option::Option<u8>", json!(7), json!({"vec": [7]})),
        ("0x1::option::Option<u8>", json!(null), json!({"vec": []})),
        (
            "0x1::option::Option<0x1::guid::ID>",
            id.clone(),
            json!({"vec": [id]}),
        ),
        (
            "0x1::option::Option<0x1::option::Option<u8>>",
            json!({"vec": [null]}),
            json!({"vec": [{"vec": []}]}),
        ),
    ];
    for (type_text, input, printed) in cases {
        let tag = tag(type_text);
        let bytes = registry.value_from_json(&tag, &input).unwrap();
        assert_eq!(
            registry.value_to_json(&tag, &bytes).unwrap(),
            printed,
            "{tag} {input}"
        );
    }
}

#[test]
fn views_a_field_as_the_whole_value_has_it() {
    let registry = registry();
    let id = tag("0x1::guid::ID");
    let whole = json!({"creation_num": "1", "addr": "0x2"});
    let bytes = registry.value_from_json(&id, &whole).unwrap();
    let view = registry.json_view(&id, bytes.into()).unwrap();
    for (name, size_bytes) in [("creation_num", 8), ("addr", 32)] {
        let field = view.field(name).unwrap();
        assert_eq!(field.size_bytes(), size_bytes);
        assert_eq!(serde_json::to_value(field).unwrap(), whole[name]);
    }
    assert!(view.field("nothing").is_none());
    let number = registry.json_view(&TypeTag::U8, vec![1u8].into()).unwrap();
    assert!(number.field("creation_num").is_none());
}

#[test]
fn prints_text_that_is_not_utf8_in_hex() {
    let json = registry().value_to_json(&tag("0x1::string::String"), &[2, 0xc3, 0x28]);
    assert_eq!(json, Ok(json!("Unparsable utf-8 0xc328")));
}

#[test]
fn rejects_values_that_do_not_fit_their_type() {
    let registry = registry();
    let cases = [
        ("u8", json!(256)),
        ("u8", json!("1")),
        ("u64", json!(1)),
        ("u64", json!("-1")),
        ("u64", json!("+1")),
        ("u64", json!("18446744073709551616")),
        ("u64", json!("")),
        ("u64", json!("1_000")),
        ("u64", json!(" 1")),
        ("u64", json!("0x1")),
        ("u128", json!("340282366920938463463374607431768211456")),
        ("u256", json!("-1")),
        ("u256", json!("0x1")),
        ("u256", json!("1_0")),
        ("i8", json!(128)),
        ("i64", json!("9223372036854775808")),
        ("i256", json!("--1")),
        ("i256", json!("-")),
        ("u8", json!(1.5)),
        ("u32", json!(4_294_967_296_u64)),
        ("address", json!("")),
        ("address", json!("0x")),
        ("address", json!("0".repeat(65))),
        ("address", json!(1)),
        ("bool", json!(1)),
        ("address", json!("0xzz")),
        ("vector<u8>", json!("0x123")),
        ("vector<u8>", json!([1])),
        ("vector<u16>", json!("0x")),
        ("0x1::option::Option<u8>", json!({"vec": [1, 2]})),
        ("0x1::option::Option<u8>", json!({"vec": [1], "more": 1})),
        (
            "0x1::object::Object<u8>",
            json!({"inner": "0x1", "more": 1}),
        ),
        ("0x1::object::Object<u8>", json!({})),
        ("0x1::coin::DepositEvent", json!({})),
        ("0x1::coin::DepositEvent", json!({"amount": "1", "more": 1})),
        ("0x1::coin::Nothing", json!({})),
        ("0x1::coin::Coin", json!({"value": "1"})),
    ];
    for (type_text, value) in cases {
        assert!(
            registry.value_from_json(&tag(type_text), &value).is_err(),
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
            registry.value_to_json(&tag(type_text), &bytes).is_err(),
            "{type_text}"
        );
    }
}

#[test]
fn rejects_empty_values_of_undeclared_elements() {
    let registry = registry();
    for (type_name, value) in [
        ("vector<0x1::string::Nothing>", json!([])),
        (
            "0x1::option::Option<0x1::string::Nothing>",
            json!({"vec": []}),
        ),
        (
            "0x1::simple_map::SimpleMap<0x1::string::Nothing, vector<u8>>",
            json!({"data": []}),
        ),
    ] {
        let error = registry
            .value_from_json(&tag(type_name), &value)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "type 0x1::string::Nothing is not declared"
        );
    }
}

#[test]
fn limits_the_nesting_of_values() {
    let registry = registry();
    let nested =
        |depth: usize| (0..depth).fold(TypeTag::Bool, |inner, _| TypeTag::Vector(Box::new(inner)));
    let (json, bytes) = (
        (0..31).fold(json!(true), |inner, _| json!([inner])),
        vec![1; 32],
    );
    assert_eq!(registry.value_from_json(&nested(31), &json).unwrap(), bytes);
    assert_eq!(registry.value_to_json(&nested(31), &bytes).unwrap(), json);
    assert!(
        registry
            .value_from_json(&nested(32), &json!([json]))
            .is_err()
    );
    assert!(registry.value_to_json(&nested(32), &[1; 33]).is_err());
}

#[test]
fn limits_the_nesting_of_types() {
    let registry = registry();
    let call = |depth: usize| {
        let nested = (1..depth).fold("u8".to_owned(), |inner, _| format!("vector<{inner}>"));
        let arguments = [json!("0x2"), json!("1")];
        let function = "0x1::coin::transfer".parse().unwrap();
        registry.call_from_json(&function, &[nested], &arguments)
    };
    assert_eq!(call(TYPE_DEPTH_MAX - 1).map(|_| ()), Ok(()));
    for depth in [TYPE_DEPTH_MAX, TYPE_DEPTH_MAX + 1, 100] {
        let error = call(depth).unwrap_err().to_string();
        assert!(
            error.starts_with("parse type_arguments[0] failed: "),
            "{error}"
        );
        assert!(error.contains("deep"), "{depth}: {error}");
    }
}

#[test]
fn reads_calls_by_the_declaration() {
    let registry = registry();
    let call = |function: &str, arguments: Vec<Value>| {
        registry.call_from_json(&function.parse().unwrap(), &[], &arguments)
    };
    let valid_call = call(
        "0x1::aptos_account::transfer",
        vec![json!("0x2"), json!("7")],
    )
    .unwrap();
    let values = registry
        .arguments(&valid_call)
        .map(|(bytes, tag)| registry.value_to_json(&tag.unwrap(), bytes).unwrap());
    assert_eq!(values.collect::<Vec<_>>(), [json!("0x2"), json!("7")]);
    let text = |result: Result<_, ledger_vm::SchemaError>| {
        result
            .map(|_: ledger_types::EntryFunction| ())
            .unwrap_err()
            .to_string()
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
        text(call(
            "0x1::aptos_account::transfer",
            vec![json!("0x2"), json!(7)]
        ))
        .starts_with("parse arguments[1] failed, expect string<u64>, caused by error: ")
    );
}

#[test]
fn truncates_client_input_in_errors() {
    let registry = registry();
    let long = "x".repeat(100_000);
    let transfer = "0x1::aptos_account::transfer".parse().unwrap();
    let calls = [
        registry.call_from_json(&transfer, &[], &[json!(long)]),
        registry.call_from_json(&transfer, &[], &[json!(long), json!(long)]),
        registry.call_from_json(&transfer, &[], &[json!("0x1"), json!([long])]),
    ];
    for call in calls {
        assert!(call.unwrap_err().to_string().len() < 1_000);
    }
}

#[test]
fn abi_contains_the_names_that_sdks_use() {
    let registry = registry();
    let abi = |name: &str| {
        registry
            .module_abi(&name.parse::<ModuleId>().unwrap())
            .unwrap()
    };
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
    assert_eq!(
        abi("0x1::aptos_coin")["structs"][0]["name"],
        json!("AptosCoin")
    );
    assert!(registry.module_abi(&"0x2::coin".parse().unwrap()).is_none());
}

#[test]
fn decodes_the_genesis_state_by_the_declarations() {
    let chain = ledger_test_support::MemoryChain::development();
    let round_trip = |tag: TypeTag, bytes: &[u8]| {
        let json = chain.chain.registry().value_to_json(&tag, bytes).unwrap();
        let back = chain.chain.registry().value_from_json(&tag, &json).unwrap();
        assert_eq!(back, bytes, "{tag}");
    };
    let (mut groups, mut pairs) = (BTreeSet::new(), 0);
    for (key, bytes) in &chain.state {
        match key.decode().unwrap() {
            StateKeyParts::Resource { tag, .. } => round_trip(tag.into(), bytes),
            StateKeyParts::ResourceGroup { .. } => {
                let group: BTreeMap<StructTag, Vec<u8>> = bcs::from_bytes(bytes).unwrap();
                let mut names: Vec<String> = group.keys().map(|tag| tag.name.to_string()).collect();
                names.sort_unstable();
                groups.insert(names.join(" "));
                group
                    .into_iter()
                    .for_each(|(tag, bytes)| round_trip(tag.into(), &bytes));
            }
            // The table of pairs has the chain's coin.
            StateKeyParts::TableItem { handle, key } => {
                let (key_type, value_type) = table_types(&chain, &handle);
                round_trip(key_type, &key);
                round_trip(value_type, bytes);
                pairs += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let expected = [
        "ConcurrentSupply DeriveRefPod Metadata ObjectCore PairedCoinType PairedFungibleAssetRefs",
        "FungibleAssetEvents FungibleStore ObjectCore",
    ];
    assert_eq!(groups, BTreeSet::from(expected.map(str::to_owned)));
    assert_eq!(pairs, 1);
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
    #![proptest_config(ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(0x7661_6c75),
        ..ProptestConfig::default()
    })]

    #[test]
    fn encodes_decoded_values_to_the_same_bytes(tag in any_type(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let registry = registry();
        if let Ok(json) = registry.value_to_json(&tag, &bytes) {
            // The JSON form of text that is not UTF-8 does not preserve its bytes.
            if !json.to_string().contains("Unparsable") {
                prop_assert_eq!(registry.value_from_json(&tag, &json).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn decodes_arbitrary_input_without_panic(text in "[a-z0-9:<>, ]{0,40}", bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(tag) = text.parse::<TypeTag>() {
            let _ = registry().value_to_json(&tag, &bytes);
        }
    }
}
