//! Deposits and withdrawals of an account as event streams
//! (docs/use/interface.md#deposits-and-withdrawals), on chains with and without event handles.

use crate::kit::{
    Settings, TestApi, Transfer, assert_error, elements, event_numbers, ok_bcs, ok_json,
    recipient_store, store_of,
};
use ledger_framework::modules::coin::{Coin, CoinStore, DepositEvent, paired_metadata_address};
use ledger_framework::modules::object::user_derived_address;
use ledger_test_support::function_call;
use ledger_types::{
    AccountAddress, ContractEvent, EventKey, Parameters, StateKey, transaction::TransactionPayload,
};
use ledger_vm::EventHandle;
use serde_json::{Value, json};

const COIN: &str = "0x1::node_coin::NodeCoin";
const EVENTS: &str = "0x1::fungible_asset::FungibleAssetEvents";
const RECIPIENT: AccountAddress = AccountAddress::from_low_u64(0xb0b);
const NOT_FOUND: (u16, &str) = (404, "resource_not_found");

/// Starts a node of a chain without event handles of coins.
async fn start_without_handles() -> TestApi {
    TestApi::start(Settings {
        parameters: Parameters {
            coin_event_handles: false,
            ..Parameters::default()
        },
        ..Settings::default()
    })
    .await
}

/// Returns the path of a stream by the coin that an account holds.
fn by_coin(account: AccountAddress, coin: &str, field: &str) -> String {
    format!("/v1/accounts/{account}/events/0x1::coin::CoinStore%3C{coin}%3E/{field}")
}

/// Returns the path of a stream by the store that holds the coin.
fn by_store(store: AccountAddress, field: &str) -> String {
    format!("/v1/accounts/{store}/events/{EVENTS}/{field}")
}

#[actix_web::test]
async fn serves_one_stream_by_account_by_store_and_by_creation_number() {
    let api = TestApi::start(Settings::default()).await;
    for number in 0..3 {
        api.commit(&Transfer::new(0, number)).await;
    }
    let sender = Transfer::new(0, 0).sender();
    for (account, field, event) in [
        (RECIPIENT, "deposit_events", "DepositEvent"),
        (sender, "withdraw_events", "WithdrawEvent"),
    ] {
        let store = store_of(account);
        let path = by_coin(account, COIN, field);
        let expected = ok_json(&api.client.get(&path).await);
        assert_eq!(event_numbers(&expected), [0, 1, 2], "{expected}");
        assert_eq!(expected[0]["type"], format!("0x1::fungible_asset::{event}"));
        assert_eq!(expected[0]["data"], json!({ "amount": "7" }));
        let guid = &expected[0]["guid"];
        assert_eq!(guid["account_address"], store.to_string());
        let number = guid["creation_number"].as_str().unwrap();
        let in_bcs = api.client.get_bcs(&path).await;
        for other in [
            by_store(store, field),
            format!("/v1/accounts/{store}/events/{number}"),
        ] {
            assert_eq!(ok_json(&api.client.get(&other).await), expected, "{other}");
            let other = api.client.get_bcs(&other).await;
            assert_eq!(ok_bcs(&other), ok_bcs(&in_bcs));
        }
        let page = format!("{path}?start=1&limit=1");
        assert_eq!(event_numbers(&ok_json(&api.client.get(&page).await)), [1]);
    }
    api.stop().await;
}

#[actix_web::test]
async fn finds_no_stream_of_an_account_without_a_store_and_no_other_field() {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let nobody = AccountAddress::from_low_u64(0xdead);
    for path in [
        by_coin(nobody, COIN, "deposit_events"),
        by_coin(RECIPIENT, "0x1::no::Coin", "deposit_events"),
        by_coin(RECIPIENT, "u8", "deposit_events"),
        by_coin(RECIPIENT, &format!("{COIN},{COIN}"), "deposit_events"),
        by_coin(RECIPIENT, COIN, "frozen_events"),
        by_coin(RECIPIENT, COIN, "coin"),
        by_store(RECIPIENT, "deposit_events"),
    ] {
        assert_error(&api.client.get(&path).await, NOT_FOUND, &path);
    }
    let frozen = by_store(recipient_store(), "frozen_events");
    assert_eq!(ok_json(&api.client.get(&frozen).await), json!([]));
    api.stop().await;
}

#[actix_web::test]
async fn serves_no_stream_on_a_chain_without_event_handles() {
    let api = start_without_handles().await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let sender = Transfer::new(0, 0).sender();
    for path in [
        by_coin(RECIPIENT, COIN, "deposit_events"),
        by_coin(sender, COIN, "withdraw_events"),
        by_store(recipient_store(), "deposit_events"),
        by_store(store_of(sender), "withdraw_events"),
    ] {
        assert_error(&api.client.get(&path).await, NOT_FOUND, &path);
    }
    let missing = by_coin(RECIPIENT, COIN, "deposit_events");
    let message = format!(
        "Resource not found by Address(0xb0b), Struct tag(0x1::coin::CoinStore<{COIN}>) and Ledger \
         version(3)"
    );
    let response = api.client.get(&missing).await.json();
    assert_eq!(response["message"], message);
    // The events of the transaction are those of both kinds of chains.
    let types: Vec<_> = elements(&committed["events"])
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let expected = [
        "0x1::fungible_asset::Withdraw",
        "0x1::fungible_asset::Deposit",
        "0x1::transaction_fee::FeeStatement",
    ];
    assert_eq!(types, expected);
    api.stop().await;
}

