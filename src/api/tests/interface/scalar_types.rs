//! docs/reference/rest-contract.md#s2-1: the scalar types that records and parameters share.

use crate::kit::{SYNTAX, changed, number};
use crate::{
    interface::{
        chain::{History, RECORD_KEY},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, assert_error},
};
use ledger_types::AccountAddress;
use serde_json::{Value, json};

/// Accepts a short or a long address in a path, with or without `0x`.
#[actix_web::test]
async fn an_address_in_a_path_may_be_stripped_and_lack_its_prefix() {
    let history = History::start().await;
    let long = AccountAddress::from_low_u64(0xb0b).to_long_hex();
    assert_eq!(long.len(), 66);
    for text in ["0xb0b", "b0b", "0x0b0b", "0B0B", "0xB0B", &long, &long[2..]] {
        let balance = history
            .get(&format!("/v1/accounts/{text}/balance/0xa"))
            .await;
        assert_eq!(balance, 28, "{text}");
    }
    history.api.stop().await;
}

/// Rejects other text than 1 to 64 hexadecimal digits as an address.
#[actix_web::test]
async fn an_address_has_at_most_64_hexadecimal_digits() {
    let api = TestApi::start(Settings::default()).await;
    let long = "1".repeat(65);
    for text in ["0x", "0xg", "xyz", "-1", "0x1%20", "0x0x1", "1.0", &long] {
        row("GET /accounts/{address}", 400, "web_framework_error")
            .get(&api, &format!("/v1/accounts/{text}"))
            .await;
    }
    api.stop().await;
}

#[actix_web::test]
async fn addresses_are_shown_without_leading_zeros() {
    let history = History::start().await;
    assert_eq!(history.transfers[0]["payload"]["arguments"][0], "0xb0b");
    let sender = history.transfers[0]["sender"].as_str().unwrap();
    assert_eq!(sender, history.sender().to_string());
    assert!(
        sender.starts_with("0x") && !sender.starts_with("0x0"),
        "{sender}"
    );
    history.api.stop().await;
}

/// Shows a U64 as decimal text in every record, never as a JSON number.
#[actix_web::test]
async fn a_u64_is_shown_as_decimal_text() {
    let history = History::start().await;
    let block = history
        .get("/v1/blocks/by_height/1?with_transactions=true")
        .await;
    let transfer = &block["transactions"][1];
    for (record, names) in [
        (
            &block,
            &[
                "block_height",
                "block_timestamp",
                "first_version",
                "last_version",
            ][..],
        ),
        (
            transfer,
            &[
                "version",
                "sequence_number",
                "max_gas_amount",
                "gas_unit_price",
                "expiration_timestamp_secs",
                "gas_used",
                "timestamp",
            ],
        ),
    ] {
        for name in names {
            number(&record[name]);
        }
    }
    history.api.stop().await;
}

/// Rejects a JSON number as a U64 in a body.
#[actix_web::test]
async fn a_u64_is_sent_as_decimal_text() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for name in [
        "sequence_number",
        "max_gas_amount",
        "gas_unit_price",
        "expiration_timestamp_secs",
    ] {
        let given = good[name].as_str().unwrap();
        let as_number: u64 = given.parse().unwrap();
        for wrong in [
            json!(as_number),
            json!(format!("+{given}")),
            json!(format!(" {given}")),
            json!("-1"),
            json!("0x1"),
            json!("1.0"),
            json!(""),
            json!("18446744073709551616"),
            Value::Null,
        ] {
            let body = changed(&good, &format!("/{name}"), wrong);
            let response = api.client.submit_json(&body).await;
            assert_error(&response, SYNTAX, &format!("{name}: {}", body[name]));
        }
    }
    api.stop().await;
}

/// Accepts the whole range of 64 bits, and nothing else.
#[actix_web::test]
async fn a_u64_in_a_path_or_query_has_64_bits() {
    let api = TestApi::start(Settings::default()).await;
    let block = |text: &str| format!("/v1/blocks/by_height/{text}");
    row(
        "GET /blocks/by_height/{block_height}",
        404,
        "block_not_found",
    )
    .get(&api, &block("18446744073709551615"))
    .await;
    for text in [
        "18446744073709551616",
        "-1",
        "+0",
        "0x0",
        "0.0",
        "one",
        "%200",
    ] {
        row(
            "GET /blocks/by_height/{block_height}",
            400,
            "web_framework_error",
        )
        .get(&api, &block(text))
        .await;
        row("GET /accounts/{address}", 400, "web_framework_error")
            .get(&api, &format!("/v1/accounts/0x1?ledger_version={text}"))
            .await;
    }
    api.stop().await;
}