#[actix_web::test]
async fn serves_the_streams_of_coins_other_than_that_of_the_chain() {
    let api = TestApi::start(Settings::default()).await;
    let owner = Transfer::new(0, 0).sender();
    let moon = format!("{owner}::moon::Moon");
    let initialize = [
        bcs::to_bytes("Moon"),
        bcs::to_bytes("MOON"),
        bcs::to_bytes(&6u8),
        bcs::to_bytes(&true),
    ];
    let mint = [bcs::to_bytes(&RECIPIENT), bcs::to_bytes(&9u64)];
    let calls = [("initialize", &initialize[..]), ("mint", &mint)];
    for (sequence_number, (function, args)) in (0..).zip(calls) {
        let args = args.iter().map(|bytes| bytes.clone().unwrap()).collect();
        let call = function_call(&format!("0x1::managed_coin::{function}"), &[&moon], args);
        let payload = TransactionPayload::EntryFunction(call);
        let signed = Transfer::new(0, sequence_number).sign_payload(&api.chain, payload);
        let committed = api.commit_signed(&signed).await;
        assert_eq!(committed["success"], true, "{committed}");
    }
    let deposits = by_coin(RECIPIENT, &moon, "deposit_events");
    let deposits = ok_json(&api.client.get(&deposits).await);
    assert_eq!(event_numbers(&deposits), [0]);
    assert_eq!(deposits[0]["data"], json!({ "amount": "9" }));
    let metadata = paired_metadata_address(&api.chain, &moon.parse().unwrap());
    let store = user_derived_address(RECIPIENT, metadata).to_string();
    assert_eq!(deposits[0]["guid"]["account_address"], store);
    api.stop().await;
}

/// The framework creates no coin store, so the state has one that it did not write.
#[actix_web::test]
async fn serves_the_stream_of_a_coin_store_that_exists() {
    let stream = EventKey {
        creation_number: 2,
        account_address: RECIPIENT,
    };
    let mut deposits = EventHandle::new(RECIPIENT, stream.creation_number);
    deposits.counter = 1;
    let store = CoinStore {
        coin: Coin { value: 5 },
        frozen: false,
        deposit_events: deposits,
        withdraw_events: EventHandle::new(RECIPIENT, 3),
    };
    let tag = format!("0x1::coin::CoinStore<{COIN}>").parse().unwrap();
    let event = ContractEvent::V1 {
        key: stream,
        sequence_number: 0,
        type_tag: "0x1::coin::DepositEvent".parse().unwrap(),
        data: bcs::to_bytes(&DepositEvent { amount: 5 }).unwrap().into(),
    };
    let api = TestApi::start(Settings {
        more_state: vec![(
            StateKey::resource(&RECIPIENT, &tag),
            bcs::to_bytes(&store).unwrap().into(),
        )],
        more_events: vec![event],
        ..Settings::default()
    })
    .await;
    api.commit(&Transfer::new(0, 0)).await;
    let path = by_coin(RECIPIENT, COIN, "deposit_events");
    let events = ok_json(&api.client.get(&path).await);
    assert_eq!(amounts(&events), ["5"]);
    assert_eq!(events[0]["guid"]["account_address"], "0xb0b");
    let of_primary_store = by_store(recipient_store(), "deposit_events");
    let events = ok_json(&api.client.get(&of_primary_store).await);
    assert_eq!(amounts(&events), ["7"]);
    api.stop().await;
}

fn amounts(events: &Value) -> Vec<&str> {
    let amounts = elements(events).iter();
    amounts
        .map(|event| event["data"]["amount"].as_str().unwrap())
        .collect()
}

#[actix_web::test]
async fn a_deposit_creates_a_store_and_no_account_resource() {
    for api in [
        TestApi::start(Settings::default()).await,
        start_without_handles().await,
    ] {
        api.commit(&Transfer::new(0, 0)).await;
        let account = ok_json(&api.client.get("/v1/accounts/0xb0b").await);
        let expected = json!({
            "sequence_number": "0",
            "authentication_key": RECIPIENT.to_long_hex(),
        });
        assert_eq!(account, expected);
        let resource = "/v1/accounts/0xb0b/resource/0x1::account::Account";
        assert_error(&api.client.get(resource).await, NOT_FOUND, resource);
        let by_handle = "/v1/accounts/0xb0b/events/0x1::account::Account/key_rotation_events";
        assert_error(&api.client.get(by_handle).await, NOT_FOUND, by_handle);
        for path in ["resources", "events/0", "events/1", "transactions"] {
            let path = format!("/v1/accounts/0xb0b/{path}");
            assert_eq!(ok_json(&api.client.get(&path).await), json!([]), "{path}");
        }
        let balance = ok_json(&api.client.get("/v1/accounts/0xb0b/balance/0xa").await);
        assert_eq!(balance, 7);
        api.stop().await;
    }
}