/// Shows bytes with `0x` and two digits each, including leading zeros.
#[actix_web::test]
async fn bytes_are_shown_with_two_digits_each() {
    let history = History::start().await;
    let signature = &history.transfers[0]["signature"];
    for (name, length) in [("public_key", 32), ("signature", 64)] {
        let text = signature[name].as_str().unwrap();
        assert_eq!(text.len(), 2 + 2 * length, "{text}");
        assert!(text.starts_with("0x"), "{text}");
        assert!(hex::decode(&text[2..]).is_ok(), "{text}");
    }
    let account = history.get("/v1/accounts/0x7").await;
    let key = account["authentication_key"].as_str().unwrap();
    assert_eq!(
        key,
        format!("0x{}7", "0".repeat(63)),
        "zeros are not trimmed"
    );
    history.api.stop().await;
}

/// Distinguishes keys that differ in zero bytes, and rejects an odd number of digits.
#[actix_web::test]
async fn bytes_are_read_with_two_digits_each() {
    let history = History::start().await;
    let path = format!("/v1/tables/{}/raw_item", history.table);
    let post = async |key: &str| {
        history
            .api
            .client
            .post_json(&path, &json!({ "key": key }), "*/*")
            .await
    };
    assert_eq!(post(RECORD_KEY).await.status, 200);
    for malformed in ["0x046e616d6", "0x0", "0xzz", "0x04 6e616d65", "\u{e9}"] {
        assert_error(&post(malformed).await, SYNTAX, malformed);
    }
    for other in ["0x", "0x00046e616d65", "0x046e616d6500"] {
        assert_error(&post(other).await, (404, "table_item_not_found"), other);
    }
    history.api.stop().await;
}

/// Ignores white space in a struct tag, which is percent-encoded in a path, and a comma after the
/// last type argument.
#[actix_web::test]
async fn a_struct_tag_is_percent_encoded_and_white_space_and_a_last_comma_are_ignored() {
    let history = History::start().await;
    let resource = async |tag: &str| {
        let path = format!("/v1/accounts/0x1/resource/{tag}");
        history.get(&path).await
    };
    let plain = resource("0x1::coin::CoinInfo%3C0x1::node_coin::NodeCoin%3E").await;
    assert_eq!(
        plain["type"],
        "0x1::coin::CoinInfo<0x1::node_coin::NodeCoin>"
    );
    for tag in [
        "0x1%3A%3Acoin%3A%3ACoinInfo%3C0x1%3A%3Anode_coin%3A%3ANodeCoin%3E",
        "0x1::coin::CoinInfo%3C%200x1::node_coin::NodeCoin%20%3E",
        "0x01::coin::CoinInfo%3C0x0001::node_coin::NodeCoin%3E",
        "0x1::coin::CoinInfo%3C0x1::node_coin::NodeCoin,%3E",
        "0x1::coin::CoinInfo%3C0x1::node_coin::NodeCoin%20%2C%20%3E",
    ] {
        assert_eq!(resource(tag).await, plain, "{tag}");
    }
    history.api.stop().await;
}

/// Accepts an address, a module and a struct, with type parameters that commas separate.
#[actix_web::test]
async fn a_struct_tag_has_three_parts_and_parameters_between_angle_brackets() {
    let api = TestApi::start(Settings::default()).await;
    let resource = |tag: &str| format!("/v1/accounts/0x1/resource/{tag}");
    for tag in [
        "0x9::a::B",
        "0x9::a::B%3Cu8,0x1::c::D%3Cbool%3E%3E",
        "0x9::a::B%3Cu8%2C%20u64%3E",
    ] {
        row(
            "GET /accounts/{address}/resource/{resource_type}",
            404,
            "resource_not_found",
        )
        .get(&api, &resource(tag))
        .await;
    }
    for tag in [
        "u8",
        "0x9::a",
        "0x9::a::",
        "0x9::a::B%3C",
        "0x9::a::B%3C%3E%3E",
        "0x9::a::B%3Cu8;u8%3E",
        "0x9::a::B%3C,%3E",
        "0x9::a::B%3Cu8,,%3E",
        "zz::a::B",
        "0x9::1a::B",
        "vector%3Cu8%3E",
    ] {
        row(
            "GET /accounts/{address}/resource/{resource_type}",
            400,
            "web_framework_error",
        )
        .get(&api, &resource(tag))
        .await;
    }
    api.stop().await;
}

/// Accepts the Move types of the document as key types, and no others.
#[actix_web::test]
async fn key_types_are_move_types() {
    let api = TestApi::start(Settings::default()).await;
    let post = async |key_type: &str, key: &Value| {
        let body = json!({ "key_type": key_type, "value_type": "u8", "key": key });
        api.client
            .post_json("/v1/tables/0x1/item", &body, "*/*")
            .await
    };
    let text = json!("7");
    for (key_type, key) in [
        ("bool", &json!(true)),
        ("u8", &json!(7)),
        ("u16", &json!(7)),
        ("u32", &json!(7)),
        ("u64", &text),
        ("u128", &text),
        ("u256", &text),
        ("address", &json!("0x7")),
        ("vector<u64>", &json!(["7"])),
        (" vector < u8 > ", &json!("0x07")),
        ("0x1::string::String", &text),
        ("0x1::option::Option< u64 >", &json!({ "vec": ["7"] })),
    ] {
        let response = post(key_type, key).await;
        row(
            "POST /tables/{table_handle}/item",
            404,
            "table_item_not_found",
        )
        .assert_matches(&response, key_type);
    }
    for key_type in ["u65", "int", "vector", "vector<>", "U8", "0x1::string", ""] {
        let response = post(key_type, &text).await;
        row("POST /tables/{table_handle}/item", 400, "invalid_input")
            .assert_matches(&response, key_type);
    }
    api.stop().await;
}

/// Distinguishes the case of names in an entry function's id. Its address may be short or long, and
/// may lack `0x`.
#[actix_web::test]
async fn an_entry_function_id_is_case_sensitive() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let submit = async |function: &str| {
        let body = changed(&good, "/payload/function", json!(function));
        api.client.submit_json(&body).await
    };
    for (function, code) in [
        ("0x1::Node_account::transfer", "invalid_input"),
        ("0x1::node_account::Transfer", "invalid_input"),
        ("0x1::node_account", "web_framework_error"),
        ("node_account::transfer", "web_framework_error"),
        ("0x1::node_account::transfer::x", "web_framework_error"),
    ] {
        assert_error(&submit(function).await, (400, code), function);
    }
    let one = AccountAddress::ONE.to_long_hex();
    for address in [&one, "1"] {
        // The bytes of a committed transaction are accepted again.
        let accepted = submit(&format!("{address}::node_account::transfer")).await;
        assert_eq!(accepted.status, 202, "{}", accepted.text());
        assert_eq!(
            accepted.json()["payload"]["function"],
            "0x1::node_account::transfer"
        );
    }
    api.stop().await;
}

/// Shows a transaction's hash as `0x` and 64 lower-case digits. Accepts either case in a request,
/// with or without the prefix.
#[actix_web::test]
async fn a_transaction_hash_has_64_digits() {
    let history = History::start().await;
    let hash = history.transfers[0]["hash"].as_str().unwrap();
    assert_eq!(hash.len(), 66);
    assert_eq!(hash, hash.to_lowercase());
    for text in [hash, &hash[2..], &hash[2..].to_uppercase()] {
        let found = history
            .get(&format!("/v1/transactions/by_hash/{text}"))
            .await;
        assert_eq!(found["hash"], hash);
    }
    for text in [
        &hash[..65],
        "0x",
        "0x12",
        &format!("{hash}0"),
        &hash.replace('0', "g"),
    ] {
        row(
            "GET /transactions/by_hash/{txn_hash}",
            400,
            "web_framework_error",
        )
        .get(&history.api, &format!("/v1/transactions/by_hash/{text}"))
        .await;
    }
    history.api.stop().await;
}
